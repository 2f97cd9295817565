"""A hold stays until evidence that it has not seen is shown for one of its resources.

What the user says afterwards is such evidence where it asks for the call and nothing speaks
against it, as it is of a call that was never held.

It is keyed by resource, so neither other words, another tool, another effect nor a new lease gets
round it. A local inspection changes nothing, so no hold stands in its way, and it releases none.

A hold is released together with the verdict that its evidence lets pass, and not before: as long
as authority, another hold or the plan keeps the request back, nothing is released, and the same
evidence can be shown again. Source: SPEC C7.
"""

import msgspec

from pmcl.contracts import Effect
from pmcl.judgement.grounding import ABOUT_VALUES, Grounding, has_foreign, is_grounded
from pmcl.judgement.inputs import CitedEvidence, Inputs, OpenHold, Release

__all__ = ["HoldCheck", "about", "check_holds", "supporting", "unheld"]


class HoldCheck(msgspec.Struct, frozen=True):
    """The open holds that stand in the request's way.

    Attributes:
        lifted: those whose predicate the cited evidence satisfies.
        standing: all others.
    """

    lifted: tuple[Release, ...] = ()
    standing: tuple[OpenHold, ...] = ()


def check_holds(inputs: Inputs, effect: Effect) -> HoldCheck:
    """Return which open holds match the request, and what its evidence does to them."""
    if effect == "inspect_local" or not inputs.holds:
        return HoldCheck()
    shown = supporting(inputs)
    lifted, standing = [], []
    for hold in inputs.holds:
        if not _shares(hold.resource_keys, inputs.resource_keys):
            continue
        ids = _lifting(hold, shown, inputs.grounding)
        if ids:
            lifted.append(Release(hold_id=hold.hold_id, evidence_ids=ids))
        else:
            standing.append(hold)
    return HoldCheck(tuple(lifted), tuple(standing))


def _lifting(hold: OpenHold, shown: list[CitedEvidence], grounding: Grounding) -> tuple[str, ...]:
    """Return the evidence that satisfies the hold's predicate."""
    told = tuple([one for one in grounding.goal_ids if one not in hold.cited])
    if hold.lift == "evidence_about_resource":
        new = [item for item in shown if item.evidence_id not in hold.cited]
        return about(new, hold.resource_keys) or (told if is_grounded(grounding) else ())
    if not is_grounded(grounding) or (hold.reason in ABOUT_VALUES and has_foreign(grounding)):
        return ()
    return told or _naming(grounding)


def _naming(grounding: Grounding) -> tuple[str, ...]:
    ids = [item.evidence_id for item in grounding.found if item.place == "goal"]
    return tuple(dict.fromkeys([one for one in ids if one is not None]))


def unheld(inputs: Inputs, effect: Effect, reason: str) -> tuple[str, ...]:
    """Return the resources on which no open hold says yet what a new one would say.

    So a resource has one open hold at most for each effect and reason, whatever it is named with.
    """
    held = {
        key
        for hold in inputs.holds
        if hold.effect == effect and hold.reason == reason
        for key in hold.resource_keys
    }
    return tuple([key for key in inputs.resource_keys if key not in held])


def supporting(inputs: Inputs) -> list[CitedEvidence]:
    """Return the cited evidence that can show anything.

    It is unerased, of this generation, and no model wrote it.
    """
    generation = inputs.lease_generation
    return [
        item
        for item in inputs.evidence
        if not item.erased and item.generation == generation and item.trust != "model"
    ]


def about(evidence: list[CitedEvidence], resource_keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of the evidence that is about one of the resources."""
    return tuple(
        [item.evidence_id for item in evidence if _shares(item.resource_keys, resource_keys)]
    )


def _shares(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(key in other for key in one)
