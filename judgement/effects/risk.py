"""Effects and reversibilities have one order each; of two, the worse one counts.

Source: SPEC C3.
"""

from typing import Final

from pmcl.contracts import Effect, Reversibility

__all__ = ["lasting_longer", "reversibility", "risk_of", "riskier", "riskiest"]

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


def risk_of(effect: Effect) -> int:
    """Return the rank of an effect, 0 for inspect_local to 5 for execution."""
    return _RISK[effect]


def riskiest(effects: list[Effect]) -> Effect:
    """Return the riskiest of one or more effects."""
    return max(effects, key=_RISK.__getitem__)


def reversibility(effect: Effect, claim: Reversibility | None) -> Reversibility:
    """Return the worse of the effect's usual reversibility and the host's claim."""
    return lasting_longer(_USUAL[effect], claim)


def lasting_longer(one: Reversibility, other: Reversibility | None) -> Reversibility:
    """Return the worse of two reversibilities, the first when there is no second."""
    return one if other is None or _LASTING[one] >= _LASTING[other] else other
