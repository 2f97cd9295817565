"""What one kind of checkpoint found, before an approval is taken into account."""

import msgspec

from pmcl.contracts import HoldLift, PlanCheck
from pmcl.judgement.effects import Classification
from pmcl.judgement.inputs import Release

__all__ = ["Examined"]


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of one request.

    Attributes:
        reasons: everything that holds it, the wish for an approval included.
        said: what the host can do about them, for the model.
        lifted: holds whose predicate the cited evidence satisfies.
        hold_reason, hold_lift: what a new hold says and what lifts it.
        hold_keys: resources to place it on.
    """

    classified: Classification
    plan: PlanCheck
    reasons: tuple[str, ...]
    said: tuple[str, ...] = ()
    lifted: tuple[Release, ...] = ()
    hold_reason: str | None = None
    hold_lift: HoldLift = "evidence_about_resource"
    hold_keys: tuple[str, ...] = ()
