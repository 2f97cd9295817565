"""A signal that fires after each commit, for those who wait for the ledger to change."""

import anyio
import anyio.lowlevel

__all__ = ["CommitSignal"]


class CommitSignal:
    """Wakes every waiter at the next commit. Take `count` before reading, then wait for more.

    Attributes:
        count: how many commits there were.
    """

    def __init__(self) -> None:
        self.count = 0
        self._event: anyio.Event | None = None  # only where somebody waits

    async def after(self, count: int) -> None:
        """Return once there were more commits than `count`."""
        await anyio.lowlevel.checkpoint()
        while self.count <= count:
            if self._event is None:
                self._event = anyio.Event()
            await self._event.wait()

    def notify(self) -> None:
        """Wake all who wait."""
        self.count += 1
        if self._event is not None:
            self._event.set()
            self._event = None
