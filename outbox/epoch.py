"""The ledger's epoch: made with its file, so that a host notices when another ledger answers.

A ledger that was behind LOG gets another one, so that hosts send again what it may lack.
"""

from typing import Final

from ulid_transform import ulid_now

from pmcl.store import Reader, Transaction, load_queries

__all__ = ["begin_fold", "end_fold", "found_ledger", "ledger_epoch", "open_fold", "read_epoch"]

_queries = load_queries("pmcl.outbox", "epoch")
SCHEMA: Final = _queries.schema


def found_ledger(tx: Transaction) -> None:
    """Give the ledger its epoch; one that it has stays."""
    tx.run(_queries.found, epoch=ulid_now())


def ledger_epoch(tx: Transaction) -> str:
    """Return the epoch, made at the first call."""
    found_ledger(tx)
    row = tx.one(_queries.epoch)
    assert row is not None
    return str(row["epoch"])


async def read_epoch(reader: Reader) -> str | None:
    """Return the epoch, None where none was made yet."""
    row = await reader.one(_queries.epoch)
    return None if row is None else row["epoch"]


def begin_fold(tx: Transaction, after: int) -> None:
    """Give the ledger another epoch, and note that LOG is folded behind this row of the journal.

    A fold that is open already, because a crash cut it, stays as it is.
    """
    found_ledger(tx)
    tx.run(_queries.begin_fold, epoch=ulid_now(), after=after)
    tx.forget_all()  # receipts name the epoch


def open_fold(tx: Transaction) -> int | None:
    """Return the row behind which a fold is open, None if there is none."""
    row = tx.one(_queries.open_fold)
    return None if row is None else row["folded_after"]


def end_fold(tx: Transaction) -> None:
    """Note that nothing is left to do for the fold."""
    tx.run(_queries.end_fold)
