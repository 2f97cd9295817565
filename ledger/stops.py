"""Stops: one at most is in force, from the commit of an operator's word to that of another."""

from typing import Final

import msgspec

from pmcl.contracts import CellResumed, CellStopped
from pmcl.store import Row, Transaction, load_queries

__all__ = ["StopInForce", "apply_resumed", "apply_stopped", "in_force"]

_queries = load_queries("pmcl.ledger", "stops")
SCHEMA: Final = _queries.schema

_IN_FORCE: Final = ("stops.in_force",)


class StopInForce(msgspec.Struct, frozen=True):
    """Since when (milliseconds since the epoch), and by whose word."""

    since: int
    by: str


def in_force(tx: Transaction) -> StopInForce | None:
    """Return the stop in force, `None` while work goes on."""
    return tx.recall(_IN_FORCE, lambda: _read(tx.one(_queries.in_force)))


def _read(row: Row | None) -> StopInForce | None:
    return None if row is None else StopInForce(row["stopped_at"], row["stopped_by"])


def apply_stopped(tx: Transaction, event: CellStopped) -> None:
    """Record that the stop is in force."""
    tx.run(_queries.stop, at_ms=event.at_ms, by=event.by)
    tx.forget(_IN_FORCE)


def apply_resumed(tx: Transaction, event: CellResumed) -> None:
    """Record that no stop is in force."""
    changed = tx.run(_queries.resume, at_ms=event.at_ms, by=event.by)
    assert changed == 1
    tx.forget(_IN_FORCE)
