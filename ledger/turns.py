"""Turns: each completed one waits once for its reflection."""

from typing import Final

import msgspec

from pmcl.contracts import TurnCompleted
from pmcl.store import Transaction, load_queries

__all__ = ["WaitingTurns", "claim", "complete", "is_completed", "settle", "waiting"]

_queries = load_queries("pmcl.ledger", "turns")
SCHEMA: Final = _queries.schema


def is_completed(tx: Transaction, scope: str, host: str, turn_id: str) -> bool:
    """Return whether the turn was completed before."""
    return tx.one(_queries.find, scope=scope, host=host, turn_id=turn_id) is not None


class WaitingTurns(msgspec.Struct, frozen=True, kw_only=True):
    """The turns of a host's oldest lease that wait; `first` is the oldest of them."""

    lease_id: str
    generation: int
    first: str
    turns: int


def waiting(tx: Transaction, scope: str, host: str) -> WaitingTurns | None:
    """Return what waits of a host; a newer lease's turns come after an older one's."""
    row = tx.one(_queries.first_waiting, scope=scope, host=host)
    if row is None:
        return None
    count = tx.one(_queries.count_waiting, scope=scope, host=host, generation=row["generation"])
    assert count is not None
    return WaitingTurns(
        lease_id=row["lease_id"],
        generation=row["generation"],
        first=row["turn_id"],
        turns=count["turns"],
    )


def complete(tx: Transaction, event: TurnCompleted) -> None:
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


def claim(tx: Transaction, scope: str, host: str, generation: int, cycle_id: str) -> int:
    """Return how many turns of a generation now belong to the cycle."""
    return tx.run(_queries.claim, scope=scope, host=host, generation=generation, cycle_id=cycle_id)


def settle(tx: Transaction, cycle_id: str, *, waits: bool) -> None:
    """The cycle's turns wait again, or are done."""
    tx.run(_queries.settle, cycle_id=cycle_id, reflection="waiting" if waits else "done")
