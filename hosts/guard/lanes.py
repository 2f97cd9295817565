"""Frames leave in the order in which they came, also when one of them waits for a verdict."""

from typing import Final

import anyio
import structlog

from pmcl.hosts.guard.sides import Sink

__all__ = ["Lane", "Place"]

log = structlog.get_logger()

_PLACES: Final = 16


class Place:
    """A place in a lane, filled once: with a frame, or with nothing."""

    def __init__(self) -> None:
        self._turn = anyio.Event()
        self._filled = anyio.Event()
        self._data = b""

    @property
    def is_filled(self) -> bool:
        """Whether it is decided what goes out here."""
        return self._filled.is_set()

    def fill(self, data: bytes = b"") -> None:
        """Let `data` go out here; what was filled first stays."""
        if not self.is_filled:
            self._data = data
            self._filled.set()

    async def turn(self) -> None:
        """Wait until everything before this place has gone out."""
        await self._turn.wait()

    async def reach(self) -> bytes:
        """Return what goes out here, once that is decided."""
        self._turn.set()
        await self._filled.wait()
        return self._data


class Lane:
    """The frames to one side; whoever is too fast for it waits for a place."""

    def __init__(self, sink: Sink, name: str) -> None:
        self._sink = sink
        self._name = name
        self._entrance, self._exit = anyio.create_memory_object_stream[Place](_PLACES)
        self.ended = anyio.Event()

    async def place(self) -> Place:
        """Return the next place; it must be filled."""
        place = Place()
        await self._entrance.send(place)
        return place

    async def send(self, data: bytes) -> None:
        """Let `data` go out after everything that has a place."""
        (await self.place()).fill(data)

    def close(self) -> None:
        """Take no more; what has a place still goes out."""
        self._entrance.close()

    async def run(self) -> None:
        """Let frames out until the lane is closed, then close its sink; a broken one swallows."""
        is_broken = False
        with self._entrance, self._exit:
            async for place in self._exit:
                data = await place.reach()
                if not data or is_broken:
                    continue
                try:
                    await self._sink.send(data)
                except OSError as error:
                    is_broken = True
                    log.info("guard.side_gone", side=self._name, error=type(error).__name__)
        self._sink.close()
        self.ended.set()
