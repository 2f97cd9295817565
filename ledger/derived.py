"""What a State Check reads of derived state: which items stand, and how new they are; no content.

What is of the scope, and the working state of each host, are read once and then known, until an
item of the scope, or of the host, is admitted or closed.
"""

from typing import Final

from pmcl.contracts import EVERY_VISIBILITY, ItemAdmitted, ItemClosed
from pmcl.judgement import DerivedItems, DerivedState
from pmcl.ledger import items
from pmcl.store import Row, Transaction, load_queries

__all__ = ["forget", "standing"]

_queries = load_queries("pmcl.ledger", "derived")

_READ_MAX: Final = 8
_REMEMBERED: Final = ("memory", "belief", "lesson")


def standing(tx: Transaction, scope: str, host: str) -> DerivedState:
    """Return which derived items of the scope, and which working state of the host, stand."""
    memories, contradictions = tx.recall(_of_scope(scope), lambda: _read_scope(tx, scope))
    return DerivedState(
        working_state=tx.recall(_of_host(scope, host), lambda: _read_host(tx, scope, host)),
        memories=memories,
        contradictions=contradictions,
    )


def forget(tx: Transaction, event: ItemAdmitted | ItemClosed) -> None:
    """Let what the item is part of be read anew; a working state ends by its own host's word."""
    tx.forget(_of_scope(event.scope))
    tx.forget(_of_host(event.scope, event.host))


def _of_scope(scope: str) -> tuple[str, ...]:
    return "derived.of_scope", scope


def _of_host(scope: str, host: str) -> tuple[str, ...]:
    return "derived.of_host", scope, host


def _read_scope(tx: Transaction, scope: str) -> tuple[DerivedItems, DerivedItems]:
    """Return the memories and the contradictions."""
    remembered: list[Row] = []
    for visibility in EVERY_VISIBILITY:
        for kind in _REMEMBERED:
            params = {"scope": scope, "kind": kind, "visibility": visibility}
            remembered += tx.all(_queries.newest, **params, max_rows=_READ_MAX)
    contradictions = items.contradictions(tx, scope, _READ_MAX, EVERY_VISIBILITY)
    return _items(remembered, "item_id"), _items(contradictions, "item_id", "other_id")


def _read_host(tx: Transaction, scope: str, host: str) -> DerivedItems:
    return _items(tx.all(_queries.working_state, scope=scope, host=host), "item_id")


def _items(rows: list[Row], *names: str) -> DerivedItems:
    newest = sorted(rows, key=lambda row: (row["admitted_at"], row["item_id"]), reverse=True)
    ids = dict.fromkeys(row[name] for row in newest[:_READ_MAX] for name in names)
    return DerivedItems(ids=tuple(ids), newest_at=newest[0]["admitted_at"] if newest else None)
