"""Lessons: which runs count for an action's lesson, and whether they are enough by now.

Source: SPEC D4.
"""

from operator import itemgetter
from typing import Final

import msgspec

from pmcl.contracts import LessonDemoted, LessonMatured, LessonSupported
from pmcl.judgement import LESSON_MATURE_FROM, Lesson, LessonSource
from pmcl.store import Row, Transaction, load_queries

__all__ = [
    "CountedRun",
    "LessonRow",
    "apply_demoted",
    "apply_matured",
    "apply_supported",
    "ended_run",
    "find",
    "free_evidence",
    "last_failure",
    "mature",
    "newest_runs",
    "run_of",
    "unsupported_runs",
]

_queries = load_queries("pmcl.ledger", "lessons")
SCHEMA: Final = _queries.schema


class LessonRow(msgspec.Struct, frozen=True):
    """How far the lesson of an action is."""

    fingerprint: str
    definition_hash: str
    runs: int
    state: str


class CountedRun(msgspec.Struct, frozen=True):
    """A run that counts, and the evidence that stands for it."""

    outcome_id: str
    evaluation_id: str
    evidence_id: str
    fingerprint: str


def find(tx: Transaction, scope: str, fingerprint: str) -> LessonRow | None:
    """Return how far the lesson of an action is; `None` where no run ever counted."""
    return tx.recall(_key(scope, fingerprint), lambda: _read(tx, scope, fingerprint))


def _key(scope: str, fingerprint: str) -> tuple[str, ...]:
    return "lessons.find", scope, fingerprint


def _read(tx: Transaction, scope: str, fingerprint: str) -> LessonRow | None:
    row = tx.one(_queries.find, scope=scope, fingerprint=fingerprint)
    return None if row is None else LessonRow(*row)


def mature(tx: Transaction, scope: str, fingerprint: str) -> Lesson | None:
    """Return the mature lesson of an action, with evidence that its newest runs had cited."""
    known = find(tx, scope, fingerprint)
    if known is None or known.state != "mature":
        return None
    cited = tx.one(_queries.cited, scope=scope, fingerprint=fingerprint)
    return Lesson(
        fingerprint=fingerprint,
        definition_hash=known.definition_hash,
        runs=known.runs,
        outcome_ids=newest_runs(tx, scope, fingerprint),
        cited=None if cited is None else LessonSource(evidence_id=cited[0], source=cited[1]),
    )


def newest_runs(tx: Transaction, scope: str, fingerprint: str) -> tuple[str, ...]:
    """Return the newest outcomes that count, as many as it takes to mature."""
    rows = tx.all(
        _queries.newest_runs, scope=scope, fingerprint=fingerprint, max_rows=LESSON_MATURE_FROM
    )
    return tuple(row["outcome_id"] for row in rows)


def run_of(tx: Transaction, scope: str, payload_id: str) -> CountedRun | None:
    """Return the counted run that rests on this evidence or is of this evaluation."""
    name = {"scope": scope, "id": payload_id}
    row = tx.one(_queries.run_of_evidence, **name) or tx.one(_queries.run_of_evaluation, **name)
    return None if row is None else CountedRun(*row)


def free_evidence(tx: Transaction, scope: str, digest: str, since: int) -> str | None:
    """Return evidence that shows a receipt, was seen since then, and stands for no run yet.

    It is the oldest such, since later evidence may still stand for later runs.
    """
    rows = tx.all(_queries.free_evidence, scope=scope, digest=digest, since=since)
    return min(rows, key=itemgetter("sequence"))["evidence_id"] if rows else None


def unsupported_runs(tx: Transaction, scope: str, digest: str, seen_at: int) -> list[Row]:
    """Return runs that succeeded with this receipt, began before then, and rest on nothing yet.

    The latest come first: evidence that comes later can still stand for the others.
    """
    rows = tx.all(_queries.unsupported_runs, scope=scope, digest=digest, seen_at=seen_at)
    return sorted(rows, key=itemgetter("decided_at", "evaluation_id"), reverse=True)


def ended_run(tx: Transaction, outcome_id: str) -> Row | None:
    """Return an outcome's receipt and evaluation."""
    return tx.one(_queries.ended_run, outcome_id=outcome_id)


def last_failure(tx: Transaction, scope: str, fingerprint: str) -> int | None:
    """Return when the verdict was decided under which the action failed last."""
    row = tx.one(_queries.last_failure, scope=scope, fingerprint=fingerprint)
    return None if row is None else row["decided_at"]


def apply_supported(tx: Transaction, event: LessonSupported) -> None:
    """Record a run that counts."""
    run = {
        "scope": event.scope,
        "fingerprint": event.fingerprint,
        "outcome_id": event.outcome_id,
        "evaluation_id": event.evaluation_id,
        "at_ms": event.at_ms,
    }
    tx.run(_queries.support, **run, evidence_id=event.evidence_id)
    tx.run(_queries.gather, **run, definition_hash=event.definition_hash)
    tx.forget(_key(event.scope, event.fingerprint))


def apply_matured(tx: Transaction, event: LessonMatured) -> None:
    """Record that the lesson is mature."""
    tx.run(
        _queries.mature,
        scope=event.scope,
        fingerprint=event.fingerprint,
        by=event.outcome_ids[0],
        at_ms=event.at_ms,
    )
    tx.forget(_key(event.scope, event.fingerprint))


def apply_demoted(tx: Transaction, event: LessonDemoted) -> None:
    """Record that the lesson is not mature, and forget the run or all runs."""
    lesson = {"scope": event.scope, "fingerprint": event.fingerprint}
    if event.outcome_id is None:
        lost = tx.run(_queries.forget_runs, **lesson)
    else:
        lost = tx.run(_queries.forget_run, outcome_id=event.outcome_id)
    tx.run(
        _queries.demote, **lesson, lost=lost, reason=event.reason, by=event.by, at_ms=event.at_ms
    )
    tx.forget(_key(event.scope, event.fingerprint))
