"""What a State Check reads of derived state: which items stand, and how new they are.

What is of the scope, what of it a goal asks for, and the working state of each host are read once
and then known, until an item of the scope, or of the host, is admitted or closed.
"""

from itertools import count
from typing import Final

import msgspec

from pmcl.contracts import EVERY_VISIBILITY, ItemAdmitted, ItemClosed
from pmcl.judgement import DerivedItems, DerivedState
from pmcl.ledger import items, recalling
from pmcl.store import Row, Transaction, load_queries

__all__ = ["forget", "standing"]

_queries = load_queries("pmcl.ledger", "derived")

_READ_MAX: Final = 8
_readings: Final = count()


class _OfScope(msgspec.Struct, frozen=True):
    """What stands in a scope, whatever is asked.

    Attributes:
        reading: a number that no other reading has; what a goal found belongs to one.
    """

    reading: str
    remembers: bool
    contradictions: DerivedItems


def standing(tx: Transaction, scope: str, host: str, goal: str, now_ms: int) -> DerivedState:
    """Return which derived items of the scope, and which working state of the host, stand.

    Of the memories, beliefs and lessons these are the ones that the goal asks for first.
    """
    known = tx.recall(_of_scope(scope), lambda: _read_scope(tx, scope))
    memories = DerivedItems()
    if known.remembers:
        asked = "derived.relevant", known.reading, goal
        memories = tx.recall(asked, lambda: _read_relevant(tx, scope, goal, now_ms))
    return DerivedState(
        working_state=tx.recall(_of_host(scope, host), lambda: _read_host(tx, scope, host)),
        memories=memories,
        contradictions=known.contradictions,
    )


def forget(tx: Transaction, event: ItemAdmitted | ItemClosed) -> None:
    """Let what the item is part of be read anew; a working state ends by its own host's word."""
    tx.forget(_of_scope(event.scope))
    tx.forget(_of_host(event.scope, event.host))


def _of_scope(scope: str) -> tuple[str, ...]:
    return "derived.of_scope", scope


def _of_host(scope: str, host: str) -> tuple[str, ...]:
    return "derived.of_host", scope, host


def _read_scope(tx: Transaction, scope: str) -> _OfScope:
    found = items.contradictions(tx, scope, _READ_MAX, EVERY_VISIBILITY)
    newest = sorted(found, key=lambda row: (row["admitted_at"], row["item_id"]), reverse=True)
    return _OfScope(
        reading=str(next(_readings)),
        remembers=tx.one(_queries.remembers, scope=scope) is not None,
        contradictions=_items(newest, "item_id", "other_id"),
    )


def _read_relevant(tx: Transaction, scope: str, goal: str, now_ms: int) -> DerivedItems:
    first = recalling.relevant(tx, scope, goal, now_ms)[:_READ_MAX]
    newest_at = max([item.admitted_at for item in first], default=None)
    return DerivedItems(ids=tuple([item.item_id for item in first]), newest_at=newest_at)


def _read_host(tx: Transaction, scope: str, host: str) -> DerivedItems:
    return _items(tx.all(_queries.working_state, scope=scope, host=host), "item_id")


def _items(rows: list[Row], *names: str) -> DerivedItems:
    """Return the first of the rows, newest first, each item once."""
    ids = dict.fromkeys(row[name] for row in rows[:_READ_MAX] for name in names)
    return DerivedItems(ids=tuple(ids), newest_at=rows[0]["admitted_at"] if rows else None)
