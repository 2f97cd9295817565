"""Outcomes: exactly one current outcome for each evaluation; corrections are linked."""

from collections import defaultdict
from typing import Final

import msgspec

from pmcl.contracts import (
    AuditRecorded,
    Outcome,
    OutcomeLinked,
    OutcomeListed,
    OutcomeParked,
    OutcomeUnverified,
    OutcomeVerified,
    Tool,
)
from pmcl.judgement import History, PastFailure, Tally
from pmcl.ledger.evaluations import apply_closed
from pmcl.store import Row, Transaction, load_queries

__all__ = [
    "apply_audited",
    "apply_linked",
    "apply_listed",
    "apply_parked",
    "apply_unverified",
    "apply_verified",
    "awaiting_receipt",
    "current",
    "evaluations_of",
    "history",
    "is_audited",
    "is_parked",
    "linkable",
    "verified_by",
]

_queries = load_queries("pmcl.ledger", "outcomes")
SCHEMA: Final = _queries.schema

_UNSPECIFIED: Final = "unspecified"
"""The mode of a failure that its host did not name."""


def current(tx: Transaction, evaluation_id: str) -> Row | None:
    """Return the outcome that stands for an evaluation."""
    return tx.one(_queries.current, evaluation_id=evaluation_id)


def evaluations_of(tx: Transaction, outcome_id: str) -> frozenset[str]:
    """Return the evaluations for which an outcome of this id was linked, corrected or listed.

    There is more than one when a host gives an id twice.
    """
    rows = tx.all(_queries.evaluations_of, outcome_id=outcome_id)
    return frozenset(row["evaluation_id"] for row in rows)


def is_parked(tx: Transaction, outcome: Outcome) -> bool:
    """Return whether this outcome already waits for its evaluation."""
    row = tx.one(
        _queries.parked, evaluation_id=outcome.evaluation_id, outcome_id=outcome.outcome_id
    )
    return row is not None


def is_audited(tx: Transaction, audit_id: str) -> bool:
    """Return whether this audit receipt is recorded."""
    return tx.one(_queries.audited, audit_id=audit_id) is not None


def history(tx: Transaction, scope: str, fingerprint: str, tool: Tool) -> History:
    """Return what came of an action, of its tool and of every effect; newest failures first."""
    keys = {"scope": scope, "fingerprint": fingerprint}
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in tx.all(_queries.counts, server=tool.server, tool=tool.name, **keys):
        name = row["key"] if row["level"] == "effect" else ""
        counts[row["level"], name][row["mode"]] = row["seen"]
    tallies = {key: _tally(modes) for key, modes in counts.items()}
    action = tallies.pop(("action", ""), Tally())
    return History(
        action=action,
        tool=tallies.pop(("tool", ""), Tally()),
        effects={effect: tally for (_, effect), tally in sorted(tallies.items())},
        recent=_recent_failures(tx, **keys) if action.failures else (),
    )


def _tally(modes: dict[str, int]) -> Tally:
    failed = tuple(sorted((mode, seen) for mode, seen in modes.items() if mode))
    return Tally(runs=sum(modes.values()), failed=failed)


def _recent_failures(tx: Transaction, **keys: str) -> tuple[PastFailure, ...]:
    return tuple(
        PastFailure(
            outcome_id=row["outcome_id"],
            mode=row["failure_mode"] or _UNSPECIFIED,
            at_ms=row["finished_at"],
        )
        for row in tx.all(_queries.recent_failures, **keys)
    )


def awaiting_receipt(tx: Transaction, scope: str, digest: str) -> list[str]:
    """Return outcomes whose receipt is the expected one but was shown by no evidence yet."""
    rows = tx.all(_queries.unverified, scope=scope, digest=digest)
    return [row["outcome_id"] for row in rows]


def verified_by(tx: Transaction, scope: str, digest: str) -> list[str]:
    """Return outcomes whose receipt has this digest and was shown by evidence."""
    return [row["outcome_id"] for row in tx.all(_queries.verified, scope=scope, digest=digest)]


def linkable(tx: Transaction) -> list[tuple[str, str, Outcome]]:
    """Return at most 64 parked outcomes whose evaluation is known by now, with scope and host."""
    return [
        (row["scope"], row["host"], msgspec.json.decode(row["outcome"], type=Outcome))
        for row in tx.all(_queries.linkable)
    ]


def apply_linked(tx: Transaction, event: OutcomeLinked) -> None:
    """Record the outcome of an evaluation and close it."""
    outcome = event.outcome
    if event.corrects is not None:
        tx.run(_queries.correct, outcome_id=outcome.outcome_id, corrects=event.corrects)
    receipt = outcome.receipt
    tx.run(
        _queries.link,
        outcome_id=outcome.outcome_id,
        evaluation_id=outcome.evaluation_id,
        status=outcome.status,
        failure_mode=outcome.failure_mode,
        receipt_kind=None if receipt is None else receipt.kind,
        receipt_digest=None if receipt is None else receipt.digest,
        verified=int(event.verified),
        duration_ms=outcome.duration_ms,
        redacted=int(outcome.redacted),
        reported_by=event.reported_by,
        finished_at=outcome.finished_at,
        at_ms=event.at_ms,
    )
    tx.run(_queries.unpark, evaluation_id=outcome.evaluation_id, outcome_id=outcome.outcome_id)
    apply_closed(tx, outcome.evaluation_id)
    _count(tx, outcome)


def _count(tx: Transaction, outcome: Outcome) -> None:
    """Count what is known of the action's end; what a correction replaces was never counted."""
    if outcome.status not in ("succeeded", "failed"):
        return
    mode = "" if outcome.status == "succeeded" else outcome.failure_mode or _UNSPECIFIED
    row = tx.one(_queries.counted_as, evaluation_id=outcome.evaluation_id)
    assert row is not None
    levels = {"action": row["fingerprint"], "tool": row["tool"], "effect": row["effect"]}
    for level, key in levels.items():
        tx.run(_queries.count, scope=row["scope"], level=level, key=key, mode=mode)


def apply_verified(tx: Transaction, event: OutcomeVerified) -> None:
    """Record that evidence shows the outcome's receipt."""
    tx.run(_queries.verify, outcome_id=event.outcome_id)


def apply_unverified(tx: Transaction, event: OutcomeUnverified) -> None:
    """Record that no evidence shows the outcome's receipt any more."""
    tx.run(_queries.unverify, outcome_id=event.outcome_id)


def apply_parked(tx: Transaction, event: OutcomeParked) -> None:
    """Record an outcome whose evaluation is not known."""
    tx.run(
        _queries.park,
        evaluation_id=event.outcome.evaluation_id,
        outcome_id=event.outcome.outcome_id,
        scope=event.scope,
        host=event.host,
        outcome=msgspec.json.encode(event.outcome).decode(),
        at_ms=event.at_ms,
    )


def apply_listed(tx: Transaction, event: OutcomeListed) -> None:
    """Record for the operator an outcome that links to nothing; it may have been parked."""
    tx.run(
        _queries.list,
        outcome_id=event.outcome.outcome_id,
        evaluation_id=event.outcome.evaluation_id,
        reason=event.reason,
        scope=event.scope,
        host=event.host,
        outcome=msgspec.json.encode(event.outcome).decode(),
        at_ms=event.at_ms,
    )
    tx.run(
        _queries.unpark,
        evaluation_id=event.outcome.evaluation_id,
        outcome_id=event.outcome.outcome_id,
    )


def apply_audited(tx: Transaction, event: AuditRecorded) -> None:
    """Record a local inspection that went on unjudged."""
    tx.run(
        _queries.audit,
        audit_id=event.receipt.audit_id,
        scope=event.scope,
        host=event.host,
        receipt=msgspec.json.encode(event.receipt).decode(),
        at_ms=event.at_ms,
    )
