"""A figure is measured, with how many cases it stands on, or it says why it is not there."""

from typing import Final, Literal

import msgspec

from pmcl.ops.intervals import wilson_95

__all__ = ["SECTIONS", "Figure", "Section", "amount", "share", "unavailable"]

Section = Literal[
    "mediation", "authority", "calibration", "utility", "safety", "continuity", "privacy"
]
SECTIONS: Final[tuple[Section, ...]] = (
    "mediation", "authority", "calibration", "utility", "safety", "continuity", "privacy",
)  # fmt: skip


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report.

    Attributes:
        value: a share from 0 to 1, or an amount in `unit`; `None` when it could not be measured.
        count: of a share, how many of the `n` cases.
        interval_95: of a share, Wilson's.
        how: how it was measured, in one sentence.
        unavailable: why there is no value.
    """

    section: Section
    name: str
    unit: str
    how: str
    value: float | None = None
    count: int | None = None
    n: int = 0
    interval_95: tuple[float, float] | None = None
    unavailable: str | None = None


def share(section: Section, name: str, count: int, n: int, how: str) -> Figure:
    """Return the share of `count` in `n` with its interval; unavailable without a case."""
    if n == 0:
        return unavailable(section, name, how, "no such case in what was measured", "share")
    return Figure(
        section=section,
        name=name,
        unit="share",
        how=how,
        value=count / n,
        count=count,
        n=n,
        interval_95=wilson_95(count, n),
    )


def amount(section: Section, name: str, value: float | None, unit: str, n: int, how: str) -> Figure:
    """Return an amount that `n` cases gave; unavailable without a case."""
    if value is None or n == 0:
        return unavailable(section, name, how, "no such case in what was measured", unit)
    return Figure(section=section, name=name, unit=unit, how=how, value=value, n=n)


def unavailable(section: Section, name: str, how: str, reason: str, unit: str = "") -> Figure:
    """Return a line without a value, and why."""
    return Figure(section=section, name=name, unit=unit, how=how, unavailable=reason)
