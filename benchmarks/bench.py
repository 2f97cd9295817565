"""What a benchmark is: sides that are measured in turn, and rows that compare two of them."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal

import msgspec

__all__ = ["Bench", "Bound", "OpenBench", "Row", "Side", "Sizes"]

Side = Callable[[], Awaitable[float]]
"""Measures once and returns the figure in the unit of the rows that name it."""


class Bound(msgspec.Struct, frozen=True):
    """The target of a row: `ratio` is ours / baseline, `difference` is ours - baseline."""

    kind: Literal["ratio", "difference"]
    sign: Literal["<=", ">="]
    limit: float

    def met(self, value: float) -> bool:
        return value <= self.limit if self.sign == "<=" else value >= self.limit

    def __str__(self) -> str:
        return f"{self.sign} {self.limit:g}" + (" more" if self.kind == "difference" else " x")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report; `ours` and `baseline` name sides. No bound: reported only."""

    name: str
    unit: Literal["MiB", "ms", "s", "/s"]
    ours: str
    baseline: str
    bound: Bound | None = None

    def compare(self, ours: float, baseline: float) -> float:
        if self.bound is not None and self.bound.kind == "difference":
            return ours - baseline
        return ours / baseline


class Bench(msgspec.Struct, frozen=True):
    """Sides that live on the same open servers, and the rows made of them."""

    sides: Mapping[str, Side]
    rows: tuple[Row, ...]


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much one side does in one round."""

    one_at_a_time: int
    in_flight: int
    observations: int
    published: int
    apart: int
    backlog: int
    history: int
    replayed: int

    @classmethod
    def scaled(cls, scale: float) -> "Sizes":
        def count(full: int) -> int:
            return max(10, round(full * scale))

        return cls(
            one_at_a_time=count(2_000),
            in_flight=count(8_000),
            observations=count(5_000),
            published=count(2_000),
            apart=count(300),
            backlog=count(20_000),
            history=count(1_000_000),
            replayed=count(100_000),
        )


OpenBench = Callable[[Path, Sizes], AbstractAsyncContextManager[Bench]]
"""Opens servers and peers below an empty folder; all of them are gone when it closes."""
