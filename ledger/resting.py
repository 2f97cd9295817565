"""Resting: what was derived is known by each piece of evidence that it names.

What evidence supports goes with it, so the way from evidence to all that names it must be short.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from pmcl.store import Transaction, load_queries

__all__ = ["on_evidence", "rest"]

_queries = load_queries("pmcl.ledger", "resting")
SCHEMA: Final = _queries.schema


def on_evidence(tx: Transaction, scope: str, evidence_id: str) -> list[str]:
    """Return the ids of all that names a piece of evidence: items, rejections, waiting changes."""
    rows = tx.all(_queries.on_evidence, scope=scope, evidence_id=evidence_id)
    return [row["id"] for row in rows]


def rest(tx: Transaction, scope: str, derived_id: str, evidence_ids: Iterable[str]) -> None:
    """Record what a derived thing names; part of applying the event that tells of it."""
    ids = msgspec.json.encode(tuple(evidence_ids)).decode()
    tx.run(_queries.rest, scope=scope, id=derived_id, evidence_ids=ids)
