"""The ledger's epoch: made with its file, so that a host notices when another ledger answers."""

from typing import Final

from ulid_transform import ulid_now

from pmcl.store import Transaction, load_queries

__all__ = ["found_ledger", "ledger_epoch"]

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
