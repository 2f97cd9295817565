"""A ledger behind LOG, restored from an older copy, takes the rest from LOG before it goes on.

LOG is believed only as far as its chain continues the ledger's own. What is left to do is noted in
the ledger in the transaction of the first row, so the next start makes up for a crash anywhere.

Source: DESIGN section 3.6.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import structlog

from pmcl.bus import LOG, Connection, StreamState, replay_intake, stream_state
from pmcl.ledger import FoldError, backups, fold
from pmcl.ops.record.retaking import retake_payloads
from pmcl.outbox import (
    DivergedError,
    UnitOfWork,
    begin_fold,
    end_fold,
    journal,
    open_fold,
    read_log,
)
from pmcl.outbox.journal import Head, JournalRow
from pmcl.store import Reader, Transaction, Writer, open_reader
from pmcl.workers import Decision, Retaker, Units, record_backup

__all__ = ["fold_rows", "fold_tail", "take_back"]

log = structlog.get_logger()

_UNIT_ROWS: Final = 200


async def fold_tail(relaying: Connection, writer: Writer, ledger: Path) -> int:
    """Return how many rows the ledger took from LOG; it has all of LOG's now.

    Args:
        relaying: may read LOG.
        writer: the ledger's.
        ledger: the ledger's file.

    Raises:
        DivergedError: LOG has another row than the ledger where both have one.
        FoldError: LOG lacks a row, or has one that does not continue the chain.
        BusError: no answer.
    """
    state = await stream_state(relaying, LOG)
    async with open_reader(ledger) as reader:
        head = await journal.last(reader)
        if state is None or state.last <= head.sequence:
            return 0
        await _check_common(relaying, reader, state, head)
    log.warning("fold.began", after=head.sequence, through=state.last)
    await fold_rows(relaying, writer, head.sequence, state.last)
    return state.last - head.sequence


async def fold_rows(
    relaying: Connection,
    writer: Writer,
    after: int,
    last: int,
    advance: Callable[[int], None] | None = None,
) -> None:
    """The ledger has LOG's rows behind `after`, to `last`. Raises as `fold_tail`."""
    for first in range(after + 1, last + 1, _UNIT_ROWS):
        rows = await read_log(relaying, first, min(first + _UNIT_ROWS - 1, last))
        await writer.run(partial(_fold, rows, first, after))
        if advance is not None:
            advance(len(rows))


def _fold(rows: list[JournalRow | None], first: int, after: int, tx: Transaction) -> None:
    begin_fold(tx, after)
    for sequence, row in enumerate(rows, start=first):
        if row is None:
            raise FoldError(sequence, "LOG lacks it, and so does the ledger")
        fold(tx, row)


async def take_back(
    admin: Connection, writer: Writer, ledger: Path, retaker: Retaker, units: Units
) -> None:
    """Nothing is left to do for a fold: payloads are taken again, INTAKE is delivered again.

    Raises:
        BusError: no answer; the next start goes on.
    """
    after = await writer.run(open_fold)
    if after is None:
        return
    # Erasures that LOG told of leave nothing in the log either; a reader delays that, no more.
    await writer.truncate()
    retaken = await retake_payloads(admin, ledger, retaker, after)
    # What the newer ledger had committed and not relayed is in neither copy, but in INTAKE it is.
    await replay_intake(admin)
    await units.record(_know_restored)
    await writer.run(end_fold)
    log.warning("fold.ended", after=after, retaken=retaken.taken, unavailable=retaken.unavailable)


def _know_restored(unit: UnitOfWork) -> Decision:
    restored = backups.take_restored(unit.tx)
    return Decision() if restored is None else record_backup(restored, unit)


async def _check_common(
    relaying: Connection, reader: Reader, state: StreamState, head: Head
) -> None:
    """Raise unless the ledger's last row is LOG's; a LOG whose first rows are purged may not say.

    The first row that is folded must continue the ledger's chain in any case.
    """
    if not state.first <= head.sequence:
        return
    if not await _same(relaying, reader, head.sequence):
        raise DivergedError(head.sequence, await _agree(relaying, reader, state.first, head))


async def _agree(relaying: Connection, reader: Reader, first: int, head: Head) -> int | None:
    """Return the last row that both have: each hash covers all before it, so halving finds it."""
    low, high = first - 1, head.sequence
    while high - low > 1:
        middle = (low + high) // 2
        if await _same(relaying, reader, middle):
            low = middle
        else:
            high = middle
    return low if low >= first or first == 1 else None


async def _same(relaying: Connection, reader: Reader, sequence: int) -> bool:
    (stored,) = await read_log(relaying, sequence, sequence)
    return stored is not None and stored.hash == await journal.hash_of(reader, sequence)
