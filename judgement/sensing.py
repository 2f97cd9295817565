"""Sensing needs an explicit purpose, fresh evidence and a receipt; nothing stands in for them.

A verdict is used once, so a pass clears one look and not a watch. A call that also moves something
is no sensing: the riskier effect counts. Source: SPEC C3.
"""

from typing import Final

from pmcl.contracts import Effect
from pmcl.contracts.limits import FRESHNESS_MS
from pmcl.judgement.holds import supporting
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.revising import BY_IDS

__all__ = ["sensing_reasons", "sensing_request"]

_ASKED: Final = {
    "sensing.purpose_missing": "say what it is for in justification.necessity",
    "sensing.stale": BY_IDS.recent,
    "sensing.receipt_missing": "name the receipt that it will leave in expected_receipt",
}


def sensing_reasons(inputs: Inputs, effect: Effect) -> tuple[str, ...]:
    """Return what a sensing call lacks, as codes; empty for every other effect."""
    if effect != "sensing":
        return ()
    request = inputs.request
    shown = {
        "sensing.purpose_missing": request.justification is not None
        and bool(request.justification.necessity.strip()),
        "sensing.stale": any(
            abs(inputs.now_ms - item.observed_at) <= FRESHNESS_MS for item in supporting(inputs)
        ),
        "sensing.receipt_missing": request.expected_receipt is not None,
    }
    return tuple([reason for reason, is_there in shown.items() if not is_there])


def sensing_request(reasons: tuple[str, ...]) -> str:
    """Return what the host is to add, for the model; below 300 characters."""
    return "Held. To sense, " + ", and ".join(_ASKED[reason] for reason in reasons) + "."
