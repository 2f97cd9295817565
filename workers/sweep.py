"""The sweep: what nobody asks for is done within a second.

Expired leases, approvals and recommendations end, abandoned evaluations close as `unknown`, parked
outcomes find their evaluation.
"""

from collections.abc import Iterator
from typing import Literal

from ulid_transform import ulid_now

from pmcl.contracts import ApprovalExpired, Event, ItemClosed, Outcome, OutcomeLinked
from pmcl.contracts.limits import RECOMMENDATION_TTL_MS
from pmcl.ledger import approvals, evaluations, items, leases, outcomes
from pmcl.outbox import UnitOfWork
from pmcl.store import Row
from pmcl.workers.learning import learn_from_outcome
from pmcl.workers.lease import lease_ended
from pmcl.workers.outcome import link

__all__ = ["sweep"]


def sweep(unit: UnitOfWork) -> Iterator[Event]:
    """Yield what time alone has brought about, at most 64 facts of each kind, and what they teach.

    Each must be recorded before the next is taken: of two outcomes of one evaluation the second
    is decided by the first.
    """
    for lease in leases.expired(unit.tx, unit.now_ms):
        yield lease_ended(unit, lease, "expired")
    for row in approvals.lapsed(unit.tx, unit.now_ms):
        yield _expired(unit, row, "time")
    for row in approvals.orphaned(unit.tx):
        yield _expired(unit, row, "lease_over")
    for row in evaluations.abandoned(unit.tx, unit.now_ms):
        yield _unknown(unit, row)
    for scope, host, outcome in outcomes.linkable(unit.tx):
        linked = link(unit, scope, host, outcome)
        yield linked
        yield from learn_from_outcome(unit, linked)
    for row in items.lapsed(unit.tx, unit.now_ms - RECOMMENDATION_TTL_MS):
        yield ItemClosed(
            scope=row["scope"],
            host=row["host"],
            at_ms=unit.now_ms,
            item_id=row["item_id"],
            reason="expired",
            by="time",
        )


def _unknown(unit: UnitOfWork, evaluation: Row) -> OutcomeLinked:
    outcome = Outcome(
        outcome_id=ulid_now(),
        evaluation_id=evaluation["evaluation_id"],
        proposal_hash=evaluation["proposal_hash"],
        status="unknown",
        finished_at=unit.now_ms,
    )
    return OutcomeLinked(
        scope=evaluation["scope"],
        host=evaluation["host"],
        at_ms=unit.now_ms,
        outcome=outcome,
        reported_by="sidecar",
        corrects=None,
        verified=False,
    )


def _expired(unit: UnitOfWork, row: Row, reason: Literal["lease_over", "time"]) -> ApprovalExpired:
    return ApprovalExpired(
        scope=row["scope"],
        host=row["host"],
        at_ms=unit.now_ms,
        approval_id=row["approval_id"],
        reason=reason,
    )
