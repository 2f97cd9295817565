"""A model's critique can hold a call and does nothing else; what it does not say changes nothing.

A veto is a hold like any other: new evidence about the resource releases it, if the critic then
keeps silent. A critic that the operator requires and that does not answer holds everything but
local inspections. Source: SPEC C5, C9, E3.
"""

from typing import Final

import msgspec

from pmcl.contracts import StateItem
from pmcl.judgement.examined import Examined
from pmcl.judgement.holds import unheld
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.plan import revision_request

__all__ = ["CRITIC_UNAVAILABLE", "CRITIC_VETO", "critic_item", "with_critique"]

CRITIC_VETO: Final = "plan.critic_veto"
CRITIC_UNAVAILABLE: Final = "degraded.critic_unavailable"


def with_critique(inputs: Inputs, examined: Examined) -> Examined:
    """Return the findings, with what the critic adds to them."""
    critique, effect = inputs.critique, examined.classified.effect
    if critique is None or effect == "inspect_local" or inputs.request.kind == "recommendation":
        return examined
    if critique.verdict == "veto":
        return _vetoed(inputs, examined)
    if critique.verdict == "unavailable" and inputs.critic_required:
        return msgspec.structs.replace(examined, reasons=(*examined.reasons, CRITIC_UNAVAILABLE))
    return examined


def _vetoed(inputs: Inputs, examined: Examined) -> Examined:
    assert inputs.critique is not None
    told = f"A critic expects this to fail: {inputs.critique.failure_mode}."
    said = examined.said or (
        (revision_request(inputs, ()),) if inputs.request.kind == "tool" else ()
    )
    vetoed = msgspec.structs.replace(
        examined, reasons=(*examined.reasons, CRITIC_VETO), said=(*said, told)
    )
    if examined.hold_reason is not None or inputs.request.kind != "tool":
        return vetoed
    keys = unheld(inputs, examined.classified.effect, CRITIC_VETO)
    return msgspec.structs.replace(vetoed, hold_reason=CRITIC_VETO, hold_keys=keys)


def critic_item(inputs: Inputs) -> tuple[StateItem, ...]:
    """Return what became of asking the critic; nothing where none was asked."""
    critique = inputs.critique
    if critique is None:
        return ()
    if critique.verdict == "unavailable":
        need = "required" if inputs.critic_required else "optional"
        note = f"{need}, {critique.reason or 'no answer'}"
        return (StateItem(name="critic", freshness="unavailable", note=note),)
    return (StateItem(name="critic", freshness="fresh", note=critique.verdict),)
