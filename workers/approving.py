"""An approval is looked up when the judgement asks for one, and used up by the pass that needs it.

Both happen in the unit that commits the verdict, so two that race for one approval find it once.
Source: SPEC A6.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from pmcl.contracts import ApprovalExpired, ApprovalRequested, ApprovalUsed, Event
from pmcl.judgement import Classification, Inputs, Judgement, judge
from pmcl.ledger import approvals
from pmcl.outbox import UnitOfWork

__all__ = ["approval_events", "judge_once"]


def judge_once(
    unit: UnitOfWork, inputs: Inputs, classified: Classification
) -> tuple[Inputs, Judgement]:
    """Return the judgement, and the inputs that give just that judgement again."""
    judgement = judge(inputs, classified)
    if not judgement.asks_approval:
        return inputs, judgement
    evaluation = judgement.evaluation
    inputs = msgspec.structs.replace(
        inputs,
        approval=approvals.standing(
            unit.tx,
            inputs.scope,
            inputs.host,
            evaluation.proposal_hash,
            inputs.lease_generation,
            evaluation.execution_check.effect,
        ),
        approvals_waiting=approvals.waiting_of_host(unit.tx, inputs.scope, inputs.host),
    )
    return inputs, judge(inputs, classified)


def approval_events(inputs: Inputs, judgement: Judgement, whose: dict[str, Any]) -> Iterator[Event]:
    """Yield what the judgement does to approvals; one that is over makes room for the next."""
    found, evaluation = inputs.approval, judgement.evaluation
    if found is not None and found.is_over(inputs.now_ms):
        yield ApprovalExpired(**whose, approval_id=found.approval_id, reason="time")
    if judgement.uses_approval is not None:
        yield ApprovalUsed(
            **whose,
            approval_id=judgement.uses_approval,
            evaluation_id=evaluation.evaluation_id,
        )
    if judgement.requests_approval:
        yield ApprovalRequested(
            **whose,
            approval_id=evaluation.evaluation_id,
            lease_id=inputs.request.lease_id,
            generation=inputs.lease_generation,
            proposal_hash=evaluation.proposal_hash,
            effect=evaluation.execution_check.effect,
        )
