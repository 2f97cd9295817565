"""A verdict is a function of its inputs: the same inputs give the same bytes, whoever asks.

It can only veto: authority, then prior holds, then the plan, and a pass is what is left. An
approval answers the wish for one and takes no other reason away. Source: SPEC C, DESIGN section 4.
"""

from pmcl.contracts import (
    ArbitrationTicket,
    CheckpointStatus,
    Evaluation,
    ExecutionCheck,
    PlanCheck,
)
from pmcl.contracts.limits import EVIDENCE_IDS_MAX, VERDICT_TTL_MS
from pmcl.judgement.approval import ApprovalCheck, check_approval
from pmcl.judgement.calls import examine_call
from pmcl.judgement.criticism import with_critique
from pmcl.judgement.effects import Classification, classify
from pmcl.judgement.examined import Examined
from pmcl.judgement.execution import check_execution
from pmcl.judgement.inputs import Inputs, Judgement
from pmcl.judgement.recommendations import examine_recommendation
from pmcl.judgement.state import check_state
from pmcl.judgement.steps import examine_plan

__all__ = ["judge"]


def judge(inputs: Inputs, classified: Classification | None = None) -> Judgement:
    """Return the verdict on one request, complete but for `received`.

    `classified` is what `classify` says of the request under its rules, from whoever knows it.
    """
    examined = with_critique(inputs, _examine(inputs, classified))
    classified, plan = examined.classified, examined.plan
    approval = check_approval(inputs, classified.effect, examined.reasons)
    said = (approval.said, *examined.said) if approval.said else examined.said
    revision = None if approval.final else " ".join(said) or None
    within = not any(reason.startswith("authority.") for reason in approval.reasons)
    execution = check_execution(inputs.request, classified, within_authority=within)
    return Judgement(
        evaluation=_evaluation(inputs, plan, execution, approval, revision),
        hold_reason=examined.hold_reason if examined.hold_keys else None,
        hold_keys=examined.hold_keys,
        hold_lift=examined.hold_lift,
        released=() if approval.reasons else examined.lifted,
        asks_approval=approval.asked,
        uses_approval=approval.uses,
        requests_approval=approval.requests,
    )


def _examine(inputs: Inputs, classified: Classification | None) -> Examined:
    match inputs.request.kind:
        case "tool":
            return examine_call(inputs, classified or classify(inputs.request, inputs.rules))
        case "plan":
            return examine_plan(inputs)
        case "recommendation":
            return examine_recommendation(inputs)


def _evaluation(
    inputs: Inputs,
    plan: PlanCheck,
    execution: ExecutionCheck,
    approval: ApprovalCheck,
    revision: str | None,
) -> Evaluation:
    request = inputs.request
    status: CheckpointStatus = "held" if approval.reasons else "passed"
    expires_at = min(inputs.now_ms + VERDICT_TTL_MS, inputs.lease_expires_at)
    return Evaluation(
        evaluation_id=inputs.evaluation_id,
        call_id=request.call_id,
        generation=request.generation,
        checkpoint_status=status,
        state_check=check_state(inputs),
        plan_check=plan,
        execution_check=execution,
        evidence_ids=_read_evidence(inputs, plan),
        self_model_version_id=inputs.self_model_version_id,
        proposal_hash=request.proposal_hash,
        expires_at=expires_at,
        valid_for_ms=max(0, expires_at - inputs.now_ms),
        reasons=approval.reasons,
        revision_request=revision,
        approval_id=approval.approval_id,
        ticket=ArbitrationTicket(
            decision=status, effect=execution.effect, generation=inputs.lease_generation
        ),
    )


def _read_evidence(inputs: Inputs, plan: PlanCheck) -> tuple[str, ...]:
    """Return the unerased evidence that was read, what mitigates first, as much as fits."""
    ids = [item.evidence_id for item in inputs.evidence if not item.erased]
    return tuple(dict.fromkeys((*plan.evidence_ids, *ids)))[:EVIDENCE_IDS_MAX]
