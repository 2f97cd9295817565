"""What the bus has acknowledged waits for the host file's next transaction, and goes with it.

Nothing is lost with a process that dies before: a reservation that stayed open is closed by a void,
which the ledger drops since it has the number, and a message that does not count as sent is sent
again, under the same id.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from pmcl.outbox import host_units as units
from pmcl.store import Transaction

__all__ = ["Untold"]


class Told(msgspec.Struct):
    """What one transaction tells the file.

    Attributes:
        released: acknowledged reservations.
        sent: acknowledged messages, and when that was, ms.
    """

    released: set[int] = msgspec.field(default_factory=set)
    sent: dict[int, int] = msgspec.field(default_factory=dict)

    def write(self, tx: Transaction) -> None:
        """Write it; once more changes nothing."""
        units.acknowledged(tx, self.released)
        for number, sent_ms in self.sent.items():
            units.sent(tx, [number], sent_ms)


class Untold:
    """What one process was spared to write; its reservations are known to be open still."""

    def __init__(self) -> None:
        self._next = Told()
        self._voids_before: dict[int, int] = {}

    @property
    def is_empty(self) -> bool:
        """Whether the file knows all."""
        return not self._next.released and not self._next.sent

    def reserve(self, numbers: Iterable[int], voids: int) -> None:
        """Know reservations of this process; `voids` were closed by voids before, of anybody's."""
        self._voids_before.update(dict.fromkeys(numbers, voids))

    def are_open(self, numbers: Iterable[int], voids: int) -> bool:
        """Return whether these are reservations of this process that no void has closed."""
        return all(self._voids_before.get(number) == voids for number in numbers)

    def release(self, numbers: Iterable[int]) -> None:
        """Have acknowledged reservations closed."""
        self._next.released.update(numbers)

    def forget(self, numbers: Iterable[int]) -> None:
        """Know these reservations no more."""
        for number in numbers:
            self._voids_before.pop(number, None)

    def send(self, numbers: Iterable[int], now_ms: int) -> None:
        """Have messages count as sent."""
        self._next.sent.update(dict.fromkeys(numbers, now_ms))

    def was_sent(self, number: int, since_ms: int) -> bool:
        """Return whether a message was sent since, as far as the file does not say it."""
        return self._next.sent.get(number, since_ms - 1) >= since_ms

    @contextmanager
    def taken(self) -> Iterator[Told]:
        """Yield all of it, to be written; it is taken back when that fails."""
        told, self._next = self._next, Told()
        try:
            yield told
        except BaseException:
            self._next.released |= told.released
            self._next.sent = told.sent | self._next.sent
            raise
