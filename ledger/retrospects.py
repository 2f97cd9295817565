"""What a reflection reads of the ledger: the newest of each kind, of one host, and never all."""

from typing import Any, Final

import msgspec

from pmcl.contracts import Visibility
from pmcl.judgement import (
    Contradicting,
    HeldCall,
    OpenIntention,
    PastRun,
    Retrospect,
    SeenEvidence,
)
from pmcl.ledger import items
from pmcl.ledger.leases import LeaseRow
from pmcl.ledger.payloads import content_of
from pmcl.store import Row, Transaction, load_queries

__all__ = ["look_back", "with_texts"]

_queries = load_queries("pmcl.ledger", "retrospects")
SCHEMA: Final = _queries.schema

_EVIDENCE_MAX: Final = 32
_RUNS_MAX: Final = 64
_HELD_MAX: Final = 32
_TEXTS_MAX: Final = 16
_ITEMS_MAX: Final = 16
_STALE_MS: Final = 86_400_000
"""So long an intention is left alone."""

_strings = msgspec.json.Decoder(tuple[str, ...])


class _Inputs(msgspec.Struct):
    resource_keys: tuple[str, ...] = ()


class _Judged(msgspec.Struct):
    """What is read of an evaluation's payload."""

    inputs: _Inputs


class _Observed(msgspec.Struct):
    """What is read of an observation's payload."""

    summary: str = ""


_judged = msgspec.json.Decoder(_Judged)
_observed = msgspec.json.Decoder(_Observed)


def look_back(tx: Transaction, lease: LeaseRow, now_ms: int) -> Retrospect:
    """Return what there is to reflect on, without texts; its cycle is not known yet."""
    whose: dict[str, Any] = {"scope": lease.scope, "host": lease.host}
    tools = lease.authority.tools.items()
    return Retrospect(
        cycle_id="",
        claim=0,
        now_ms=now_ms,
        **whose,
        evidence=tuple(map(_seen, tx.all(_queries.evidence, **whose, max_rows=_EVIDENCE_MAX))),
        runs=tuple(
            [_run(tx, lease, row) for row in tx.all(_queries.runs, **whose, max_rows=_RUNS_MAX)]
        ),
        held=tuple(
            [_held(tx, lease, row) for row in tx.all(_queries.held, **whose, max_rows=_HELD_MAX)]
        ),
        intentions=_intentions(tx, lease.scope, now_ms),
        contradictions=_contradictions(tx, lease.scope),
        granted=tuple(sorted(tool for tool, grant in tools if tool != "*" and grant == "grant")),
    )


def with_texts(
    tx: Transaction, retrospect: Retrospect, visible: frozenset[Visibility]
) -> Retrospect:
    """Return the retrospect with the newest evidence that may be seen, and what it says."""
    shown = [seen for seen in retrospect.evidence if seen.visibility in visible][:_TEXTS_MAX]
    return msgspec.structs.replace(
        retrospect,
        evidence=tuple([_with_text(tx, retrospect.scope, seen) for seen in shown]),
    )


def _with_text(tx: Transaction, scope: str, seen: SeenEvidence) -> SeenEvidence:
    content = content_of(tx, scope, seen.evidence_id)
    text = "" if content is None else _observed.decode(content).summary
    return msgspec.structs.replace(seen, text=text)


def _seen(row: Row) -> SeenEvidence:
    return SeenEvidence(
        evidence_id=row["evidence_id"],
        trust=row["trust"],
        source=row["source"],
        visibility=row["visibility"],
        observed_at=row["observed_at"],
        resource_keys=_strings.decode(row["resource_keys"]),
    )


def _run(tx: Transaction, lease: LeaseRow, row: Row) -> PastRun:
    return PastRun(
        outcome_id=row["outcome_id"],
        server=row["server"],
        tool=row["tool"],
        effect=row["effect"],
        fingerprint=row["fingerprint"],
        status=row["status"],
        failure_mode=row["failure_mode"],
        forecast=row["forecast"],
        expected=bool(row["expected"]),
        verified=bool(row["verified"]),
        evidence_ids=_strings.decode(row["cited"]),
        resource_keys=_keys(tx, lease.scope, row["evaluation_id"]),
    )


def _held(tx: Transaction, lease: LeaseRow, row: Row) -> HeldCall:
    return HeldCall(
        evaluation_id=row["evaluation_id"],
        server=row["server"],
        tool=row["tool"],
        fingerprint=row["fingerprint"],
        reasons=_strings.decode(row["reasons"]),
        evidence_ids=_strings.decode(row["cited"]),
        resource_keys=_keys(tx, lease.scope, row["evaluation_id"]),
    )


def _intentions(tx: Transaction, scope: str, now_ms: int) -> tuple[OpenIntention, ...]:
    return tuple(
        OpenIntention(
            item_id=item.item_id,
            evidence_ids=item.evidence_ids,
            stale=now_ms - item.admitted_at >= _STALE_MS,
        )
        for item in items.open_intentions(tx, scope, _ITEMS_MAX)
    )


def _contradictions(tx: Transaction, scope: str) -> tuple[Contradicting, ...]:
    return tuple(
        Contradicting(
            item_id=one,
            other_id=other,
            evidence_ids=tuple(dict.fromkeys((*_rests_on(tx, one), *_rests_on(tx, other)))),
        )
        for one, other in items.contradicting(tx, scope, _ITEMS_MAX)
    )


def _rests_on(tx: Transaction, item_id: str) -> tuple[str, ...]:
    row = tx.one(_queries.rests_on, item_id=item_id)
    assert row is not None
    return _strings.decode(row["evidence_ids"])


def _keys(tx: Transaction, scope: str, evaluation_id: str) -> tuple[str, ...]:
    content = content_of(tx, scope, evaluation_id)
    return () if content is None else _judged.decode(content).inputs.resource_keys
