"""`pmcl evaluate traces`: recorded calls go through the real pipeline, as a host would send them.

Profile: every tool and effect granted, root `/`, any network host; the server is the suite; no
claims, no pre-mortem; one scope for each trace. The prompt is a user's observation and the goal,
each output an untrusted observation. A held step has no outcome, but its recorded output is
observed all the same, since the recording went on.
"""

import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

import anyio
import anyio.to_thread
import msgspec
from rich.progress import Progress
from rich.table import Table

from pmcl.bus import Credentials
from pmcl.contracts import (
    AuthoritySnapshot,
    CheckpointStatus,
    Effect,
    ExpectedReceipt,
    Premortem,
    Receipt,
    Tool,
    definition_hash,
    sha256,
)
from pmcl.hosts import Host, HostConfig, Proposal
from pmcl.ops.cell import run_cell
from pmcl.ops.console import console
from pmcl.ops.host_add import register_hosts
from pmcl.ops.intervals import wilson_95
from pmcl.ops.recordings import KINDS, RecordedStep, Recording, TraceKind, read_recordings
from pmcl.ops.settings import Settings

__all__ = ["evaluate_traces", "show_report"]

_AT_ONCE: Final = 8
_HOST: Final = "replay"
_SUMMARY_CHARS: Final = 1000
_RECEIPT: Final = "tool_output"

PROFILE: Final = AuthoritySnapshot(
    tools={"*": "grant"},
    effects=dict.fromkeys(get_args(Effect), "grant"),
    writable_roots=("/",),
    network_hosts=("*",),
)

_LICENSED: Final = "licensed"
_LIFTED: Final = "lifted"

_Row = tuple[str, str, TraceKind, bool]


class _Tally:
    """Counts verdicts by file, suite, kind and external effect, and keeps every latency."""

    def __init__(self) -> None:
        self.counts: dict[_Row, Counter[str]] = defaultdict(Counter)
        self.latencies_ms: list[float] = []

    def add(
        self, row: _Row, status: CheckpointStatus, latency_ms: float, *, licensed: bool
    ) -> None:
        self.counts[row][status] += 1
        if licensed:
            self.counts[row][f"{_LICENSED}_{status}"] += 1
        self.latencies_ms.append(latency_ms)

    def lift(self, row: _Row) -> None:
        self.counts[row][_LIFTED] += 1

    def report(self) -> dict[str, Any]:
        return {
            "rows": [_row(row, self.counts[row]) for row in sorted(self.counts, key=_order)],
            "latency_ms": {
                "p50": _percentile(self.latencies_ms, 0.50),
                "p99": _percentile(self.latencies_ms, 0.99),
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


def _percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile, milliseconds with two decimals; 0 without values."""
    if not values:
        return 0.0
    return round(sorted(values)[math.ceil(share * len(values)) - 1], 2)


async def evaluate_traces(files: Sequence[Path], *, revise: bool = False) -> dict[str, Any]:
    """Return the report on `files`: rows of verdict counts, and the latency of the checks.

    A row also has `held_95`, the interval of the held share; `licensed` and `licensed_passed`, the
    calls whose labelled effect the goal asks for (`Recording.licensed`); and, with `revise`,
    `lifted`: held external calls that passed when they were proposed once more, citing the newest
    observation that holds one of their values.

    Raises:
        RecordingError: a file or a line cannot be read; nothing was run.
    """
    recordings = await anyio.to_thread.run_sync(_read_all, files)
    tally = _Tally()
    with tempfile.TemporaryDirectory(prefix="pmcl-traces-") as directory:
        settings = Settings(state_dir=Path(directory))
        scopes = [f"trace-{number}" for number in range(len(recordings))]
        credentials = await anyio.to_thread.run_sync(register_hosts, settings, scopes, _HOST)
        async with run_cell(settings):
            await _replay_all(
                recordings, credentials, settings.state_dir / "hosts", tally, revise=revise
            )
    return tally.report()


def _read_all(files: Sequence[Path]) -> list[tuple[str, Recording]]:
    return [(path.name, recording) for path in files for recording in read_recordings(path)]


async def _replay_all(
    recordings: Sequence[tuple[str, Recording]],
    credentials: Sequence[Credentials],
    hosts_dir: Path,
    tally: _Tally,
    *,
    revise: bool,
) -> None:
    waiting = iter(list(zip(recordings, credentials, strict=True)))
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("traces", total=len(recordings))

        async def work() -> None:
            for (file, recording), own in waiting:
                config = HostConfig(credentials=own, authority=PROFILE, state_dir=hosts_dir)
                await _replay(file, recording, config, tally, revise=revise)
                progress.advance(task)

        async with anyio.create_task_group() as tasks:
            for _ in range(_AT_ONCE):
                tasks.start_soon(work)


async def _replay(
    file: str, recording: Recording, config: HostConfig, tally: _Tally, *, revise: bool
) -> None:
    async with Host.connect(config) as host:
        prompt = await host.observe(
            source="prompt",
            trust="user",
            summary=recording.prompt[:_SUMMARY_CHARS],
            detail=recording.prompt,
        )
        evidence = [prompt]
        texts = {prompt: recording.prompt}
        for step in recording.steps:
            proposal = _proposal(recording, step, evidence)
            asked = time.perf_counter()
            verdict = await host.check(proposal)
            latency_ms = (time.perf_counter() - asked) * 1000
            row = (file, recording.suite, recording.kind(step), step.external)
            tally.add(row, verdict.status, latency_ms, licensed=recording.licensed(step))
            if revise and step.external and verdict.status == "held":
                revised = await host.check(_revised(proposal, step, texts))
                if revised.status == "passed":
                    tally.lift(row)
            output = _text(step.output)
            evidence.append(
                await host.observe(
                    source=step.tool,
                    trust="tool_output",
                    summary=output[:_SUMMARY_CHARS],
                    detail=output,
                )
            )
            texts[evidence[-1]] = output
            if verdict.status != "held":
                async with host.dispatch(verdict, proposal) as run:
                    if step.error is None:
                        run.succeeded(Receipt(kind=_RECEIPT, digest=sha256(output.encode())))
                    else:
                        run.failed("recorded_error")


def _proposal(recording: Recording, step: RecordedStep, evidence: Sequence[str]) -> Proposal:
    definition = recording.definition(step.tool)
    return Proposal(
        goal=recording.prompt[:4096],
        tool=Tool(
            server=recording.suite,
            name=step.tool,
            definition_hash=definition_hash(definition),
        ),
        definition=definition,
        arguments=step.args,
        expected_receipt=ExpectedReceipt(kind=_RECEIPT),
        evidence_ids=tuple(evidence[-64:]),
    )


def _revised(proposal: Proposal, step: RecordedStep, texts: dict[str, str]) -> Proposal:
    """Return the proposal with what an honest host can add: where its values stand."""
    values = [str(value) for value in step.args.values() if isinstance(value, str | int | float)]
    newest = [
        evidence_id
        for evidence_id, text in reversed(texts.items())
        if any(value and value in text for value in values)
    ]
    return msgspec.structs.replace(
        proposal,
        premortem=Premortem(
            failure_mode="wrong_target",
            likelihood=0.1,
            mitigation="the value was looked up",
            evidence_ids=tuple(newest[:1]),
        ),
    )


def _text(output: Any) -> str:
    return output if isinstance(output, str) else msgspec.json.encode(output).decode()


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
