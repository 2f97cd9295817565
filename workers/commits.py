"""A signal that fires after each commit, for those who wait for the ledger to change."""

import anyio

__all__ = ["CommitSignal"]


class CommitSignal:
    """Wakes every waiter at the next commit. Take `next` before reading, then wait for it."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    @property
    def next(self) -> anyio.Event:
        """The event that the next commit sets."""
        return self._event

    def notify(self) -> None:
        """Wake all who wait."""
        self._event.set()
        self._event = anyio.Event()
