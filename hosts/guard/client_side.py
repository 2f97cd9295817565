"""Frames of the client pass as they are, but for calls; what could be read as one is never passed.

Source: SPEC G2.
"""

from typing import Final

import structlog
from anyio.abc import TaskGroup

from pmcl.contracts import ContractError
from pmcl.hosts.guard.calls import is_call, is_id, read_call
from pmcl.hosts.guard.frames import Overlong
from pmcl.hosts.guard.lanes import Lane
from pmcl.hosts.guard.mediation import Calls
from pmcl.hosts.guard.messages import Message, RpcErrorCode, error_reply, parse_message
from pmcl.hosts.guard.pins import Pins
from pmcl.hosts.guard.waiting import Request, WaitingCall

__all__ = ["ClientSide"]

log = structlog.get_logger()

_CANCELLED: Final = "notifications/cancelled"


class ClientSide:
    """What happens to each frame that the client sends."""

    def __init__(
        self, calls: Calls, pins: Pins, lanes: tuple[Lane, Lane], tasks: TaskGroup
    ) -> None:
        """Args as for `ServerSide`; `lanes` lead to the client and to the server."""
        self._calls = calls
        self._open = calls.open
        self._pins = pins
        self._to_client, self._to_server = lanes
        self._tasks = tasks

    async def take(self, frame: bytes | Overlong) -> None:
        """Pass on, mediate or refuse one frame."""
        if isinstance(frame, Overlong):
            await self._refuse(None, RpcErrorCode.REQUEST, f"$ has {frame.size_bytes} bytes")
        elif not frame.strip():
            await self._to_server.send(frame)
        else:
            try:
                await self._take(frame, await parse_message(frame))
            except ContractError as error:
                await self._refuse(None, RpcErrorCode.PARSE, str(error))

    async def _take(self, frame: bytes, message: Message) -> None:
        method, ends = message.get("method"), message.keys() & {"result", "error"}
        if is_call(method):
            await self._call(message)
        elif len(ends) != (0 if "method" in message else 1):
            reason = "$ is neither one request nor one answer"
            await self._refuse(None, RpcErrorCode.REQUEST, reason)
        elif ends:
            await self._to_server.send(frame)
        elif not isinstance(method, str):
            await self._refuse(None, RpcErrorCode.REQUEST, "$.method is no text")
        elif "id" in message:
            await self._request(frame, message)
        elif method != _CANCELLED or self._open.cancel(_params(message).get("requestId")):
            await self._to_server.send(frame)

    async def _request(self, frame: bytes, message: Message) -> None:
        refused = self._refused_id(message["id"])
        if refused is not None:
            await self._refuse(None, RpcErrorCode.REQUEST, refused)
            return
        self._open.add(message["id"], Request(message["method"], _params(message)))
        await self._to_server.send(frame)

    async def _call(self, message: Message) -> None:
        if "id" not in message:
            log.warning("guard.call_dropped", reason="a notification gets no answer")
            return
        refused = self._refused_id(message["id"])
        if refused is not None:
            await self._refuse(None, RpcErrorCode.REQUEST, refused)
            return
        try:
            frame = read_call(message, self._has_stated)
            frame.encode()
        except ContractError as error:
            in_params = error.field.startswith("$.params.")
            code = RpcErrorCode.PARAMS if in_params else RpcErrorCode.REQUEST
            await self._refuse(message, code, str(error))
            return
        place = await self._to_server.place()
        if frame.continues:
            await self._calls.resume(frame, place)
            return
        call = WaitingCall(frame.name, self._pins.find(frame.name))
        self._open.add(frame.id, call)
        self._tasks.start_soon(self._calls.run, frame, place, call)

    def _refused_id(self, id: object) -> str | None:
        """Return why a request may not have this id, `None` when it may."""
        if not is_id(id):
            return "$.id is neither text nor a whole number within bounds"
        if id in self._open:
            return "$.id is the one of a request that is not answered yet"
        return "$ is one request too many" if self._open.is_full else None

    def _has_stated(self, name: str) -> bool:
        pin = self._pins.find(name)
        return pin is not None and pin.has_stated

    async def _refuse(self, message: Message | None, code: int, reason: str) -> None:
        id = None if message is None else message["id"]
        log.warning("guard.frame_refused", code=code)
        await self._to_client.send(error_reply(id, code, f"PMCL: {reason}"))


def _params(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}
