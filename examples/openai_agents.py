"""An agent of the OpenAI Agents SDK: each tool runs only when its call passed.

pip install openai-agents
python examples/openai_agents.py         with a sidecar of its own
python examples/openai_agents.py NAME    as a host of `pmcl host add`, beside a running `pmcl up`
"""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunContextWrapper,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)
from sidecar import sidecar
from stub_model import REQUEST, next_step

from pmcl.hosts import Host, HostConfig


def told(context: RunContextWrapper[Any], error: Exception) -> str:
    """Return what the model reads of an error; unless told, the SDK keeps it from the model."""
    return str(error)  # of a held call: the reasons, and what would lift the hold


async def main(config: HostConfig) -> None:
    """Have the agent do what the user asks for."""
    async with Host.connect(config) as host:

        @function_tool(failure_error_function=told)
        @host.guarded(server="files", effect="inspect_local")
        async def read_file(path: str) -> str:
            """Read a text file."""
            return await anyio.Path(path).read_text()

        @function_tool(failure_error_function=told)
        @host.guarded(server="mail", effect="communication")
        async def send_mail(to: str, body: str) -> str:
            """Send a mail."""
            return f"mail sent to {to}: {body}"

        agent = Agent(name="mailer", model=StubModel(), tools=[read_file, send_mail])
        async with host.turn() as turn:
            await turn.said(REQUEST)
            print("user:", REQUEST)
            result = await Runner.run(agent, REQUEST, max_turns=8)
            print("model:", result.final_output)


class StubModel(Model):
    """The stub, as the SDK asks a model: the newest item is what it has not read yet."""

    async def get_response(
        self, system_instructions: str | None, input: str | list[Any], *_: Any, **__: Any
    ) -> ModelResponse:
        newest = input if isinstance(input, str) else input[-1]
        read = newest if isinstance(newest, str) else newest.get("output") or newest["content"]
        if read != REQUEST:
            print("model reads:", read)
        return ModelResponse(output=[said(read)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def said(read: str) -> ResponseOutputItem:
    """Return the stub's next step in the form of the Responses API."""
    step = next_step(read)
    if isinstance(step, str):
        text = ResponseOutputText(type="output_text", text=step, annotations=[])
        return ResponseOutputMessage(
            id="answer", type="message", role="assistant", status="completed", content=[text]
        )
    print("model calls:", step.tool, step.arguments)
    return ResponseFunctionToolCall(
        type="function_call",
        call_id=f"call-{uuid4()}",
        name=step.tool,
        arguments=json.dumps(step.arguments),
    )


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    set_tracing_disabled(True)
    with sidecar() as config:
        anyio.run(main, config)
