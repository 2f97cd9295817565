"""Turns: each completed one waits once for its reflection."""

from typing import Final

from pmcl.contracts import TurnCompleted
from pmcl.store import Transaction, load_queries

__all__ = ["apply_completed", "is_completed"]

_queries = load_queries("pmcl.ledger", "turns")
SCHEMA: Final = _queries.schema


def is_completed(tx: Transaction, scope: str, host: str, turn_id: str) -> bool:
    """Return whether the turn was completed before."""
    return tx.one(_queries.find, scope=scope, host=host, turn_id=turn_id) is not None


def apply_completed(tx: Transaction, event: TurnCompleted) -> None:
    """Record the turn; its reflection waits."""
    tx.run(
        _queries.complete,
        scope=event.scope,
        host=event.host,
        turn_id=event.turn_id,
        lease_id=event.lease_id,
        generation=event.generation,
        at_ms=event.at_ms,
    )
