"""Both sides of a session over real pipes, and a mediator that does as it is told."""

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any

import anyio
import anyio.lowlevel

from pmcl.contracts import Receipt, TrustLabel
from pmcl.hosts import Dispatch, Run, Verdict
from pmcl.hosts.adapter import Mediated, Mediator, ToolCall
from pmcl.hosts.guard import GuardedServer
from pmcl.hosts.guard.client_side import ClientSide
from pmcl.hosts.guard.frames import Overlong, frames
from pmcl.hosts.guard.lanes import Lane
from pmcl.hosts.guard.mediation import Calls
from pmcl.hosts.guard.pins import Pins
from pmcl.hosts.guard.pipes import Pipe
from pmcl.hosts.guard.server_side import ServerSide
from pmcl.hosts.proposal import Binding

WITHIN_S = 5.0
RECEIPT = Receipt(kind="tool_output", digest="d" * 64)
_BINDING = Binding(scope="s", host="a", lease_id="", generation=1, salt="")


class ScriptedMediator(Mediator):
    """Passes what `passes` says once `gate` is open, and keeps what it was asked and told."""

    def __init__(self) -> None:
        self.asked: list[ToolCall] = []
        self.recorded: list[tuple[str, str]] = []
        self.outcomes: list[tuple[str, str | None, Receipt | None]] = []
        self.passes: Callable[[ToolCall], bool] = lambda call: True
        self.record_error: Exception | None = None
        self.dispatch_error: Exception | None = None
        self.gate = anyio.Event()
        self.gate.set()

    async def check(self, call: ToolCall, *, canary: bool = False) -> Mediated:
        self.asked.append(call)
        await self.gate.wait()
        verdict = Verdict(
            status="passed" if self.passes(call) else "held",
            call_id=call.call_id,
            proposal_hash="",
            reasons=() if self.passes(call) else ("plan.unmitigated",),
            binding=_BINDING,
            claim_id="",
            ends_s=0.0,
        )
        return Mediated(call=call, verdict=verdict)

    def dispatch(self, mediated: Mediated) -> Dispatch:
        return ScriptedDispatch(self)

    async def record(
        self,
        call: ToolCall,
        output: str,
        *,
        mediated: Mediated | None = None,
        trust: TrustLabel = "tool_output",
        ends: Dispatch | None = None,
    ) -> Receipt:
        if self.record_error is not None:
            raise self.record_error
        if ends is not None:
            ends.attest(RECEIPT)
        self.recorded.append((call.name, output))
        return RECEIPT

    async def outcome(self, count: int = 1) -> tuple[str, str | None, Receipt | None]:
        """The last of so many outcomes, once they are there."""
        with anyio.fail_after(WITHIN_S):
            while len(self.outcomes) < count:
                await anyio.lowlevel.checkpoint()
        assert len(self.outcomes) == count
        return self.outcomes[-1]


class ScriptedDispatch(Dispatch):
    def __init__(self, mediator: ScriptedMediator) -> None:
        self._mediator = mediator
        self._run = Run()

    async def __aenter__(self) -> Run:
        if self._mediator.dispatch_error is not None:
            raise self._mediator.dispatch_error
        return self._run

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run.end(error)
        assert self._run.status is not None
        told = (self._run.status, self._run.failure_mode, self._run.receipt)
        self._mediator.outcomes.append(told)


class Side:
    """What one side has received, frame by frame."""

    def __init__(self, pipe: Pipe) -> None:
        self._frames = frames(pipe.receive)

    async def frame(self) -> bytes:
        with anyio.fail_after(WITHIN_S):
            frame = await anext(self._frames)
        assert isinstance(frame, bytes)
        return frame

    async def message(self) -> Any:
        return json.loads(await self.frame())


class Rig:
    def __init__(
        self, mediator: ScriptedMediator, calls: Calls, sides: tuple[ClientSide, ServerSide]
    ) -> None:
        self.mediator = mediator
        self.calls = calls
        self._client_side, self._server_side = sides
        self.client: Side
        self.server: Side

    async def client_says(self, said: dict[str, Any] | bytes | Overlong) -> None:
        await self._client_side.take(_frame(said))

    async def server_says(self, said: dict[str, Any] | bytes | Overlong) -> None:
        await self._server_side.take(_frame(said))

    async def lists(self, *tools: dict[str, Any]) -> None:
        """Let the client list these tools."""
        await self.client_says({"jsonrpc": "2.0", "id": "list", "method": "tools/list"})
        await self.server.frame()
        await self.server_says({"jsonrpc": "2.0", "id": "list", "result": {"tools": [*tools]}})
        await self.client.frame()

    async def calls_tool(self, id: int | str, **params: Any) -> Any:
        """Let the client call a tool, and return what the server gets of it."""
        await self.client_says(call(id, **params))
        return await self.server.message()


def _frame(said: dict[str, Any] | bytes | Overlong) -> bytes | Overlong:
    return json.dumps(said).encode() + b"\n" if isinstance(said, dict) else said


def call(id: int | str, **params: Any) -> dict[str, Any]:
    given = {"name": "wipe", "arguments": {"a": 1}} | params
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": given}


def result(id: int | str, text: str = "out", **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"jsonrpc": "2.0", "id": id, "result": {"content": content} | fields}


@asynccontextmanager
async def open_rig(*, is_transparent: bool = False) -> AsyncIterator[Rig]:
    mediator, pins = ScriptedMediator(), Pins()
    async with AsyncExitStack() as stack:
        readers, lanes = [], []
        for side in ("client", "server"):
            reading, writing = (stack.enter_context(Pipe(end)) for end in os.pipe())
            readers.append(Side(reading))
            lanes.append(Lane(writing, side))
        tasks = await stack.enter_async_context(anyio.create_task_group())
        for lane in lanes:
            tasks.start_soon(lane.run)
        server = GuardedServer(name="toy", is_transparent=is_transparent)
        calls = Calls(server, mediator, pins, lanes[0])
        client_side = ClientSide(calls, pins, (lanes[0], lanes[1]), tasks)
        rig = Rig(mediator, calls, (client_side, ServerSide(calls, pins, lanes[0], tasks)))
        rig.client, rig.server = readers
        yield rig
        tasks.cancel_scope.cancel()
