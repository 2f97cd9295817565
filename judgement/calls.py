"""A tool call: authority, then prior holds, then the plan; what is left of none of them passes.

Source: SPEC C3 to C7.
"""

from typing import Final

from pmcl.judgement.authority import authority_reasons
from pmcl.judgement.effects import Classification
from pmcl.judgement.examined import Examined
from pmcl.judgement.grounding import grounding_reasons, grounding_request, words_for
from pmcl.judgement.holds import check_holds, unheld
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.plan import check_plan, needs_approval, revision_request
from pmcl.judgement.sensing import sensing_reasons, sensing_request
from pmcl.judgement.state import stale_reasons

__all__ = ["UNMITIGATED", "examine_call"]

UNMITIGATED: Final = "plan.unmitigated"
_PRIOR_HOLD: Final = "hold.prior"
_PLAN_HELD: Final = "plan.held"
_APPROVAL: Final = "plan.approval_required"


def examine_call(inputs: Inputs, classified: Classification) -> Examined:
    """Return what is found of a tool call, or of a step that would be one."""
    request, effect = inputs.request, classified.effect
    sensing = sensing_reasons(inputs, effect)
    stale = stale_reasons(inputs, effect)
    holds = check_holds(inputs, effect)
    plan = check_plan(inputs, effect, classified.reversibility)
    grounding = grounding_reasons(inputs.grounding)
    unmitigated = plan.material and not plan.mitigated and not grounding
    reason = grounding[0] if grounding else UNMITIGATED if unmitigated else None
    said = []
    if inputs.plan_held:
        said.append(f"Held with plan {request.plan_call_id}: revise that under a new call id.")
    if sensing:
        said.append(sensing_request(sensing))
    if grounding or any(hold.lift == "trusted_value" for hold in holds.standing):
        roots = inputs.authority.writable_roots
        words = words_for(request, effect, inputs.grounding, roots)
        said.append(grounding_request(inputs.grounding, words))
    elif holds.standing or unmitigated or stale:
        said.append(revision_request(inputs, holds.standing))
    return Examined(
        classified=classified,
        plan=plan,
        reasons=(
            *authority_reasons(inputs, effect),
            *sensing,
            *stale,
            *((_PRIOR_HOLD,) if holds.standing else ()),
            *((_PLAN_HELD,) if inputs.plan_held else ()),
            *grounding,
            *((UNMITIGATED,) if unmitigated else ()),
            *((_APPROVAL,) if needs_approval(inputs, classified, plan) else ()),
        ),
        said=tuple(said),
        lifted=holds.lifted,
        hold_reason=reason,
        hold_lift="trusted_value" if grounding else "evidence_about_resource",
        hold_keys=unheld(inputs, effect, reason) if reason else (),
    )
