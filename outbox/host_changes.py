"""Every change of the host's file is shown to all its processes; what can wait goes with the next.

Source: DESIGN sections 2 (a host's watermark) and 3.8.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import anyio

from pmcl.contracts import LedgerError
from pmcl.outbox import host_units as units
from pmcl.outbox.host_mark import HostMark
from pmcl.outbox.host_untold import Untold
from pmcl.store import Transaction, Writer

__all__ = ["HostChanges"]

T = TypeVar("T")

_TELL_S: Final = 2.0


class HostChanges:
    """The transactions of one owner of the file.

    Attributes:
        boot: this run of the machine; `None` where nobody tells, and then nothing may be taken
            back and nothing waits.
        mark: what all processes see.
        untold: what the file does not know yet.
    """

    def __init__(self, writer: Writer, mark: HostMark, boot: str | None) -> None:
        self._writer = writer
        self._voids = 0
        self.boot = boot
        self.mark = mark
        self.untold = Untold()

    async def run(self, unit: Callable[[Transaction], T], *, durable: bool = True) -> T:
        """Run a unit that may write, and show what it left to all processes."""

        def marked(tx: Transaction) -> T:
            self._voids = 0
            told.write(tx)
            result = unit(tx)
            if durable and self.boot is not None:
                units.promise(tx)
            self.mark.write(units.read_state(tx), self._voids)
            return result

        with self.untold.taken() as told:
            return await self._writer.run(marked, durable=durable or self.boot is None)

    async def read(self, unit: Callable[[Transaction], T]) -> T:
        """Return what a unit found that writes nothing."""
        return await self._writer.run(unit, durable=False)

    def void(self, tx: Transaction, numbers: Iterable[int]) -> int:
        """Replace open reservations by voids and return how many these were; in a unit of `run`."""
        count = units.void(tx, numbers)
        self._voids += count
        return count

    def acknowledge(self, numbers: Sequence[int]) -> bool:
        """Return whether all processes have the watermark, so that the file may wait for it."""
        return self.boot is not None and bool(numbers) and self.mark.acknowledge(max(numbers))

    async def tell(self) -> None:
        """The file knows all, if it can be written; what it does not, another start finds out."""
        if self.untold.is_empty:
            return
        with anyio.move_on_after(_TELL_S, shield=True), suppress(LedgerError):
            await self.run(lambda tx: None, durable=False)
