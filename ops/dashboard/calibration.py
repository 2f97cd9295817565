"""Calibration as a picture and as figures: how well forecasts met outcomes."""

from typing import Any, Final

import msgspec

from pmcl.judgement import Score
from pmcl.ops.calibration import read_calibration
from pmcl.ops.dashboard.visit import Page, Visit

__all__ = ["Diagram", "calibration", "diagram"]

_SIDE: Final = 320
_LEFT: Final = 48
_TOP: Final = 12
_BARS_TOP: Final = 396
_BARS: Final = 72


class Point(msgspec.Struct, frozen=True):
    """One tenth of the forecasts: where its mark and its bar stand, and what they say."""

    x: float
    y: float
    bar_x: float
    bar_height: float
    count: int
    probability: float
    came_true: float


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything in the picture stands, in its own units.

    Attributes:
        ticks: a share, and its place on the axes: from the left, from above.
    """

    left: float = _LEFT
    right: float = _LEFT + _SIDE
    top: float = _TOP
    bottom: float = _TOP + _SIDE
    bars_bottom: float = _BARS_TOP + _BARS
    bar_width: float = _SIDE / 10 * 0.8
    ticks: tuple[tuple[str, float, float], ...]
    points: tuple[Point, ...]


def diagram(score: Score) -> Diagram:
    """Return the reliability diagram: above, what came true; below, how many calls (by root)."""
    most = max((one.count for one in score.bins), default=0)
    width = _SIDE / len(score.bins)
    points = [
        Point(
            x=_across(one.probability),
            y=_down(one.came_true),
            bar_x=_LEFT + place * width + width * 0.1,
            bar_height=round(_BARS * (one.count / most) ** 0.5, 1),
            count=one.count,
            probability=one.probability,
            came_true=one.came_true,
        )
        for place, one in enumerate(score.bins)
        if one.count
    ]
    ticks = [(f"{n / 5:.1f}", _across(n / 5), _down(n / 5)) for n in range(6)]
    return Diagram(ticks=tuple(ticks), points=tuple(points))


async def calibration(visit: Visit) -> Page:
    """Return the page; without a known outcome it says so."""
    report = await read_calibration(visit.settings)
    groups: list[tuple[str, dict[str, Any]]] = [
        ("all", report["pooled"]),
        *report["effects"].items(),
        *((f"scope {name}", group) for name, group in report["scopes"].items()),
    ]
    facts = {
        "count": report["pooled"]["count"],
        "diagram": diagram(msgspec.convert(report["pooled"], Score)),
        "groups": groups,
    }
    return Page("calibration.html", "Calibration", facts)


def _across(share: float) -> float:
    return round(_LEFT + share * _SIDE, 1)


def _down(share: float) -> float:
    return round(_TOP + (1 - share) * _SIDE, 1)
