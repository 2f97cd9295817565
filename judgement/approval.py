"""An approval satisfies the wish for one and nothing else; it counts for one proposal, once.

Neither a prohibition, a root, a host, a lease, a hold nor the plan yields to it. Source: SPEC A6.
"""

from typing import Final

import msgspec

from pmcl.contracts import Effect
from pmcl.contracts.limits import APPROVALS_WAITING_MAX
from pmcl.judgement.inputs import ApprovalRecord, Inputs
from pmcl.judgement.revising import BY_IDS

__all__ = ["ApprovalCheck", "check_approval"]

_REQUIRED: Final = ("authority.approval_required", "plan.approval_required")
_DENIED: Final = "authority.approval_denied"


class ApprovalCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What an approval leaves of the reasons.

    Attributes:
        asked: that one is wanted, whether there is one or not.
        final: that authority holds the request and nothing that a host can do changes that.
        approval_id: the one that was found, or that is to be requested.
        uses: the granted one that the pass uses up; `None` unless no reason is left.
        requests: that an operator is to be asked.
        said: what the host can do about it, for the model.
    """

    reasons: tuple[str, ...]
    asked: bool = False
    final: bool = False
    approval_id: str | None = None
    uses: str | None = None
    requests: bool = False
    said: str | None = None


def check_approval(inputs: Inputs, effect: Effect, reasons: tuple[str, ...]) -> ApprovalCheck:
    """Return what is left of `reasons` when the approval in the inputs is taken into account.

    The approval of a plan answers the wishes of all its steps, and of none of its calls.
    """
    others = tuple([reason for reason in reasons if reason.partition("@")[0] not in _REQUIRED])
    final = any(reason.startswith("authority.") for reason in others)
    if len(others) == len(reasons):
        return ApprovalCheck(reasons=reasons, final=final)
    found = _about(inputs, effect)
    if found is None:
        return _unasked(inputs, reasons, final=final)
    about = found.approval_id
    if found.state == "denied":
        return ApprovalCheck(reasons=(_DENIED, *others), asked=True, final=True, approval_id=about)
    if found.state == "pending":
        return ApprovalCheck(
            reasons=reasons, asked=True, final=final, approval_id=about, said=_waits(about)
        )
    if not found.counts(inputs.now_ms):
        return _unasked(inputs, reasons, final=final)
    uses = None if others else about
    return ApprovalCheck(reasons=others, asked=True, final=final, approval_id=about, uses=uses)


def _unasked(inputs: Inputs, reasons: tuple[str, ...], *, final: bool) -> ApprovalCheck:
    """Ask, unless nothing would come of a grant or too many wait already."""
    if final or inputs.approvals_waiting >= APPROVALS_WAITING_MAX:
        said = f"Held. An operator must approve this, but {APPROVALS_WAITING_MAX} requests wait."
        return ApprovalCheck(reasons=reasons, asked=True, final=final, said=said)
    return ApprovalCheck(
        reasons=reasons,
        asked=True,
        approval_id=inputs.evaluation_id,
        requests=True,
        said=_waits(inputs.evaluation_id),
    )


def _about(inputs: Inputs, effect: Effect) -> ApprovalRecord | None:
    """Return the approval if it is about this very proposal, in this generation, to this effect."""
    found, request = inputs.approval, inputs.request
    if found is None:
        return None
    bound = (found.proposal_hash, found.generation, found.effect)
    asking = (request.proposal_hash, inputs.lease_generation, effect)
    return found if bound == asking else None


def _waits(approval_id: str) -> str:
    return (
        f"Held until an operator approves request {approval_id}. Once that is granted, "
        f"{BY_IDS.again}"
    )
