"""A session of the Model Context Protocol, frame by frame: what was heard is kept byte for byte."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

__all__ = ["Step", "ask", "call", "hear_session", "offers_removed"]

_WITHIN_S = 30.0
_FRAME_MAX = 4 * 1024 * 1024
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}, "sampling": {}},
    "clientInfo": {"name": "acceptance", "version": "1"},
}
_FILLED_IN = {"name": "A", "check": True, "email": "a@b.example", "integer": 4}
_SAMPLED = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}}
_ANSWERS: Mapping[str, Any] = {
    "elicitation/create": {"action": "accept", "content": _FILLED_IN},
    "sampling/createMessage": _SAMPLED,
}

Step = dict[str, Any]


def ask(method: str, **params: Any) -> Step:
    return {"method": method, "params": params}


def call(tool: str, **arguments: Any) -> Step:
    return ask("tools/call", name=tool, arguments=arguments, _meta={"progressToken": tool})


async def hear_session(
    command: Sequence[str], environment: Mapping[str, str], steps: Sequence[Step]
) -> tuple[list[bytes], list[bytes]]:
    """Ask one thing after the other; return what was heard in order, and what came by itself."""
    process = await anyio.open_process(
        command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    heard: list[bytes] = []
    unasked: list[bytes] = []
    try:
        with anyio.fail_after(_WITHIN_S):
            for id, step in enumerate([ask("initialize", **_HELLO), *steps]):
                await process.stdin.send(_frame({"id": id, **step}))
                while not await _hear(process.stdin, lines, id, (heard, unasked)):
                    pass
                if id == 0:
                    await process.stdin.send(_frame({"method": "notifications/initialized"}))
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        with anyio.CancelScope(shield=True):
            await process.wait()
            await process.aclose()
    return heard, sorted(unasked)


async def _hear(
    stdin: Any, lines: BufferedByteReceiveStream, id: int, kept: tuple[list[bytes], list[bytes]]
) -> bool:
    """Hear one frame, answer it if it asks; return whether it is the answer to `id`."""
    line = await lines.receive_until(b"\n", _FRAME_MAX)
    message = json.loads(line)
    method = message.get("method")
    kept[method is not None and not _belongs(method)].append(line)
    if method is not None and "id" in message:
        await stdin.send(_frame({"id": message["id"], "result": _ANSWERS[method]}))
    return method is None and message["id"] == id


def _belongs(method: str) -> bool:
    """Whether it comes with what was asked, and not when the server likes."""
    return method == "notifications/progress" or method in _ANSWERS


def _frame(message: Step) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def offers_removed(heard: Sequence[bytes]) -> list[Any]:
    """Return the messages, with no tool's argument `_pmcl`; each tool had it."""
    messages = [json.loads(line) for line in heard]
    for message in messages:
        for tool in message.get("result", {}).get("tools", ()):
            del tool["inputSchema"]["properties"]["_pmcl"]
    return messages
