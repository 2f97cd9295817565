"""The single most likely way in which an action fails, told from a catalogue and from history.

Three levels are counted: the action, the other actions of its tool, the other tools of its effect.
Each level's estimate is (count + S * estimate of the level above) / (runs + S); the catalogue
stands above all. So S runs weigh as much as all that is known from above, what is known of others
fades as an action gets a history of its own, and no outcome is counted on two levels.

The catalogue's numbers are set by judgement, not measured. S = 4 was chosen on the simulated
host of docs/calibration.md. Source: SPEC C5, D5; the estimate is the mean of a Dirichlet posterior
whose prior is centred on the level above.
"""

from collections.abc import Mapping
from typing import Final

from pmcl.contracts import Effect, FailureForecast
from pmcl.judgement.inputs import History, Tally

__all__ = ["IMPACT", "PSEUDO_RUNS", "forecast", "prior", "prior_after", "usual_mitigation"]

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


def prior_after(effect: Effect, verified_runs: int) -> float:
    """Return what `prior` becomes when so many verified runs of the action did not fail."""
    return PSEUDO_RUNS * prior(effect) / (PSEUDO_RUNS + verified_runs)


def usual_mitigation() -> str:
    """Return the smallest mitigation that this version can check by evidence."""
    return _MITIGATION


def forecast(effect: Effect, history: History) -> FailureForecast:
    """Return the most likely failure mode of the action and its probability."""
    shares: Mapping[str, float] = _CATALOGUE[effect]
    action, tool, same = history.action, history.tool, history.effects.get(effect, Tally())
    for level, below in ((same, tool), (tool, action), (action, Tally())):
        shares = _posterior(shares, level, below)
    likeliest = max(shares, key=shares.__getitem__)
    return FailureForecast(
        mode=likeliest,
        probability=round(shares[likeliest], 6),
        failures=action.failures,
        runs=action.runs,
    )


def _posterior(above: Mapping[str, float], level: Tally, below: Tally) -> Mapping[str, float]:
    """Return each mode's share at a level, without what the level below counts itself."""
    runs = level.runs - below.runs
    if runs <= 0:
        return above
    counted = dict(below.failed)
    shares = {mode: PSEUDO_RUNS * share for mode, share in above.items()}
    for mode, count in level.failed:
        shares[mode] = shares.get(mode, 0.0) + max(0, count - counted.get(mode, 0))
    return {mode: share / (runs + PSEUDO_RUNS) for mode, share in shares.items()}
