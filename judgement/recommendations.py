"""A recommendation is text: it needs no authority but a lease, and evidence that is still there.

Source: SPEC C1.
"""

from typing import Final

from pmcl.judgement.authority import LEASE_EXPIRED, lease_lives
from pmcl.judgement.effects import Classification
from pmcl.judgement.examined import Examined
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.plan import check_plan

__all__ = ["examine_recommendation"]

_ERASED: Final = "evidence.erased"
_TEXT: Final = Classification(
    effect="inspect_local", reversibility="reversible", own="inspect_local", reasons=()
)


def examine_recommendation(inputs: Inputs) -> Examined:
    """Return what is found of a recommendation."""
    erased = [item.evidence_id for item in inputs.evidence if item.erased]
    return Examined(
        classified=_TEXT,
        plan=check_plan(inputs, _TEXT.effect, _TEXT.reversibility),
        reasons=(
            *(() if lease_lives(inputs) else (LEASE_EXPIRED,)),
            *((_ERASED,) if erased else ()),
        ),
        said=(f"Held. Evidence {erased[0]} was erased: rest it on what is there.",)
        if erased
        else (),
    )
