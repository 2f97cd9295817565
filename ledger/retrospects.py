"""What a reflection reads of the ledger: the newest of each kind, of one host, and never all."""

from typing import Any, Final

import msgspec

from pmcl.contracts import Visibility
from pmcl.judgement import HeldCall, PastRun, Retrospect, SeenEvidence
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


def _keys(tx: Transaction, scope: str, evaluation_id: str) -> tuple[str, ...]:
    content = content_of(tx, scope, evaluation_id)
    return () if content is None else _judged.decode(content).inputs.resource_keys
