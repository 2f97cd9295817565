"""Learning: a verified run counts for its action's lesson, once, in the unit that verifies it.

What fails, and what loses its support, is unlearned in the unit that says so. Source: SPEC D4.
"""

from collections.abc import Collection, Iterator
from typing import Any

from pmcl.contracts import (
    Event,
    EvidenceRecorded,
    LessonDemoted,
    LessonMatured,
    LessonSupported,
    OutcomeLinked,
)
from pmcl.judgement import (
    LESSON_MATURE_FROM,
    LESSON_RUNS_MAX,
    Run,
    enough_runs,
    run_counts,
)
from pmcl.ledger import evaluations, lessons
from pmcl.outbox import UnitOfWork
from pmcl.store import Row

__all__ = ["learn_from_evidence", "learn_from_outcome", "unlearn"]


def learn_from_outcome(unit: UnitOfWork, linked: Event) -> Iterator[Event]:
    """Yield what an outcome teaches; of an event that links none, nothing."""
    if not isinstance(linked, OutcomeLinked):
        return
    outcome, scope, receipt = linked.outcome, linked.scope, linked.outcome.receipt
    evaluation = evaluations.find(unit.tx, scope, linked.host, outcome.evaluation_id)
    assert evaluation is not None
    whose = _whose(unit, scope, linked.host, evaluation["fingerprint"])
    if outcome.status == "failed":
        yield from _unlearn_all(unit, whose, outcome.outcome_id)
    elif outcome.status == "succeeded" and linked.verified and receipt is not None:
        shown = lessons.free_evidence(unit.tx, scope, receipt.digest, evaluation["decided_at"])
        yield from _count(unit, whose, _run(unit, evaluation, outcome.outcome_id, shown))


def learn_from_evidence(
    unit: UnitOfWork, recorded: EvidenceRecorded, digest: str, awaiting: Collection[str]
) -> Iterator[Event]:
    """Yield what evidence teaches that shows a receipt: it stands for one run, the latest it can.

    Args:
        unit: the evidence's.
        recorded: evidence that no model wrote.
        digest: of the receipt.
        awaiting: outcomes that it verifies.
    """
    scope = recorded.scope
    for row in lessons.unsupported_runs(unit.tx, scope, digest, recorded.observed_at):
        if not (row["verified"] or row["outcome_id"] in awaiting):
            continue
        whose = _whose(unit, scope, recorded.host, row["fingerprint"])
        run = _run(unit, row, row["outcome_id"], recorded.evidence_id)
        taught = list(_count(unit, whose, run))
        if taught:
            yield from taught
            return


def unlearn(unit: UnitOfWork, scope: str, host: str, payload_id: str) -> Iterator[Event]:
    """Yield what is unlearned because evidence or an evaluation was erased.

    Each must be recorded before the next is taken.
    """
    lost = lessons.run_of(unit.tx, scope, payload_id)
    if lost is None:
        return
    whose = _whose(unit, scope, host, lost.fingerprint)
    yield LessonDemoted(**whose, reason="lost_support", outcome_id=lost.outcome_id, by=payload_id)
    row = lessons.ended_run(unit.tx, lost.outcome_id)
    assert row is not None
    other = lessons.free_evidence(unit.tx, scope, row["receipt_digest"], row["decided_at"])
    counted = list(_count(unit, whose, _run(unit, row, lost.outcome_id, other)))
    yield from counted
    known = lessons.find(unit.tx, scope, lost.fingerprint)
    if not counted and known is not None and enough_runs(known.runs):
        yield LessonMatured(
            **whose, outcome_ids=lessons.newest_runs(unit.tx, scope, lost.fingerprint)
        )


def _whose(unit: UnitOfWork, scope: str, host: str, fingerprint: str) -> dict[str, Any]:
    return {"scope": scope, "host": host, "at_ms": unit.now_ms, "fingerprint": fingerprint}


def _unlearn_all(unit: UnitOfWork, whose: dict[str, Any], by: str) -> Iterator[Event]:
    known = lessons.find(unit.tx, whose["scope"], whose["fingerprint"])
    if known is not None and known.runs:
        yield LessonDemoted(**whose, reason="failed_run", outcome_id=None, by=by)


def _run(unit: UnitOfWork, evaluation: Row, outcome_id: str, evidence_id: str | None) -> Run:
    """Return a verified run that succeeded, with the evidence that may stand for it."""
    scope, evaluation_id = evaluation["scope"], evaluation["evaluation_id"]
    judged = evaluations.judged(unit.tx, scope, evaluation_id) if evidence_id else None
    failed = lessons.last_failure(unit.tx, scope, evaluation["fingerprint"])
    return Run(
        outcome_id=outcome_id,
        evaluation_id=evaluation_id,
        evidence_id=evidence_id,
        definition_hash=None if judged is None else judged.inputs.request.tool.definition_hash,
        failed_since=failed is not None and failed >= evaluation["decided_at"],
    )


def _count(unit: UnitOfWork, whose: dict[str, Any], run: Run) -> Iterator[Event]:
    if not run_counts(run):
        return
    known = lessons.find(unit.tx, whose["scope"], whose["fingerprint"])
    runs = 0 if known is None else known.runs
    mature = known is not None and known.state == "mature"
    if known is not None and runs and known.definition_hash != run.definition_hash:
        yield LessonDemoted(**whose, reason="redefined_tool", outcome_id=None, by=run.outcome_id)
        runs, mature = 0, False
    if runs >= LESSON_RUNS_MAX:
        return
    assert run.evidence_id is not None
    assert run.definition_hash is not None
    yield LessonSupported(
        **whose,
        definition_hash=run.definition_hash,
        outcome_id=run.outcome_id,
        evaluation_id=run.evaluation_id,
        evidence_id=run.evidence_id,
    )
    if enough_runs(runs + 1) and not mature:
        before = lessons.newest_runs(unit.tx, whose["scope"], whose["fingerprint"])
        newest = dict.fromkeys((run.outcome_id, *before))
        yield LessonMatured(**whose, outcome_ids=(*newest,)[:LESSON_MATURE_FROM])
