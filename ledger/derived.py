"""What a State Check reads of derived state: which items stand, and how new they are; no content.

It is read once for a host and then known, until an item is admitted or closed.
"""

from typing import Final

from pmcl.judgement import DerivedItems, DerivedState
from pmcl.ledger.items import EVERY_VISIBILITY
from pmcl.store import Row, Transaction, load_queries

__all__ = ["standing"]

_queries = load_queries("pmcl.ledger", "derived")

_READ_MAX: Final = 8
_REMEMBERED: Final = ("memory", "belief", "lesson")


def standing(tx: Transaction, scope: str, host: str) -> DerivedState:
    """Return which derived items of the scope, and which working state of the host, stand."""
    return tx.recall(("derived.standing", scope, host), lambda: _read(tx, scope, host))


def _read(tx: Transaction, scope: str, host: str) -> DerivedState:
    remembered: list[Row] = []
    contradicting: list[Row] = []
    for visibility in EVERY_VISIBILITY:
        for kind in _REMEMBERED:
            params = {"scope": scope, "kind": kind, "visibility": visibility}
            remembered += tx.all(_queries.newest, **params, max_rows=_READ_MAX)
        contradicting += tx.all(
            _queries.contradicting, scope=scope, visibility=visibility, max_rows=_READ_MAX
        )
    return DerivedState(
        working_state=_items(tx.all(_queries.working_state, scope=scope, host=host), "item_id"),
        memories=_items(remembered, "item_id"),
        contradictions=_items(contradicting, "item_id", "other_id"),
    )


def _items(rows: list[Row], *names: str) -> DerivedItems:
    newest = sorted(rows, key=lambda row: (row["admitted_at"], row["item_id"]), reverse=True)
    ids = dict.fromkeys(row[name] for row in newest[:_READ_MAX] for name in names)
    return DerivedItems(ids=tuple(ids), newest_at=newest[0]["admitted_at"] if newest else None)
