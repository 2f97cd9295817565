"""One line is one frame; no more of it is in memory than the bound, and a stream never is.

Source: Model Context Protocol, transports: messages on stdio are delimited by newlines.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

import msgspec

__all__ = ["FRAME_MAX_BYTES", "Overlong", "frames", "guess_id"]

FRAME_MAX_BYTES: Final = 32 * 1024 * 1024
_ENDS_BYTES: Final = 1024
_id = re.compile(rb'"id"\s*:\s*(\d{1,16}(?![\d.eE])|"[^"\\\x00-\x1f]{0,256}")')


class Overlong(msgspec.Struct, frozen=True):
    """A line beyond the bound; of what it held only the first and the last bytes are kept."""

    ends: bytes
    size_bytes: int


async def frames(
    receive: Callable[[], Awaitable[bytes]], max_bytes: int = FRAME_MAX_BYTES
) -> AsyncIterator[bytes | Overlong]:
    """Yield each line with its newline; the last one may lack it.

    A reader that takes lines executes the last one without a newline too, so it is a frame.
    """
    line = _Line(max_bytes)
    while chunk := await receive():
        for part in _parts(chunk):
            line.add(part)
            if part.endswith(b"\n"):
                yield line.take()
    if line.size_bytes:
        yield line.take()


def guess_id(data: bytes) -> int | str | None:
    """Return the first id in bytes that are no message: good enough to say that it was dropped."""
    found = _id.search(data)
    if found is None:
        return None
    value: int | str = msgspec.json.decode(found[1], type=int | str)
    return value


def _parts(chunk: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(chunk):
        end = chunk.find(b"\n", at) + 1 or len(chunk)
        yield chunk[at:end]
        at = end


class _Line:
    """The line that is being read."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._data = bytearray()
        self._tail = b""
        self.size_bytes = 0

    def add(self, part: bytes) -> None:
        self.size_bytes += len(part)
        if self.size_bytes <= self._max_bytes:
            self._data += part
        else:
            self._tail = (self._tail or bytes(self._data[-_ENDS_BYTES:])) + part
            self._tail = self._tail[-_ENDS_BYTES:]
            del self._data[_ENDS_BYTES:]

    def take(self) -> bytes | Overlong:
        data, tail, size_bytes = bytes(self._data), self._tail, self.size_bytes
        self._data.clear()
        self._tail, self.size_bytes = b"", 0
        return data if size_bytes <= self._max_bytes else Overlong(data + tail, size_bytes)
