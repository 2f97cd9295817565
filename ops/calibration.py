"""`pmcl calibration`: how well forecasts met outcomes, and what became of holds.

Only calls with a known end count: a held call has no outcome, so whether it would have failed
nobody knows. What can be told of a hold is whether evidence released it, and how the released call
ended. Source: SPEC D3.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from rich.table import Table

from pmcl.contracts import LedgerError
from pmcl.judgement import Prediction, Score, score
from pmcl.ops.console import console
from pmcl.ops.settings import Settings
from pmcl.store import Reader, Row, load_queries, open_reader

__all__ = ["read_calibration", "show_calibration", "show_score"]

_queries = load_queries("pmcl.ops", "calibration")
_PAGE_ROWS: Final = 5_000
_BAR: Final = 40


class _Group:
    """The predictions of one effect, one scope, or all."""

    def __init__(self) -> None:
        self.predictions: list[Prediction] = []
        self.material: dict[bool, list[bool]] = {True: [], False: []}

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
        `{"pooled": GROUP, "effects": {NAME: GROUP}, "scopes": {NAME: GROUP}, "holds": {NAME:
        {"placed", "released", "run", "failed"}}}`; a GROUP is a `pmcl.judgement.Score` with
        `mitigated` and `unmitigated` `{"count", "failures"}` of the material calls.

    Raises:
        LedgerError: there is no ledger.
    """
    if not settings.ledger_path.exists():
        raise LedgerError(f"{settings.ledger_path}: there is no ledger yet")
    groups: dict[str, dict[str, _Group]] = defaultdict(lambda: defaultdict(_Group))
    async with open_reader(settings.ledger_path) as reader:
        async for row in _known(reader, scope, effect):
            for kind, name in (("", ""), ("effects", row["effect"]), ("scopes", row["scope"])):
                groups[kind][name].add(row)
        holds = await reader.all(_queries.holds, scope=scope, effect=effect)
    return {
        "pooled": groups[""][""].report(),
        **{kind: _reports(groups[kind]) for kind in ("effects", "scopes")},
        "holds": {
            row["effect"]: {name: row[name] for name in ("placed", "released", "run", "failed")}
            for row in holds
        },
    }


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
    if not report["pooled"]["count"]:
        console.print("No call has a known outcome yet: nothing to compare with.")
        return
    console.print(_scores(report))
    show_score(msgspec.convert(report["pooled"], Score))
    if report["holds"]:
        console.print(_holds(report["holds"]))
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


def _holds(holds: dict[str, Any]) -> Table:
    table = Table("holds", "placed", "released", "released call failed", box=None, pad_edge=False)
    for effect, row in holds.items():
        failed = _share({"count": row["run"], "failures": row["failed"]})
        table.add_row(effect, str(row["placed"]), str(row["released"]), failed)
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
