"""A connection that sends nothing, or reads nothing, is closed: uvicorn alone waits for ever.

Source: uvicorn 0.54, `h11_impl`: a timer runs only between two requests.
"""

import asyncio
from typing import Any, Final

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from pmcl.hosts.gateway.refusals import RETRY_AFTER_S, GatewayRefusedError

__all__ = ["HEADER_MAX_BYTES", "BoundedProtocol"]

HEADER_MAX_BYTES: Final = 16 * 1024

_PHRASES: Final = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}


class BoundedProtocol(H11Protocol):
    """One connection of a client."""

    connections_max = 256
    header_s = 10.0
    """How long a request's line and headers may take."""
    unread_s = 5.0
    """How long the client may take nothing of what is sent, also when it is closed."""
    tick_s = 0.5

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._watcher: asyncio.TimerHandle | None = None
        self._since_s = 0.0
        self._unread_since_s: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Watch the connection from now on; one too many is refused."""
        super().connection_made(transport)
        self._since_s = self.loop.time()
        self._watcher = self.loop.call_later(self.tick_s, self._watch)
        if len(self.connections) > self.connections_max:
            limit = f"{self.connections_max} connections"
            self._answer(GatewayRefusedError(503, "busy", "$", limit=limit))

    def connection_lost(self, exc: Exception | None) -> None:
        """Watch it no more."""
        if self._watcher is not None:
            self._watcher.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what the client sent, unless it was told to go."""
        if not self.transport.is_closing():
            super().data_received(data)

    def on_response_complete(self) -> None:
        """The time for the next request begins."""
        self._since_s = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        limit = f"HTTP/1.1 with at most {HEADER_MAX_BYTES} bytes of headers"
        self._answer(GatewayRefusedError(400, "malformed", "$", limit=limit))

    def pause_writing(self) -> None:
        """The client does not read: it has a while to begin."""
        self._unread_since_s = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client reads."""
        self._unread_since_s = None
        super().resume_writing()

    def _watch(self) -> None:
        now_s = self.loop.time()
        cycle: RequestResponseCycle | None = self.cycle
        under_way = cycle is not None and not cycle.response_complete
        if self.transport.is_closing() and self._unread_since_s is None:
            self._unread_since_s = now_s
        if self._unread_since_s is not None:
            if now_s - self._unread_since_s > self.unread_s:
                self.transport.abort()
                return
        elif not under_way and now_s - self._since_s > self.header_s:
            limit = f"a request's line and headers within {self.header_s:g} s"
            self._answer(GatewayRefusedError(408, "too_slow", "$", limit=limit))
        self._watcher = self.loop.call_later(self.tick_s, self._watch)

    def _answer(self, error: GatewayRefusedError) -> None:
        """Write a refusal that no application sees, and close."""
        body = msgspec.json.encode(error.problem)
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        if error.status == 503:
            headers.append(("retry-after", str(RETRY_AFTER_S)))
        phrase = _PHRASES[error.status].encode()
        try:
            for event in (
                h11.Response(status_code=error.status, headers=headers, reason=phrase),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event))
        except h11.LocalProtocolError:  # an answer is under way
            pass
        self.transport.close()
