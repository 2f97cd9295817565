"""A server at an address: each frame is a request of its own, answered by a body or by a stream.

It looks to the guard like one on pipes. What went wrong on the way is the answer to the request.
Source: Model Context Protocol, streamable HTTP, revisions 2025-11-25 and 2026-07-28.
"""

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
import httpx
import msgspec
import structlog
from anyio.abc import TaskGroup

from pmcl.hosts.guard.bodies import EVENTS, body_of, events_of
from pmcl.hosts.guard.calls import is_id
from pmcl.hosts.guard.headers import headers_of, version_of
from pmcl.hosts.guard.messages import Id, Message, unanswered

__all__ = ["Remote", "open_remote"]

log = structlog.get_logger()

_SESSION: Final = "Mcp-Session-Id"
_VERSION: Final = "MCP-Protocol-Version"
_ACCEPT: Final = "application/json, text/event-stream"
_CONNECT_S: Final = 30.0
_LAST_S: Final = 10.0
_AGAIN_S: Final = 1.0
_FRAMES: Final = 16


class Remote:
    """One session with a server; `run` must run beside it."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        url: str,
        tasks: TaskGroup,
        schema_of: Callable[[str], Message],
    ) -> None:
        self._http = http
        self._url = url
        self._tasks = tasks
        self._schema_of = schema_of
        self._session: dict[str, str] = {}
        self._greeting: object = None
        self._posts: dict[Id, anyio.CancelScope] = {}
        self._cancelled: set[Id] = set()
        self._idle = anyio.Event()
        self._closing = anyio.Event()
        self._ended = anyio.Event()
        self._heard_in, self.heard = anyio.create_memory_object_stream[bytes](_FRAMES)

    @property
    def requests(self) -> "Remote":
        """Where the client's frames go."""
        return self

    async def send(self, data: bytes) -> None:
        """Post one frame; a request is answered later, all else is taken when this returns."""
        if not data.strip():
            return
        message = msgspec.json.decode(data)
        id, method = message.get("id"), message.get("method")
        if method == "notifications/cancelled" and self._cancel(message):
            return
        if method is None or not is_id(id):
            await self._post(message, data)
            if method == "notifications/initialized":
                self._tasks.start_soon(self._listen)
        elif method == "initialize":
            self._greeting = id
            await self._request(id, message, data)
        else:
            self._tasks.start_soon(self._request, id, message, data)

    def close(self) -> None:
        """The client has said its last."""
        self._closing.set()

    async def receive(self) -> bytes:
        """Return the next frame; nothing at the end."""
        try:
            return await self.heard.receive()
        except anyio.EndOfStream:
            return b""

    async def wait(self) -> int:
        """Return 0, once the session has ended."""
        await self._ended.wait()
        return 0

    async def leave(self) -> None:
        """The client has gone without a word."""
        self.close()

    async def pass_signals(self) -> None:
        """End the session when a signal would end the guard."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for _ in signals:
                self.close()

    async def run(self) -> None:
        """Wait for the end, give open requests their time, and end the session at the server."""
        await self._closing.wait()
        with anyio.move_on_after(_LAST_S):
            while self._posts:
                await self._idle.wait()
        if _SESSION in self._session:
            with anyio.move_on_after(_LAST_S):
                try:
                    await self._http.delete(self._url, headers=self._session)
                except httpx.HTTPError as error:
                    log.info("guard.session_left", error=type(error).__name__)
        self.end()

    def end(self) -> None:
        """No frame is heard any more."""
        self._heard_in.close()
        self._ended.set()

    def _cancel(self, message: Message) -> bool:
        """Hang up on a request of the newer revision; return whether that is all there is to do."""
        params = message.get("params")
        id = params.get("requestId") if isinstance(params, dict) else None
        scope = self._posts.get(id) if is_id(id) else None
        is_older = _VERSION in self._session
        if scope is not None and is_id(id):
            self._cancelled.add(id)
            if not is_older:
                scope.cancel()
        return not is_older

    async def _request(self, id: Id, message: Message, data: bytes) -> None:
        with anyio.CancelScope() as scope:
            self._posts[id] = scope
            try:
                await self._post(message, data)
            finally:
                del self._posts[id]
                self._cancelled.discard(id)
                self._idle.set()
                self._idle = anyio.Event()

    async def _post(self, message: Message, data: bytes) -> None:
        id = message.get("id") if "method" in message else None
        headers = {"Content-Type": "application/json", "Accept": _ACCEPT, **self._session}
        version = version_of(message)
        if version is not None:
            headers |= {_VERSION: version, **headers_of(message, self._schema_of)}
        try:
            async with self._http.stream(
                "POST", self._url, content=data, headers=headers
            ) as response:
                if message.get("method") == "initialize" and _SESSION in response.headers:
                    self._session[_SESSION] = response.headers[_SESSION]
                answered = await self._take(response, id)
        except httpx.HTTPError as error:
            log.warning("guard.remote_failed", error=type(error).__name__)
            answered = await self._fail(id, type(error).__name__)
        if id is not None and not answered and id not in self._cancelled:
            await self._fail(id, "the server's stream ended without an answer")

    async def _take(self, response: httpx.Response, id: object) -> bool:
        """Pass on what a response holds; return whether it answers `id`."""
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip()
        answered = False
        if kind == EVENTS:
            async for data in events_of(response):
                answered = await self._hear(data, id) or answered
                if answered:
                    break
        elif kind == "application/json":
            answered = await self._hear(await body_of(response), id)
        if not response.is_success and not answered:
            return await self._fail(id, f"HTTP status {response.status_code}")
        return answered

    async def _hear(self, data: bytes, id: object) -> bool:
        """Pass on one message in one line; return whether it answers `id`."""
        if not data.strip():
            return False
        frame = data.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        try:
            message = msgspec.json.decode(frame)
        except (ValueError, RecursionError):
            message = None
        is_answer = isinstance(message, dict) and "method" not in message
        answered = is_answer and id is not None and message.get("id") == id
        if answered and id == self._greeting:
            self._greet(message)
        await self._say(frame)
        return answered

    def _greet(self, message: Message) -> None:
        """Speak the revision that the server of an older one chose."""
        result = message.get("result")
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if isinstance(version, str):
            self._session[_VERSION] = version

    async def _fail(self, id: object, reason: str) -> bool:
        if is_id(id):
            await self._say(unanswered(id, reason))
        return True

    async def _say(self, frame: bytes) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._heard_in.send(frame)

    async def _listen(self) -> None:
        """Hear what a server of the older revision says by itself, if it does."""
        while True:
            headers = {"Accept": EVENTS, **self._session}
            try:
                async with self._http.stream("GET", self._url, headers=headers) as response:
                    if not response.is_success:
                        return
                    async for data in events_of(response):
                        await self._hear(data, None)
            except httpx.HTTPError as error:
                log.info("guard.remote_failed", error=type(error).__name__)
            await anyio.sleep(_AGAIN_S)


@asynccontextmanager
async def open_remote(
    url: str, headers: dict[str, str], schema_of: Callable[[str], Message]
) -> AsyncIterator[Remote]:
    """Open a session with the server at an address; redirects are not followed."""
    timeout = httpx.Timeout(_CONNECT_S, read=None)
    async with (
        httpx.AsyncClient(headers=headers, timeout=timeout) as http,
        anyio.create_task_group() as tasks,
    ):
        remote = Remote(http, url, tasks, schema_of)
        tasks.start_soon(remote.run)
        with remote.heard:
            yield remote
            remote.end()
        tasks.cancel_scope.cancel()
