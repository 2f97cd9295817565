"""The single most likely way in which an action fails, told from a catalogue and from history.

The estimate shrinks to the catalogue when little is known: (count + 4 * prior) / (runs + 4), so
four runs weigh as much as the catalogue does. The levels between the action and its effect (the
tool, the effect's own history) are not counted yet. The catalogue's numbers are set by judgement,
not measured. Source: SPEC C5, D5.
"""

from collections import Counter
from typing import Final

from pmcl.contracts import Effect, FailureForecast
from pmcl.judgement.inputs import History

__all__ = ["IMPACT", "PSEUDO_RUNS", "forecast", "prior", "usual_mitigation"]

PSEUDO_RUNS: Final = 4.0

IMPACT: Final[dict[Effect, float]] = {
    "inspect_local": 0.1,
    "network": 0.4,
    "sensing": 0.6,
    "mutation": 0.7,
    "communication": 0.8,
    "execution": 1.0,
}
"""How bad a failure is, 0 to 1."""

_CATALOGUE: Final[dict[Effect, dict[str, float]]] = {
    "inspect_local": {"not_found": 0.10, "out_of_date": 0.05},
    "network": {"unreachable": 0.15, "untrusted_content": 0.10, "rate_limited": 0.05},
    "sensing": {"unwanted_disclosure": 0.15, "device_unavailable": 0.10},
    "mutation": {"wrong_target": 0.15, "lost_update": 0.10, "partial_write": 0.05},
    "communication": {"wrong_recipient": 0.15, "unwanted_disclosure": 0.10, "not_delivered": 0.05},
    "execution": {"side_effect": 0.20, "nonzero_exit": 0.15, "timeout": 0.05},
}

_MITIGATION: Final = "inspect the target again before acting and cite what was seen"


def prior(effect: Effect) -> float:
    """Return the probability of the effect's most likely failure mode when nothing is known."""
    return max(_CATALOGUE[effect].values())


def usual_mitigation() -> str:
    """Return the smallest mitigation that this version can check by evidence."""
    return _MITIGATION


def forecast(effect: Effect, history: History) -> FailureForecast:
    """Return the most likely failure mode of the action and its probability.

    Failures older than `history.recent` are shared out over the modes of the recent ones. One
    failure outweighs every mode of the catalogue, since 4 * prior < 1.
    """
    weights = {mode: PSEUDO_RUNS * share for mode, share in _CATALOGUE[effect].items()}
    if history.recent:
        scale = max(history.failures, len(history.recent)) / len(history.recent)
        for mode, count in Counter(failure.mode for failure in history.recent).items():
            weights[mode] = weights.get(mode, 0.0) + count * scale
    likeliest = max(weights, key=weights.__getitem__)
    runs = max(history.runs, history.failures, len(history.recent))
    return FailureForecast(
        mode=likeliest,
        probability=round(weights[likeliest] / (runs + PSEUDO_RUNS), 6),
        failures=history.failures,
        runs=history.runs,
    )
