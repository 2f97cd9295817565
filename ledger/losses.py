"""Losses: messages that INTAKE had acknowledged and then lost, and that nobody could send again."""

from typing import Final

from pmcl.contracts import NumberClosed
from pmcl.store import Transaction, load_queries

__all__ = ["apply_closed"]

_queries = load_queries("pmcl.ledger", "losses")
SCHEMA: Final = _queries.schema


def apply_closed(tx: Transaction, event: NumberClosed) -> None:
    """Record the number of a lost message; one that closed for another reason is no loss."""
    if event.reason != "lost" or event.cause is None:
        return
    tx.run(
        _queries.record,
        scope=event.scope,
        host=event.host,
        epoch=event.cause.epoch,
        number=event.cause.number,
        at_ms=event.at_ms,
    )
