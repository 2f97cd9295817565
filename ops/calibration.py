"""`pmcl calibration`: how well forecasts met outcomes, and what became of holds.

Only calls with a known end count: a held call has no outcome, so whether it would have failed
nobody knows. What can be told of a hold is whether evidence released it, and how the released call
ended: that bounds false holds and the precision of vetoes, it does not measure them.
Source: SPEC D3.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from rich.table import Table

from pmcl.judgement import Prediction, Score, score
from pmcl.ops.console import console
from pmcl.ops.reach import check_ledger
from pmcl.ops.settings import Settings
from pmcl.store import Reader, Row, load_queries, open_reader

__all__ = ["read_calibration", "show_calibration", "show_score"]

_queries = load_queries("pmcl.ops", "calibration")
_PAGE_ROWS: Final = 5_000
_BAR: Final = 40
_HOLDS: Final = ("placed", "released", "run", "failed")


class _Group:
    """The predictions and the holds of one effect, one scope, or all."""

    def __init__(self) -> None:
        self.predictions: list[Prediction] = []
        self.material: dict[bool, list[bool]] = {True: [], False: []}
        self.holds = dict.fromkeys(_HOLDS, 0)

    def add_holds(self, row: Row) -> None:
        for name in _HOLDS:
            self.holds[name] += row[name]

    def add(self, row: Row) -> None:
        failed = row["status"] == "failed"
        happened = row["happened"] if failed else None
        self.predictions.append(Prediction(row["forecast"], row["probability"], happened))
        if row["material"]:
            self.material[bool(row["mitigated"])].append(failed)

    def report(self) -> dict[str, Any]:
        return {
            **msgspec.to_builtins(score(self.predictions)),
            "mitigated": _ended(self.material[True]),
            "unmitigated": _ended(self.material[False]),
            "holds": self.holds,
        }


def _ended(failed: list[bool]) -> dict[str, int]:
    return {"count": len(failed), "failures": sum(failed)}


async def read_calibration(
    settings: Settings, scope: str | None = None, effect: str | None = None
) -> dict[str, Any]:
    """Return the figures of all known outcomes, pooled, by effect and by scope, and of holds.

    Args:
        settings: name the ledger; the sidecar may run meanwhile.
        scope: count this one alone.
        effect: count this one alone.

    Returns:
        `{"pooled": GROUP, "effects": {NAME: GROUP}, "scopes": {NAME: GROUP}}`; a GROUP is a
        `pmcl.judgement.Score` with `mitigated` and `unmitigated` `{"count", "failures"}` of the
        material calls, and `holds` `{"placed", "released", "run", "failed"}`: of those placed, how
        many evidence released, how many released calls ended as known, how many of these failed.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    groups: dict[str, dict[str, _Group]] = defaultdict(lambda: defaultdict(_Group))
    async with open_reader(settings.ledger_path) as reader:
        async for row in _known(reader, scope, effect):
            for kind, name in _groups_of(row):
                groups[kind][name].add(row)
        for row in await reader.all(_queries.holds, scope=scope, effect=effect):
            for kind, name in _groups_of(row):
                groups[kind][name].add_holds(row)
    return {
        "pooled": groups[""][""].report(),
        **{kind: _reports(groups[kind]) for kind in ("effects", "scopes")},
    }


def _groups_of(row: Row) -> tuple[tuple[str, str], ...]:
    return ("", ""), ("effects", row["effect"]), ("scopes", row["scope"])


async def _known(reader: Reader, scope: str | None, effect: str | None) -> Any:
    after = ""
    given = {"scope": scope, "effect": effect, "rows": _PAGE_ROWS}
    while rows := await reader.all(_queries.known, after=after, **given):
        for row in rows:
            yield row
        after = rows[-1]["evaluation_id"]


def _reports(groups: dict[str, _Group]) -> dict[str, Any]:
    return {name: group.report() for name, group in sorted(groups.items())}


def show_calibration(report: dict[str, Any]) -> None:
    """Print the figures as tables, and the reliability diagram of all calls."""
    if report["pooled"]["count"]:
        console.print(_scores(report))
        show_score(msgspec.convert(report["pooled"], Score))
    else:
        console.print("No call has a known outcome yet: nothing to compare with.")
    if report["pooled"]["holds"]["placed"]:
        console.print(_holds(report))
        console.print("A held call has no outcome: whether it would have failed is not known.")


def _scores(report: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for title in ("calls", "failed", "top-1", "Brier", "ECE", "mitigated", "not mitigated"):
        table.add_column(title, justify="right")
    for name, group in _named(report):
        figures = (_figure(group[key]) for key in ("top1", "brier", "ece"))
        ends = (_share(group[key]) for key in ("mitigated", "unmitigated"))
        table.add_row(name, str(group["count"]), str(group["failures"]), *figures, *ends)
    return table


def _named(report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "all", report["pooled"]
    yield from report["effects"].items()
    for name, group in report["scopes"].items():
        yield f"scope {name}", group


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(ended: dict[str, int]) -> str:
    return "-" if not ended["count"] else f"{ended['failures']} of {ended['count']}"


def _holds(report: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("holds", no_wrap=True)
    for title in ("placed", "released", "ran", "false at most", "veto precision at least"):
        table.add_column(title, justify="right")
    for name, group in _named(report):
        if group["holds"]["placed"]:
            placed, released, run, failed = (group["holds"][key] for key in _HOLDS)
            precision = _figure(failed / run if run else None)
            table.add_row(name, *map(str, (placed, released, run, run - failed)), precision)
    return table


def show_score(found: Score) -> None:
    """Print a reliability diagram: a bar for what came true, a mark where the forecast stood."""
    console.print("forecast    calls   came true (bar) and forecast (|)")
    for place, one in enumerate(found.bins):
        if not one.count:
            continue
        bar = list(("█" * round(one.came_true * _BAR)).ljust(_BAR + 1))
        bar[round(one.probability * _BAR)] = "|"
        low, high = place / len(found.bins), (place + 1) / len(found.bins)
        shares = f"{one.came_true:.2f} / {one.probability:.2f}"
        console.print(f"{low:.1f} to {high:.1f}  {one.count:>6}   {''.join(bar)} {shares}")
