"""How well forecasts met what happened: only what was forecast before is scored, never made anew.

A prediction says that an action fails in one mode with a probability; it came true when the action
failed in that mode. Source: SPEC D3; Brier (1950); the expected calibration error of Naeini et al.
(2015), here over ten bins of equal width.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

__all__ = ["BINS", "Bin", "Prediction", "Score", "score"]

BINS: Final = 10


class Prediction(msgspec.Struct, frozen=True):
    """One forecast beside its outcome.

    Attributes:
        mode: the forecast mode.
        probability: 0 to 1, that the action fails in this mode.
        happened: the mode in which it failed, `None` when it succeeded.
    """

    mode: str
    probability: float
    happened: str | None

    @property
    def came_true(self) -> bool:
        """Whether the action failed in the very mode that was forecast."""
        return self.happened == self.mode


class Bin(msgspec.Struct, frozen=True):
    """The predictions whose probability lies in one tenth: their number, mean and share."""

    count: int
    probability: float
    came_true: float


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a set of predictions.

    Attributes:
        failures: how many actions failed, in whatever mode.
        top1: of those, the share whose mode was the forecast one; `None` without a failure.
        brier: mean squared difference of probability and what happened, 0 (best) to 1.
        ece: mean distance of probability and share in a bin, weighted by the bins' counts.
        bins: from the lowest tenth to the highest; an empty one counts 0.
    """

    count: int
    failures: int
    top1: float | None
    brier: float | None
    ece: float | None
    bins: tuple[Bin, ...]


def score(predictions: Sequence[Prediction]) -> Score:
    """Return the figures; `None` stands where there is nothing to take a mean of."""
    failed = [prediction for prediction in predictions if prediction.happened is not None]
    squares = [(item.probability - item.came_true) ** 2 for item in predictions]
    bins = tuple(_bin([item for item in predictions if _place(item) == n]) for n in range(BINS))
    return Score(
        count=len(predictions),
        failures=len(failed),
        top1=_mean([float(item.came_true) for item in failed]),
        brier=_mean(squares),
        ece=_calibration_error(bins, len(predictions)),
        bins=bins,
    )


def _place(prediction: Prediction) -> int:
    return min(int(prediction.probability * BINS), BINS - 1)


def _bin(members: Sequence[Prediction]) -> Bin:
    probability = _mean([item.probability for item in members])
    share = _mean([float(item.came_true) for item in members])
    return Bin(len(members), probability or 0.0, share or 0.0)


def _calibration_error(bins: Sequence[Bin], count: int) -> float | None:
    if not count:
        return None
    return sum(one.count * abs(one.probability - one.came_true) for one in bins) / count


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
