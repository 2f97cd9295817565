"""The outcome worker: every dispatched verdict gets exactly one outcome, linked to it.

An outcome that names no evaluation of its host is parked, a second one is listed; none is dropped.
Source: SPEC D1, D2.
"""

from typing import Any, Literal

from pmcl.contracts import (
    AuditReceipt,
    AuditRecorded,
    Contract,
    Event,
    Kind,
    NumberClosed,
    Outcome,
    OutcomeLinked,
    OutcomeListed,
    OutcomeParked,
)
from pmcl.judgement import check_audit_names, redact_outcome
from pmcl.ledger import evaluations, evidence, outcomes
from pmcl.outbox import UnitOfWork
from pmcl.store import Row
from pmcl.workers.learning import learn_from_outcome
from pmcl.workers.worker import Decision, Incoming

__all__ = ["OutcomeWorker", "link"]


Obstacle = Literal["not_a_call", "not_passed", "other_proposal", "repeated"]


class OutcomeWorker:
    """Links outcomes and records audit receipts."""

    name: str = "outcome"
    kind: Kind = "outcome"
    accepts: tuple[type[Contract], ...] = (Outcome, AuditReceipt)

    async def prepare(self, incoming: Incoming) -> Outcome | AuditReceipt:
        """Return the outcome without a name that holds a secret."""
        if isinstance(incoming.body, AuditReceipt):
            check_audit_names(incoming.body)
        return redact_outcome(incoming.body)

    def decide(
        self, unit: UnitOfWork, incoming: Incoming, prepared: Outcome | AuditReceipt
    ) -> Decision:
        """Return how the outcome or the audit receipt was recorded."""
        scope, host, body = incoming.subject.scope, incoming.subject.host, prepared
        if isinstance(body, Outcome):
            linked = link(unit, scope, host, body)
            return Decision(events=(linked, *learn_from_outcome(unit, linked)))
        whose: dict[str, Any] = {"scope": scope, "host": host, "at_ms": unit.now_ms}
        if outcomes.is_audited(unit.tx, body.audit_id):
            return Decision(events=(NumberClosed(**whose, reason="repeat"),))
        return Decision(events=(AuditRecorded(**whose, receipt=body),))


def link(unit: UnitOfWork, scope: str, host: str, outcome: Outcome) -> Event:
    """Return the event that records an outcome of this host."""
    whose: dict[str, Any] = {"scope": scope, "host": host, "at_ms": unit.now_ms}
    known = outcomes.evaluations_of(unit.tx, outcome.outcome_id)
    if outcome.evaluation_id in known:
        return NumberClosed(**whose, reason="repeat")
    evaluation = evaluations.find(unit.tx, scope, host, outcome.evaluation_id)
    if evaluation is None:
        if outcomes.is_parked(unit.tx, outcome):
            return NumberClosed(**whose, reason="repeat")
        return OutcomeParked(**whose, outcome=outcome)
    current = outcomes.current(unit.tx, outcome.evaluation_id)
    obstacle = "repeated" if known else _obstacle(evaluation, current, outcome)
    if obstacle is not None:
        return OutcomeListed(**whose, outcome=outcome, reason=obstacle)
    return OutcomeLinked(
        **whose,
        outcome=outcome,
        reported_by="host",
        corrects=None if current is None else current["outcome_id"],
        verified=_is_verified(unit, evaluation, outcome),
    )


def _obstacle(evaluation: Row, current: Row | None, outcome: Outcome) -> Obstacle | None:
    if outcome.proposal_hash != evaluation["proposal_hash"]:
        return "other_proposal"
    if evaluation["kind"] != "tool":
        return "not_a_call"
    if evaluation["status"] != "passed":
        return "not_passed"
    if current is not None and current["reported_by"] == "host":
        return "repeated"
    return None


def _is_verified(unit: UnitOfWork, evaluation: Row, outcome: Outcome) -> bool:
    receipt = outcome.receipt
    if receipt is None or receipt.kind != evaluation["expected_receipt_kind"]:
        return False
    if evaluation["expected_receipt_digest"] not in (None, receipt.digest):
        return False
    return evidence.attested(unit.tx, evaluation["scope"], receipt.digest) is not None
