"""Erasures: whose content must go, how far that is, and what is gone.

`apply` deletes a payload together with the mark on its envelope, so folding erases as well.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from pmcl.contracts import ErasureBegan, ErasureEnded, PayloadErased
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = [
    "KINDS",
    "ErasureRow",
    "Whole",
    "apply_began",
    "apply_ended",
    "apply_erased",
    "counts",
    "find",
    "first_open",
    "gone",
    "is_known",
    "kept",
    "keys_of",
    "listed",
    "next_names",
    "remove",
    "standing",
    "whole",
]

_queries = load_queries("pmcl.ledger", "erasures")
SCHEMA: Final = _queries.schema

KINDS: Final[tuple[tuple[str, int | str], ...]] = (
    ("evidence", 0),
    ("evaluations", ""),
    ("items", 0),
    ("rejections", 0),
    ("changes", 0),
)
"""What has content, each kind with the place before its first."""

LISTED_MAX: Final = 256
_BATCH_ROWS: Final = 64

_MARKS: Final = (
    _queries.erase_evidence,
    _queries.erase_evaluation,
    _queries.erase_item,
    _queries.erase_rejection,
    _queries.erase_change,
)

Name = tuple[str, str]
"""Scope and id of a payload."""

_ids = msgspec.json.Decoder(tuple[str, ...])


class ErasureRow(msgspec.Struct, frozen=True, kw_only=True):
    """An erasure as the ledger holds it.

    Attributes:
        through: the last place of the evidence that it is about.
        payloads, messages: how many were erased so far; messages are counted at the end.
    """

    erasure_id: str
    scope: str
    host: str | None
    evidence_ids: tuple[str, ...]
    through: int
    payloads: int
    messages: int
    began_at: int
    ended_at: int | None
    began_by: str


def _row(row: Row) -> ErasureRow:
    columns = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a Row is no mapping
    return ErasureRow(**columns | {"evidence_ids": _ids.decode(row["evidence_ids"])})


def first_open(tx: Transaction) -> ErasureRow | None:
    """Return the oldest erasure that has not ended."""
    row = tx.one(_queries.first_open)
    return None if row is None else _row(row)


def is_known(tx: Transaction, scope: str, host: str | None) -> bool:
    """Return whether a host of the scope, or this one, ever began or sent a message."""
    return tx.one(_queries.is_known, scope=scope, host=host) is not None


def counts(tx: Transaction, scope: str, host: str | None) -> tuple[int, int]:
    """Return how many observations and evaluations have not been erased."""
    row = tx.one(_queries.counts, scope=scope, host=host)
    assert row is not None
    return row["observations"], row["evaluations"]


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """An envelope that is not erased.

    Attributes:
        is_live: that it is an item which counts.
    """

    host: str
    is_evidence: bool = False
    is_live: bool = False


def whole(tx: Transaction, scope: str, payload_id: str) -> Whole | None:
    """Return the envelope of a payload, unless it is erased."""
    row = tx.one(_queries.whole_evidence, scope=scope, id=payload_id)
    if row is not None:
        return Whole(host=row["host"], is_evidence=True)
    row = tx.one(_queries.whole_evaluation, scope=scope, id=payload_id)
    if row is not None:
        return Whole(host=row["host"])
    row = tx.one(_queries.whole_derived, scope=scope, id=payload_id)
    return None if row is None else Whole(host=row["host"], is_live=row["state"] == "live")


async def find(reader: Reader, erasure_id: str) -> ErasureRow | None:
    """Return an erasure."""
    row = await reader.one(_queries.find, erasure_id=erasure_id)
    return None if row is None else _row(row)


async def listed(reader: Reader) -> list[ErasureRow]:
    """Return the newest erasures, newest first, `LISTED_MAX` at most."""
    return [_row(row) for row in await reader.all(_queries.newest, max_rows=LISTED_MAX)]


async def next_names(
    reader: Reader, erasure: ErasureRow, kind: str, after: int | str
) -> tuple[list[str], int | str] | None:
    """Return ids that come next and are to be erased, and where to go on; None at the end.

    Args:
        reader: of the ledger.
        erasure: what is to go.
        kind: `evidence`, `evaluations`, `items`, `rejections` or `changes`; of single
            observations, `evaluations` means all that names them.
        after: where the last call ended; 0 or "" at first.
    """
    if erasure.evidence_ids and kind == "evidence":
        return None if after else (list(erasure.evidence_ids), 1)
    named = bool(erasure.evidence_ids)
    text = _queries.naming if named else _queries.texts[f"{kind}_of"]
    rows = await reader.all(
        text,
        scope=erasure.scope,
        host=erasure.host,
        evidence_ids=msgspec.json.encode(erasure.evidence_ids).decode(),
        through=erasure.through,
        began_at=erasure.began_at,
        after=after,
        max_rows=_BATCH_ROWS,
    )
    if not rows:
        return None
    return [row["id"] for row in rows if not named or row["names"]], rows[-1]["place"]


async def keys_of(reader: Reader, erasure: ErasureRow) -> set[tuple[str, str]]:
    """Return host and key of the single observations: repeats of them are content as well."""
    ids = msgspec.json.encode(erasure.evidence_ids).decode()
    rows = await reader.all(_queries.keys_of, scope=erasure.scope, evidence_ids=ids)
    return {(row["host"], row["key"]) for row in rows}


async def standing(reader: Reader, scope: str, evidence_ids: Iterable[str]) -> set[str]:
    """Return which of these are evidence of the scope that was not erased."""
    ids = msgspec.json.encode(tuple(evidence_ids)).decode()
    rows = await reader.all(_queries.standing, scope=scope, evidence_ids=ids)
    return {row["evidence_id"] for row in rows}


async def gone(reader: Reader, names: Sequence[Name]) -> list[Name]:
    """Return which of these payloads were erased."""
    rows = await reader.all(_queries.gone, asked=msgspec.json.encode(names).decode())
    return [(row["scope"], row["id"]) for row in rows]


async def kept(reader: Reader, after: int, max_rows: int) -> list[Row]:
    """Return place, scope and id of the payloads that a ledger has behind a place."""
    return await reader.all(_queries.kept, after=after, max_rows=max_rows)


def remove(tx: Transaction, names: Iterable[Name]) -> int:
    """Return how many payloads were deleted from a ledger that was set aside."""
    return sum(tx.run(_queries.erase_payload, scope=scope, id=each) for scope, each in names)


def apply_began(tx: Transaction, event: ErasureBegan) -> None:
    """Record an erasure, about what is recorded so far."""
    tx.run(
        _queries.begin,
        erasure_id=event.erasure_id,
        scope=event.of_scope,
        host=event.of_host,
        evidence_ids=msgspec.json.encode(event.evidence_ids).decode(),
        at_ms=event.at_ms,
        by=event.by,
    )


def apply_erased(tx: Transaction, event: PayloadErased) -> None:
    """Delete a payload and mark its envelope."""
    name = {"scope": event.scope, "id": event.payload_id}
    marked = sum(tx.run(query, **name) for query in _MARKS)
    assert marked == 1
    tx.run(_queries.erase_payload, **name)
    tx.run(_queries.count, erasure_id=event.erasure_id)


def apply_ended(tx: Transaction, event: ErasureEnded) -> None:
    """Record that nothing is left."""
    tx.run(_queries.finish, erasure_id=event.erasure_id, at_ms=event.at_ms, messages=event.messages)
