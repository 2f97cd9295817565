"""A verdict is a function of its inputs: the same inputs give the same bytes, whoever asks.

It can only veto: authority, then prior holds, then the plan, and a pass is what is left. An
approval answers the wish for one and takes no other reason away. Source: SPEC C, DESIGN section 4.
"""

from typing import Final

from pmcl.contracts import (
    ArbitrationTicket,
    CheckpointStatus,
    Evaluation,
    ExecutionCheck,
    PlanCheck,
)
from pmcl.contracts.limits import EVIDENCE_IDS_MAX, VERDICT_TTL_MS
from pmcl.judgement.approval import ApprovalCheck, check_approval
from pmcl.judgement.authority import authority_reasons
from pmcl.judgement.effects import classify
from pmcl.judgement.execution import check_execution
from pmcl.judgement.holds import check_holds, unheld
from pmcl.judgement.inputs import Inputs, Judgement
from pmcl.judgement.plan import check_plan, revision_request
from pmcl.judgement.sensing import sensing_reasons, sensing_request
from pmcl.judgement.state import SELF_MODEL_VERSION, check_state

__all__ = ["judge"]

_UNMITIGATED: Final = "plan.unmitigated"
_PRIOR_HOLD: Final = "hold.prior"


def judge(inputs: Inputs) -> Judgement:
    """Return the verdict on one request, complete but for `received`."""
    request = inputs.request
    classified = classify(request, inputs.rules)
    effect, reversible = classified.effect, classified.reversibility
    sensing = sensing_reasons(inputs, effect)
    holds = check_holds(inputs, effect)
    plan = check_plan(inputs, effect, reversible)
    unmitigated = plan.material and not plan.mitigated
    found = (
        *authority_reasons(inputs, effect),
        *sensing,
        *((_PRIOR_HOLD,) if holds.standing else ()),
        *((_UNMITIGATED,) if unmitigated else ()),
    )
    approval = check_approval(inputs, effect, found)
    asked = [approval.said] if approval.said else []
    if sensing:
        asked.append(sensing_request(sensing))
    if holds.standing or unmitigated:
        asked.append(revision_request(inputs, holds.standing))
    revision = None if approval.final else " ".join(asked) or None
    execution = check_execution(request, classified, within_authority=_within(approval))
    hold_keys = unheld(inputs, effect, _UNMITIGATED) if unmitigated else ()
    return Judgement(
        evaluation=_evaluation(inputs, plan, execution, approval, revision),
        hold_reason=_UNMITIGATED if hold_keys else None,
        hold_keys=hold_keys,
        released=() if approval.reasons else holds.lifted,
        asks_approval=approval.asked,
        uses_approval=approval.uses,
        requests_approval=approval.requests,
    )


def _within(approval: ApprovalCheck) -> bool:
    return not any(reason.startswith("authority.") for reason in approval.reasons)


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
        self_model_version_id=SELF_MODEL_VERSION,
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
