"""Effects and reversibilities have one order each; of two, the worse one counts.

Source: SPEC C3.
"""

from typing import Final

from pmcl.contracts import Effect, Reversibility

__all__ = ["reversibility", "riskier", "riskiest"]

_RISK: Final[dict[Effect, int]] = {
    "inspect_local": 0,
    "network": 1,
    "sensing": 2,
    "mutation": 3,
    "communication": 4,
    "execution": 5,
}

_LASTING: Final[dict[Reversibility, int]] = {"reversible": 0, "compensable": 1, "irreversible": 2}

_USUAL: Final[dict[Effect, Reversibility]] = {
    "inspect_local": "reversible",
    "network": "reversible",
    "sensing": "irreversible",
    "mutation": "compensable",
    "communication": "irreversible",
    "execution": "irreversible",
}


def riskier(one: Effect, other: Effect) -> Effect:
    """Return the riskier of two effects.

    inspect_local < network < sensing < mutation < communication < execution.
    """
    return one if _RISK[one] >= _RISK[other] else other


def riskiest(effects: list[Effect]) -> Effect:
    """Return the riskiest of one or more effects."""
    return max(effects, key=_RISK.__getitem__)


def reversibility(effect: Effect, claim: Reversibility | None) -> Reversibility:
    """Return the worse of the effect's usual reversibility and the host's claim."""
    usual = _USUAL[effect]
    return usual if claim is None or _LASTING[usual] >= _LASTING[claim] else claim
