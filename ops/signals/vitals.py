"""Whether each part of a running cell does its work now, as far as the parts themselves show it.

Nothing here waits: every answer follows from when a part was last heard of.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NoReturn, Protocol

import anyio

from pmcl.bus import DURABLES
from pmcl.hosts import Defect, Defects

__all__ = ["Vitals"]

SILENCE_S: Final = 5.0
"""How long a pull loop or the writer may give no sign; each has reason to every second."""
STUCK_S: Final = 10.0
"""How long rows may wait while LOG takes none, and how long a failed commit is remembered."""
DEFECTS_IN_A_ROW: Final = 3
"""So many requests of one kind that all ended in a defect: nobody is served until one is not."""

_TICK_S: Final = 0.5


class _Connected(Protocol):
    @property
    def ready(self) -> bool: ...


class _Relaying(Protocol):
    @property
    def last(self) -> int: ...


class Vitals:
    """Takes down signs of life; `parts` says what they come to.

    A sweep is committed every second and every pull request has a heartbeat every second, so that
    silence means something also where there is nothing to do.
    """

    def __init__(
        self,
        connections: Sequence[_Connected],
        relay: _Relaying,
        head: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        stores: Callable[[], bool] = lambda: True,
    ) -> None:
        self._connections = connections
        self._stores = stores
        self._relay = relay
        self._clock = clock
        now = clock()
        self._pulled = dict.fromkeys(DURABLES, now)
        self._wrote = now
        self._failed: float | None = None
        self._head = head
        self._sent = relay.last
        self._moved = now
        self._in_a_row: Counter[str] = Counter()
        self.defects = Defects()

    def pulled(self, durable: str) -> Callable[[], None]:
        """Return what is to be called when the server was heard about a consumer."""

        def heard() -> None:
            self._pulled[durable] = self._clock()

        return heard

    def wrote(self) -> None:
        """The writer has finished a unit."""
        self._wrote = self._clock()

    def failed(self) -> None:
        """The writer could not commit a unit."""
        self._failed = self._clock()

    def defective(self, kind: str, error: str, line: str) -> None:
        """A request of this kind met a defect."""
        self._in_a_row[kind] += 1
        last = Defect(kind=kind, error=error, line=line, at_ms=time.time_ns() // 1_000_000)
        self.defects = Defects(count=self.defects.count + 1, last=last)

    def answered(self, kind: str, answer: str) -> None:
        """A request of this kind has its end; a refusal does not say whether it can be served."""
        if answer == "answered":
            self._in_a_row.pop(kind, None)

    def committed(self, last: int) -> None:
        """The journal goes to row `last` now, so the relay has to send it."""
        self._failed = None
        if self._relay.last >= self._head:
            self._moved = self._clock()  # nothing waited until now
        self._head = max(self._head, last)

    @property
    def waiting(self) -> int:
        """Committed rows that LOG does not have."""
        return max(0, self._head - self._relay.last)

    def parts(self) -> dict[str, bool]:
        """Return for each part whether it does its work."""
        now = self._clock()
        fails = self._failed is not None and now - self._failed < STUCK_S
        return {
            "connection": all(connection.ready for connection in self._connections),
            "intake": self._stores()
            and all(now - heard < SILENCE_S for heard in self._pulled.values()),
            "requests": all(row < DEFECTS_IN_A_ROW for row in self._in_a_row.values()),
            "relay": self.waiting == 0 or now - self._moved < STUCK_S,
            "writer": now - self._wrote < SILENCE_S and not fails,
        }

    def look(self) -> None:
        """Take down whether the relay has moved since the last look."""
        if self._relay.last != self._sent:
            self._sent, self._moved = self._relay.last, self._clock()

    async def run(self, lagged: Callable[[float], None]) -> NoReturn:
        """Look at the relay and at the loop itself twice a second, for ever."""
        while True:
            due = anyio.current_time() + _TICK_S
            await anyio.sleep_until(due)
            lagged(max(0.0, anyio.current_time() - due))
            self.look()
