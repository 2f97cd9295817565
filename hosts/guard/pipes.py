"""A file descriptor is read and written without blocking the event loop, whatever it leads to."""

import os
import select
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import anyio

__all__ = ["Pipe"]

_CHUNK_BYTES: Final = 64 * 1024


class Pipe:
    """One end of a pipe, a socket, a terminal or a file; one task reads it, or one writes it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._blocked = os.get_blocking(descriptor)
        self._is_open = True

    def __enter__(self) -> Self:
        os.set_blocking(self._descriptor, False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_deserted(self) -> bool:
        """Whether nobody will ever read what is written."""
        watch = select.poll()
        watch.register(self._descriptor, 0)
        return bool(watch.poll(0))

    def close(self) -> None:
        """The other side sees the end; others who hold the descriptor find it as it was."""
        if self._is_open:
            self._is_open = False
            anyio.notify_closing(self._descriptor)
            with suppress(OSError):
                os.set_blocking(self._descriptor, self._blocked)
            os.close(self._descriptor)

    async def receive(self) -> bytes:
        """Return what is there, at least one byte; nothing at the end or when it broke."""
        while True:
            try:
                return os.read(self._descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self._descriptor)
            except OSError:
                return b""

    async def send(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            OSError: nobody reads any more.
        """
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._descriptor)
