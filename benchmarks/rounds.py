"""Sides are measured in turn, so that a slow moment of the machine meets all of them."""

from collections.abc import Iterator
from statistics import median

import msgspec

from benchmarks.bench import Bench, Row

__all__ = ["Result", "measure"]

Values = dict[str, list[float]]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A row with its medians; the compared value is the median over rounds, not of medians."""

    row: Row
    ours: float
    baseline: float
    compared: float
    spread: tuple[float, float]
    met: bool | None


async def measure(bench: Bench, rounds: int) -> list[Result]:
    """Return one result per row; a first round warms up and is dropped."""
    values: Values = {name: [] for name in bench.sides}
    for number in range(rounds + 1):
        for name in turned(list(bench.sides), number):
            value = await bench.sides[name]()
            if number > 0:
                values[name].append(value)
    return [compared(row, values) for row in bench.rows]


def turned(names: list[str], number: int) -> Iterator[str]:
    start = number % len(names)
    yield from names[start:]
    yield from names[:start]


def compared(row: Row, values: Values) -> Result:
    ours, baseline = values[row.ours], values[row.baseline]
    each = [row.compare(*pair) for pair in zip(ours, baseline, strict=True)]
    value = median(each)
    return Result(
        row=row,
        ours=median(ours),
        baseline=median(baseline),
        compared=value,
        spread=(min(each), max(each)),
        met=None if row.bound is None else row.bound.met(value),
    )
