"""A call goes to the server once, claimed, and what it brought is evidence before a model reads it.

A call that asks for input stays the same call: neither judged nor claimed again.
Source: SPEC C8, D1, G2.
"""

from collections import OrderedDict
from pathlib import Path
from typing import Final

import anyio
import msgspec
import structlog

from pmcl.contracts import ContractError, HostError, LedgerError, PmclError
from pmcl.hosts.adapter import Mediated, Mediator, ToolCall
from pmcl.hosts.dispatch import Dispatch
from pmcl.hosts.guard.calls import CallFrame, continuation_key
from pmcl.hosts.guard.lanes import Lane, Place
from pmcl.hosts.guard.messages import (
    Message,
    RpcErrorCode,
    error_reply,
    is_unanswered,
    tool_error,
)
from pmcl.hosts.guard.outputs import text_of
from pmcl.hosts.guard.pins import Pins
from pmcl.hosts.guard.stated import read_stated
from pmcl.hosts.guard.waiting import Answer, OpenRequests, Request, WaitingCall

__all__ = ["Calls", "GuardedServer"]

log = structlog.get_logger()

_PARKED_MAX: Final = 256
_INPUT_S: Final = 600.0
"""How long a call that asked for input stays open without any."""

_CHANGED: Final = (
    "PMCL: the tool's definition changed before the call was dispatched; it was not run. "
    "List the tools again."
)
_UNKNOWN_INPUT: Final = (
    "PMCL: no call of this session waits for this input, or with other arguments; nothing was run. "
    "Make the call anew."
)
_WITHHELD: Final = "PMCL: the output could not be recorded, so it is withheld."


class GuardedServer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the server beforehand.

    Attributes:
        name: by which the host's authority knows it; never the one it gives itself.
        cwd: the folder it runs in; `None` when it runs elsewhere.
        is_transparent: the tools' schemas stay as the server wrote them.
    """

    name: str
    cwd: Path | None = None
    is_transparent: bool = False


class Calls:
    """The tool calls of one session, several at once."""

    def __init__(
        self, server: GuardedServer, mediator: Mediator, pins: Pins, to_client: Lane
    ) -> None:
        self.server = server
        self._mediator = mediator
        self._pins = pins
        self._to_client = to_client
        self._parked: OrderedDict[str, WaitingCall] = OrderedDict()
        self.open = OpenRequests()

    async def run(self, frame: CallFrame, place: Place, call: WaitingCall) -> None:
        """See one call through; `place` is where its frame goes to the server."""
        try:
            with call.scope:
                told = await self._run(frame, place, call)
                if told is not None:
                    await self._tell(frame, told)
        finally:
            place.fill()
            call.close()
            self.open.forget(call)
            self._unpark(call)
        if call.is_void:
            await self._tell(frame, _CHANGED)

    async def resume(self, frame: CallFrame, place: Place) -> None:
        """Go on with the call that asked for what this frame brings, or say that there is none."""
        key = continuation_key(frame.name, frame.arguments, frame.params.get("requestState"))
        call = self._parked.pop(key, None)
        if call is None:
            place.fill()
            await self._tell(frame, _UNKNOWN_INPUT)
            return
        self.open.add(frame.id, call)
        call.resume()
        place.fill(frame.encode())

    def void_changed(self) -> None:
        """Let no call be dispatched that was judged by a definition of the past."""
        for call in self.open.calls():
            if self._pins.find(call.name) != call.pin:
                call.void()

    def lose(self) -> None:
        """The server is gone: no call gets an answer any more, and none is dispatched."""
        for call in {*self.open.calls(), *self._parked.values()}:
            call.lose()

    def waiting_for_task(self, task: object) -> WaitingCall | None:
        """Return the call whose result a task will bring, once."""
        return self._parked.pop(_task_key(task), None)

    async def read(self, request: Request, answer: Answer) -> None:
        """Pass on what was read, not called, once it is evidence."""
        call = ToolCall(
            server=self.server.name,
            name=request.method,
            arguments={name: value for name, value in request.params.items() if name != "_meta"},
            cwd=self.server.cwd,
        )
        try:
            await self._mediator.record(call, _text_of(answer))
            answer.place.fill(answer.frame)
        except PmclError as error:
            log.warning("guard.withheld", method=request.method, error=type(error).__name__)
            told = f"{_WITHHELD} {error}"
            answer.place.fill(error_reply(answer.message["id"], RpcErrorCode.INTERNAL, told))
        finally:
            answer.place.fill()

    async def _run(self, frame: CallFrame, place: Place, call: WaitingCall) -> str | None:
        """Return what the model is told in place of a result; `None` when it got one, or none."""
        try:
            stated = read_stated(frame.stated)
        except ContractError as error:
            return f"PMCL: {error}"
        asked = ToolCall(
            server=self.server.name,
            name=frame.name,
            arguments=frame.arguments,
            definition=None if call.pin is None else call.pin.definition,
            cwd=self.server.cwd,
            stated=stated,
        )
        with anyio.CancelScope(shield=True):  # bounded; what passed unseen could not be closed
            mediated = await self._mediator.check(asked)
        await place.turn()
        if not mediated.may_run:
            return mediated.told
        try:
            block = self._mediator.dispatch(mediated)
            async with block:
                call.is_forwarded = True
                place.fill(frame.encode())
                await self._follow(frame, mediated, call, block)
        except (HostError, LedgerError) as error:
            if not call.is_forwarded:
                return f"PMCL: {error}"
        return None

    async def _follow(
        self, frame: CallFrame, mediated: Mediated, call: WaitingCall, block: Dispatch
    ) -> None:
        """Pass on answers until the last one, and say what came of the call."""
        while (answer := await call.answer()) is not None:
            try:
                key = await self._receive(frame, call, mediated, answer, block)
            finally:
                answer.place.fill()
            if key is None:
                return
            if not await self._resumed(key, call):
                break
        block.run.unknown()

    async def _receive(
        self,
        frame: CallFrame,
        call: WaitingCall,
        mediated: Mediated,
        answer: Answer,
        block: Dispatch,
    ) -> str | None:
        """Pass on an output that is evidence; return by what the call goes on, if it does."""
        message, run = answer.message, block.run
        failure, key = _failure(message), _parked_key(frame, message)
        is_last = key is None and not is_unanswered(message)
        if failure is None:
            run.succeeded()
        elif call.is_cancelled and "error" in message:
            run.cancelled()
        else:
            run.failed(failure)
        try:
            text = _text_of(answer)
            ends = block if is_last else None
            await self._mediator.record(mediated.call, text, mediated=mediated, ends=ends)
        except PmclError as error:
            log.warning("guard.withheld", method="tools/call", error=type(error).__name__)
            told = f"{_WITHHELD} {error} The tool did run."
            answer.place.fill(tool_error(message["id"], told, is_modern=frame.is_modern))
            return None
        if not is_last:
            run.unknown()  # until its last answer
        answer.place.fill(answer.frame)
        return key

    async def _resumed(self, key: str, call: WaitingCall) -> bool:
        """Return whether the client brings in time what the call asked for."""
        call.park()
        self._parked[key] = call
        while len(self._parked) > _PARKED_MAX:
            _, oldest = self._parked.popitem(last=False)
            oldest.lose()
        return await call.resumed(_INPUT_S)

    def _unpark(self, call: WaitingCall) -> None:
        for key in [key for key, parked in self._parked.items() if parked is call]:
            del self._parked[key]

    async def _tell(self, frame: CallFrame, told: str) -> None:
        await self._to_client.send(tool_error(frame.id, told, is_modern=frame.is_modern))


def _text_of(answer: Answer) -> str:
    try:
        return text_of(answer.message)
    except RecursionError:
        return answer.frame.decode("utf-8", "replace")


def _failure(message: Message) -> str | None:
    """Return the failure mode of a response, `None` of a success."""
    if "error" in message:
        return "rpc_error"
    result = message["result"]
    is_error = isinstance(result, dict) and result.get("isError") not in (None, False)
    return "tool_error" if is_error else None


def _parked_key(frame: CallFrame, message: Message) -> str | None:
    """Return what goes on with a call that is not over, `None` when it is."""
    result = message.get("result")
    if not isinstance(result, dict):
        return None
    if result.get("resultType") == "input_required":
        return continuation_key(frame.name, frame.arguments, result.get("requestState"))
    task = result.get("task") if "task" in frame.params else None
    return _task_key(task.get("taskId")) if isinstance(task, dict) else None


def _task_key(task: object) -> str:
    return f"task {task!r}"
