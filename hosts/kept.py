"""Observations that the stream has acknowledged are kept in memory until the ledger has them.

A stream can lose what it acknowledged (a damaged disk, an older copy of its store). What is kept
here is then sent again. It is bounded, and never on the host's disk: what fell out, or was kept by
a process that is gone, is lost with the stream, and its number is closed.
"""

from collections import deque
from collections.abc import Iterable
from typing import Final

from pmcl.contracts import Received
from pmcl.hosts.intake import Numbered

__all__ = ["KeptObservations"]

_MESSAGES_MAX: Final = 4096
_BYTES_MAX: Final = 8 * 1024 * 1024


class KeptObservations:
    """What this process could send again, the oldest first."""

    def __init__(self) -> None:
        self._kept: deque[Numbered] = deque()
        self._bytes = 0

    def keep(self, messages: Iterable[Numbered]) -> None:
        """Keep acknowledged messages; the oldest fall out where there are too many."""
        for message in messages:
            self._kept.append(message)
            self._bytes += len(message.body)
        while len(self._kept) > _MESSAGES_MAX or self._bytes > _BYTES_MAX:
            self._drop()

    def forget(self, received: Received) -> None:
        """Drop what the ledger has committed, as far as nothing older is left."""
        while self._kept and self._kept[0].number <= received.through:
            self._drop()

    def find(self, numbers: Iterable[int]) -> list[Numbered]:
        """Return those messages of these numbers that are kept."""
        wanted = frozenset(numbers)
        return [message for message in self._kept if message.number in wanted]

    def _drop(self) -> None:
        self._bytes -= len(self._kept.popleft().body)
