"""Each numbered message of a host's file counts once, for ever, in whatever order it comes.

Per file there is a watermark, below which all is seen, and a sparse set above it; the set shrinks
as gaps close, so the inbox does not grow with the number of messages.
"""

from itertools import islice
from typing import Final

import msgspec

from pmcl.contracts import LedgerError, Received
from pmcl.outbox.epoch import found_ledger
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = ["is_marked", "mark", "missing", "read_received", "received"]

_queries = load_queries("pmcl.outbox", "inbox")
SCHEMA: Final = _queries.schema

_PAGE: Final = 256
_MISSING_MAX: Final = 256
_numbers = msgspec.json.Decoder(tuple[int, ...])


def mark(tx: Transaction, scope: str, host: str, epoch: str, number: int) -> bool:
    """Mark a number as seen; return whether it was new."""
    seen = received(tx, scope, host, epoch)
    if number <= seen.through:
        return False
    if number > seen.through + 1:
        added = tx.run(_queries.add_beyond, scope=scope, host=host, epoch=epoch, number=number)
        tx.forget(_key(scope, host, epoch))
        return added > 0
    end, beyond = number, seen.beyond
    while (last := _contiguous(beyond, end)) > end:
        end = last
        beyond = _beyond(tx, scope, host, epoch, end)
    tx.run(_queries.advance, scope=scope, host=host, epoch=epoch, through=end)
    if end > number:
        tx.run(_queries.drop_beyond, scope=scope, host=host, epoch=epoch, through=end)
    now = Received(ledger_epoch=seen.ledger_epoch, through=end, beyond=beyond)
    tx.remember(_key(scope, host, epoch), now)
    return True


def is_marked(tx: Transaction, scope: str, host: str, epoch: str, number: int) -> bool:
    """Return whether a number was seen."""
    if number <= received(tx, scope, host, epoch).through:
        return True
    row = tx.one(_queries.is_beyond, scope=scope, host=host, epoch=epoch, number=number)
    return row is not None


def missing(tx: Transaction, scope: str, host: str, epoch: str, number: int) -> tuple[int, ...]:
    """Return which numbers up to this one were not seen, the lowest `_MISSING_MAX` of them."""
    through = received(tx, scope, host, epoch).through
    beyond = _beyond(tx, scope, host, epoch, through)
    known = number if len(beyond) < _PAGE else min(number, beyond[-1])
    seen = frozenset(beyond)
    return tuple(islice((n for n in range(through + 1, known + 1) if n not in seen), _MISSING_MAX))


def received(tx: Transaction, scope: str, host: str, epoch: str) -> Received:
    """Return what a host may forget: the watermark and the lowest numbers beyond it."""
    return tx.recall(_key(scope, host, epoch), lambda: _seen(tx, scope, host, epoch))


async def read_received(reader: Reader, scope: str, host: str, epoch: str) -> Received:
    """Return the same as committed, for whoever only reads.

    Raises:
        LedgerError: the ledger has no epoch yet, so it has received nothing.
    """
    row = await reader.one(_queries.seen, scope=scope, host=host, epoch=epoch)
    if row is None:
        raise LedgerError("the ledger has received nothing yet")
    return _received(row)


def _received(row: Row) -> Received:
    return Received(
        ledger_epoch=row["ledger_epoch"],
        through=row["through"],
        beyond=_numbers.decode(row["beyond"]),
    )


def _key(scope: str, host: str, epoch: str) -> tuple[str, ...]:
    return "inbox.received", scope, host, epoch


def _seen(tx: Transaction, scope: str, host: str, epoch: str) -> Received:
    row = tx.one(_queries.seen, scope=scope, host=host, epoch=epoch)
    if row is None:
        found_ledger(tx)
        return _seen(tx, scope, host, epoch)
    return _received(row)


def _beyond(tx: Transaction, scope: str, host: str, epoch: str, above: int) -> tuple[int, ...]:
    rows = tx.all(_queries.beyond, scope=scope, host=host, epoch=epoch, through=above)
    return tuple(row["number"] for row in rows)


def _contiguous(numbers: tuple[int, ...], last: int) -> int:
    for number in numbers:
        if number != last + 1:
            break
        last = number
    return last
