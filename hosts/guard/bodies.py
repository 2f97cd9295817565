"""What a response holds: one body within the bound of a frame, or events, one frame each.

Source: WHATWG HTML, server-sent events.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import httpx

from pmcl.hosts.guard.frames import FRAME_MAX_BYTES, Overlong, frames

__all__ = ["EVENTS", "body_of", "events_of"]

EVENTS: Final = "text/event-stream"


async def body_of(response: httpx.Response) -> bytes:
    """Return a body, nothing of one that is too long for a frame."""
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > FRAME_MAX_BYTES:
            return b""
    return bytes(data)


async def events_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the data of each event; a line that is too long is passed over."""
    data: list[bytes] = []
    async for line in frames(_receiver(response)):
        if isinstance(line, Overlong):
            continue
        name, _, value = line.rstrip(b"\r\n").partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not name and not value:
            if any(data):
                yield b"\n".join(data)
            data.clear()


def _receiver(response: httpx.Response) -> Callable[[], Awaitable[bytes]]:
    chunks = response.aiter_bytes()

    async def receive() -> bytes:
        async for chunk in chunks:
            if chunk:
                return chunk
        return b""

    return receive
