"""What a model reads of the server is evidence first; an answer that nobody waits for is dropped.

Source: SPEC G2.
"""

import json
from typing import Final

import structlog
from anyio.abc import TaskGroup

from pmcl.contracts import ContractError
from pmcl.hosts.guard.frames import Overlong, guess_id
from pmcl.hosts.guard.lanes import Lane
from pmcl.hosts.guard.mediation import Calls
from pmcl.hosts.guard.messages import Message, RpcErrorCode, error_reply, parse_message
from pmcl.hosts.guard.pins import Pins, with_stated
from pmcl.hosts.guard.waiting import Answer, Request, WaitingCall

__all__ = ["ServerSide"]

log = structlog.get_logger()

_LIST: Final = "tools/list"
_LIST_CHANGED: Final = "notifications/tools/list_changed"
_TASK_RESULT: Final = "tasks/result"
_READS: Final = frozenset({"resources/read", "prompts/get", "tasks/get", _TASK_RESULT})
_UNREADABLE: Final = "PMCL: the server's answer cannot be read alike by everybody; it is withheld."


class ServerSide:
    """What happens to each frame that the server sends."""

    def __init__(self, calls: Calls, pins: Pins, to_client: Lane, tasks: TaskGroup) -> None:
        """Share `calls` and `pins` with the client's side; outputs are recorded in `tasks`."""
        self._calls = calls
        self._open = calls.open
        self._pins = pins
        self._to_client = to_client
        self._tasks = tasks

    async def take(self, frame: bytes | Overlong) -> None:
        """Pass on, record or drop one frame."""
        if isinstance(frame, Overlong):
            await self._drop(frame.ends, "too long")
        elif not frame.strip():
            await self._to_client.send(frame)
        else:
            try:
                await self._take(frame, await parse_message(frame, lenient=True))
            except (ContractError, RecursionError):
                await self._drop(frame, "malformed")

    async def _take(self, frame: bytes, message: Message) -> None:
        ends = message.keys() & {"result", "error"}
        if "method" in message and not ends:
            if message["method"] == _LIST_CHANGED:
                self._pins.forget()
                self._calls.void_changed()
            await self._to_client.send(frame)
        elif "method" in message or len(ends) != 1:
            await self._drop(frame, "neither a request nor an answer")
        elif message.get("id") is None and "error" in ends:
            await self._to_client.send(frame)
        else:
            await self._answer(frame, message)

    async def _answer(self, frame: bytes, message: Message) -> None:
        request = self._open.take(message.get("id"))
        if request is None:
            log.warning("guard.frame_dropped", reason="answers no open request")
            return
        answer = Answer(message, frame, await self._to_client.place())
        if isinstance(request, WaitingCall):
            request.resolve(answer)
        elif request.method in _READS:
            self._read(request, answer)
        elif request.method == _LIST and isinstance(message.get("result"), dict):
            answer.place.fill(self._listed(request, answer))
        else:
            answer.place.fill(frame)

    def _read(self, request: Request, answer: Answer) -> None:
        if request.method == _TASK_RESULT:
            call = self._calls.waiting_for_task(request.params.get("taskId"))
            if call is not None:
                call.resolve(answer)
                return
        self._tasks.start_soon(self._calls.read, request, answer)

    def _listed(self, request: Request, answer: Answer) -> bytes:
        """Pin what is listed, and return the frame that offers the argument `_pmcl`."""
        result = answer.message["result"]
        self._pins.read(result, request.params.get("cursor"))
        self._calls.void_changed()
        offered = None if self._calls.server.is_transparent else with_stated(result)
        if offered is None:
            return answer.frame
        changed = {**answer.message, "result": offered}
        return json.dumps(changed, separators=(",", ":")).encode() + b"\n"

    async def _drop(self, data: bytes, reason: str) -> None:
        """Say so to whom the frame may have been meant for."""
        log.warning("guard.frame_dropped", reason=reason)
        id = guess_id(data)
        request = self._open.take(id)
        if id is None or request is None:
            return
        if isinstance(request, WaitingCall):
            request.resolve(None)
        await self._to_client.send(error_reply(id, RpcErrorCode.INTERNAL, _UNREADABLE))
