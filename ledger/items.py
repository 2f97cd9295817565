"""Items: derived state that was admitted, from then until it is closed; none is ever rewritten.

What an item says is its payload. It is found in its own scope alone; where only what is shareable
may be seen, nothing else is looked at.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    EVERY_VISIBILITY,
    ItemAdmitted,
    ItemClosed,
    ItemKind,
    Proposed,
    Visibility,
)
from pmcl.judgement import KnownItem
from pmcl.ledger import resting
from pmcl.ledger.proposals import read_proposal
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = [
    "Item",
    "apply_admitted",
    "apply_closed",
    "contradicting",
    "contradictions",
    "find",
    "known",
    "lapsed",
    "listed",
    "newest",
    "open_intentions",
    "retracted",
    "said",
    "shown",
    "working_ids",
    "working_state",
]

_queries = load_queries("pmcl.ledger", "items")
SCHEMA: Final = _queries.schema


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """An item as it stands.

    Attributes:
        said: what was proposed; None when its payload is gone or was not brought back.
        payload: its number among the payloads; 0 without one.
        closed_by: the item, the erasure or the operator that closed it.
    """

    scope: str
    item_id: str
    host: str
    cycle_id: str
    kind: ItemKind
    visibility: Visibility
    confidence: float
    evidence_ids: tuple[str, ...]
    counterevidence_ids: tuple[str, ...]
    replaces: str | None
    contradicts: tuple[str, ...]
    resolves: str | None
    about_key: str | None
    fingerprint: str | None
    simulated: bool
    admitted_at: int
    state: str
    closed_by: str | None
    closed_at: int | None
    erased: bool
    said: Proposed | None
    payload: int

    @property
    def text(self) -> str:
        """Its statement; empty when that is gone."""
        return "" if self.said is None else self.said.text


def known(tx: Transaction, scope: str, item_ids: Iterable[str]) -> dict[str, KnownItem]:
    """Return which of these are live items of the scope, by id."""
    found = {}
    for item_id in item_ids:
        row = tx.one(_queries.find, scope=scope, item_id=item_id)
        if row is not None and row["state"] == "live":
            is_open = row["resolves"] is None
            found[item_id] = KnownItem(item_id=item_id, kind=row["kind"], open=is_open)
    return found


def said(tx: Transaction, scope: str, statement_key: str) -> str | None:
    """Return the live item that says just this."""
    row = tx.one(_queries.said, scope=scope, statement_key=statement_key)
    return None if row is None else row["item_id"]


def retracted(tx: Transaction, scope: str, statement_key: str) -> bool:
    """Return whether an operator took back an item that said just this."""
    return tx.one(_queries.retracted, scope=scope, statement_key=statement_key) is not None


def find(tx: Transaction, item_id: str) -> Item | None:
    """Return an item, live or not."""
    row = tx.one(_queries.shown, item_id=item_id)
    return None if row is None else read_proposal(Item, row)


def newest(
    tx: Transaction,
    scope: str,
    kind: ItemKind,
    max_rows: int,
    visible: Sequence[Visibility] = EVERY_VISIBILITY,
) -> list[Item]:
    """Return the newest live items of a kind, newest first."""
    return _merged(tx, _queries.newest, visible, max_rows, scope=scope, kind=kind)


def open_intentions(
    tx: Transaction,
    scope: str,
    max_rows: int,
    visible: Sequence[Visibility] = EVERY_VISIBILITY,
) -> list[Item]:
    """Return the newest intentions that are still to be done, newest first."""
    return _merged(tx, _queries.open_intentions, visible, max_rows, scope=scope)


def working_state(
    tx: Transaction,
    scope: str,
    host: str,
    visible: Sequence[Visibility] = EVERY_VISIBILITY,
) -> Item | None:
    """Return where the work of a host stands."""
    found = _merged(tx, _queries.working_state, visible, 1, scope=scope, host=host)
    return found[0] if found else None


def working_ids(tx: Transaction, scope: str, host: str) -> list[str]:
    """Return the live working states of a host: one at most, once those before are closed."""
    return [row["item_id"] for row in tx.all(_queries.working_ids, scope=scope, host=host)]


def contradicting(
    tx: Transaction,
    scope: str,
    max_rows: int,
    visible: Sequence[Visibility] = EVERY_VISIBILITY,
) -> list[tuple[str, str]]:
    """Return pairs of live beliefs that cannot both hold, the newest first."""
    found = contradictions(tx, scope, max_rows, visible)
    found.sort(key=lambda row: row["admitted_at"], reverse=True)
    return [(row["item_id"], row["other_id"]) for row in found[:max_rows]]


def contradictions(
    tx: Transaction, scope: str, max_rows: int, visible: Sequence[Visibility]
) -> list[Row]:
    """Return the newest contradictions of beliefs of each visibility, `max_rows` of each."""
    return [
        row
        for visibility in visible
        for row in tx.all(
            _queries.contradicting, scope=scope, visibility=visibility, max_rows=max_rows
        )
        if row["other_visibility"] in visible
    ]


def _merged(
    tx: Transaction, text: str, visible: Sequence[Visibility], max_rows: int, **params: Any
) -> list[Item]:
    items: list[Item] = []
    for visibility in visible:
        rows = tx.all(text, visibility=visibility, max_rows=max_rows, **params)
        items += [read_proposal(Item, row) for row in rows]
    items.sort(key=lambda item: item.payload, reverse=True)
    return items[:max_rows]


def lapsed(tx: Transaction, before_ms: int) -> list[Row]:
    """Return at most 64 recommendations that are as old as that and still live."""
    return tx.all(_queries.lapsed, before_ms=before_ms)


async def listed(
    reader: Reader,
    *,
    scope: str | None,
    kind: str | None,
    closed: bool,
    before: int,
    max_rows: int,
) -> list[tuple[int, Item]]:
    """Return items with their place, newest first; `closed` ones too where that is asked for."""
    rows = await reader.all(
        _queries.listed, scope=scope, kind=kind, closed=closed, before=before, max_rows=max_rows
    )
    return [(row["place"], read_proposal(Item, row)) for row in rows]


async def shown(reader: Reader, item_id: str) -> Item | None:
    """Return an item."""
    row = await reader.one(_queries.shown, item_id=item_id)
    return None if row is None else read_proposal(Item, row)


def apply_admitted(tx: Transaction, event: ItemAdmitted) -> None:
    """Record an item, and what it rests on."""
    tx.run(
        _queries.admit,
        scope=event.scope,
        item_id=event.item_id,
        host=event.host,
        cycle_id=event.cycle_id,
        kind=event.kind,
        visibility=event.visibility,
        confidence=event.confidence,
        evidence_ids=_encoded(event.evidence_ids),
        counterevidence_ids=_encoded(event.counterevidence_ids),
        replaces=event.replaces,
        contradicts=_encoded(event.contradicts),
        resolves=event.resolves,
        about_key=event.about_key,
        fingerprint=event.fingerprint,
        simulated=event.simulated,
        statement_key=event.statement_key,
        commitment=event.commitment,
        size_bytes=event.size_bytes,
        at_ms=event.at_ms,
    )
    if event.contradicts:
        tx.run(
            _queries.contradict,
            scope=event.scope,
            item_id=event.item_id,
            contradicts=_encoded(event.contradicts),
        )
    named = (*event.evidence_ids, *event.counterevidence_ids)
    resting.rest(tx, event.scope, event.item_id, named)


def apply_closed(tx: Transaction, event: ItemClosed) -> None:
    """Record how an item came to its end."""
    changed = tx.run(
        _queries.close,
        scope=event.scope,
        item_id=event.item_id,
        reason=event.reason,
        by=event.by,
        at_ms=event.at_ms,
    )
    assert changed == 1


def _encoded(ids: tuple[str, ...]) -> str:
    return msgspec.json.encode(ids).decode()
