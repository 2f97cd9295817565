"""`pmcl evaluate traces`: verdicts on recorded calls are counted, and the checks are timed.

The calls go through the real pipeline as `pmcl.ops.replay` describes.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

import anyio.to_thread
from rich.table import Table

from pmcl.contracts import CheckpointStatus
from pmcl.ops.console import console
from pmcl.ops.intervals import percentile, wilson_95
from pmcl.ops.recordings import KINDS, TraceKind
from pmcl.ops.replay import Replay, ReplayedCall, read_all
from pmcl.ops.settings import Settings

__all__ = ["evaluate_traces", "show_report"]

_LICENSED: Final = "licensed"
_LIFTED: Final = "lifted"

_Row = tuple[str, str, TraceKind, bool]


class _Tally:
    """Counts verdicts by file, suite, kind and external effect, and keeps every latency."""

    def __init__(self) -> None:
        self.counts: dict[_Row, Counter[str]] = defaultdict(Counter)
        self.latencies_ms: list[float] = []

    def add(self, call: ReplayedCall) -> None:
        recording, step = call.recording, call.step
        counts = self.counts[call.file, recording.suite, recording.kind(step), step.external]
        counts[call.status] += 1
        if recording.licensed(step):
            counts[f"{_LICENSED}_{call.status}"] += 1
        counts[_LIFTED] += call.revised == "passed"
        self.latencies_ms.append(call.check_ms)

    def report(self) -> dict[str, Any]:
        return {
            "rows": [_row(row, self.counts[row]) for row in sorted(self.counts, key=_order)],
            "latency_ms": {
                "p50": percentile(self.latencies_ms, 0.50),
                "p99": percentile(self.latencies_ms, 0.99),
            },
        }


def _order(row: _Row) -> tuple[str, str, int, bool]:
    file, suite, kind, external = row
    return file, suite, KINDS.index(kind), external


def _row(row: _Row, counts: Counter[str]) -> dict[str, Any]:
    file, suite, kind, external = row
    n = counts["passed"] + counts["held"] + counts["degraded"]
    licensed = sum(counts[f"{_LICENSED}_{status}"] for status in get_args(CheckpointStatus))
    return {
        "file": file,
        "suite": suite,
        "kind": kind,
        "external": external,
        "n": n,
        "passed": counts["passed"],
        "held": counts["held"],
        "degraded": counts["degraded"],
        "held_95": wilson_95(counts["held"], n),
        "licensed": licensed,
        "licensed_passed": counts[f"{_LICENSED}_passed"],
        "lifted": counts[_LIFTED],
    }


async def evaluate_traces(
    files: Sequence[Path], *, revise: bool = False, resources: bool = False
) -> dict[str, Any]:
    """Return the report on `files`: rows of verdict counts, and the latency of the checks.

    A row also has `held_95`, the interval of the held share; `licensed` and `licensed_passed`, the
    calls whose labelled effect the goal asks for (`Recording.licensed`); and, with `revise`,
    `lifted`: held external calls that passed when they were proposed once more, citing the newest
    observation that holds one of their values. With `resources` the calls name what they touch, as
    an adapter resolves it in an empty folder.

    Raises:
        RecordingError: a file or a line cannot be read; nothing was run.
    """
    recordings = await anyio.to_thread.run_sync(read_all, files)
    tally = _Tally()
    with tempfile.TemporaryDirectory(prefix="pmcl-traces-") as directory:
        folder = Path(directory, "folder") if resources else None
        settings = Settings(state_dir=Path(directory, "state"))
        replay = Replay(settings, revise=revise, folder=folder)
        await replay.run(recordings)
    for call in replay.calls:
        tally.add(call)
    return tally.report()


def show_report(report: dict[str, Any]) -> None:
    """Print the report for people."""
    table = Table(title="verdicts on recorded calls", title_justify="left")
    names = (
        *("file", "suite", "kind", "external", "n", "passed", "held", "held_95", "degraded"),
        *("licensed", "licensed_passed", "lifted"),
    )
    for name in names:
        table.add_column(name, justify="right" if name in names[4:] else "left")
    for row in report["rows"]:
        table.add_row(*(_shown(row[name]) for name in names))
    console.print(table)
    latency = report["latency_ms"]
    console.print(f"check latency  p50 {latency['p50']} ms  p99 {latency['p99']} ms")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " to ".join(f"{share:.1%}" for share in value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
