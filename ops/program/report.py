"""`pmcl evaluate program`: the seven parts of the evaluation as one report of measured figures.

Each part runs over the real bus and a real ledger, in a state directory of its own.
Source: P1, Evaluation Methodology.
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec

from pmcl.hosts import Host, HostConfig
from pmcl.ops.calibration import read_calibration
from pmcl.ops.cell import run_cell
from pmcl.ops.confusion import count_effects
from pmcl.ops.console import console
from pmcl.ops.host_add import register_hosts
from pmcl.ops.program.authority import GRANTS, authority_figures, try_authority, try_ended_leases
from pmcl.ops.program.calibration import calibration_figures
from pmcl.ops.program.continuity import After, continuity_figures, read_after
from pmcl.ops.program.erased import (
    ERASED_SCOPE,
    Erased,
    erased_figures,
    say_and_erase,
    texts_left,
)
from pmcl.ops.program.figure import SECTIONS, Figure
from pmcl.ops.program.guarded import GUARDED_SCOPE, call_through_guard
from pmcl.ops.program.house import open_house
from pmcl.ops.program.kills import WORKED_SCOPE, Killed, work_and_kill
from pmcl.ops.program.mediation import mediation_figures
from pmcl.ops.program.misuse import misuse_verdicts
from pmcl.ops.program.outage import AWAY_SCOPE, GAP_SCOPE, leave_a_gap, stay_away
from pmcl.ops.program.privacy import (
    LEAKY_SCOPE,
    Scan,
    export_said,
    privacy_figures,
    say_secrets,
    scan_files,
)
from pmcl.ops.program.safety import safety_figures
from pmcl.ops.program.tries import Tries
from pmcl.ops.program.utility import utility_figures
from pmcl.ops.program.witness import Witness
from pmcl.ops.replay import PROFILE, Replay, ReplayedCall, read_all
from pmcl.ops.settings import Settings
from pmcl.ops.simulated_host import evaluate_calibration

__all__ = ["ProgramConfig", "evaluate_program", "show_program"]

_GAP_TTL_MS: Final = 1500


class _Recorded(msgspec.Struct, frozen=True):
    """What the recordings gave."""

    calls: list[ReplayedCall]
    witness: Witness
    known: dict[str, Any] | None
    labels: dict[str, dict[str, int]]


class _Kept(msgspec.Struct, frozen=True):
    """What kills and outages gave, and what was found in the files that they left."""

    guarded: dict[str, Tries]
    killed: Killed
    after: After
    over: Tries
    tries: dict[str, Tries]
    starts_ms: list[float]
    scan: Scan
    erased: Erased


class ProgramConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How much is done.

    Attributes:
        calls: of the simulated host.
        items: of the host that is killed while it works.
        seed: of everything that is drawn.
    """

    calls: int = 2000
    items: int = 240
    seed: int = 1


async def evaluate_program(files: Sequence[Path], config: ProgramConfig) -> dict[str, Any]:
    """Return the report: `{"files", "calls", "items", "seed", "took_s", "figures"}`.

    A figure is a `pmcl.ops.program.Figure`. Without files, what they would show is unavailable.

    Raises:
        RecordingError: a file or a line cannot be read; nothing was run.
        PmclError: a part could not be run to its end; no figure stands for it.
    """
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="pmcl-program-") as directory:
        recorded = await _replayed(Path(directory) / "recorded", files)
        misused, tried = await _tried(Path(directory) / "tried")
        trial = await evaluate_calibration(config.calls, config.seed)
        kept = await _kept(Path(directory), config)
        tried["over"] = kept.over
    figures = [
        *mediation_figures(recorded.calls, recorded.witness, misused | kept.guarded),
        *authority_figures(tried),
        *calibration_figures(trial, recorded.known),
        *utility_figures(recorded.calls),
        *safety_figures(recorded.calls, recorded.labels),
        *continuity_figures(kept.killed, kept.after, kept.tries, kept.starts_ms),
        *privacy_figures(kept.scan),
        *erased_figures(kept.erased),
    ]
    return {
        "files": [path.name for path in files],
        **msgspec.structs.asdict(config),
        "took_s": round(time.perf_counter() - began, 1),
        "figures": msgspec.to_builtins(figures),
    }


async def _replayed(state_dir: Path, files: Sequence[Path]) -> _Recorded:
    settings, witness = Settings(state_dir=state_dir), Witness()
    recordings = await anyio.to_thread.run_sync(read_all, files)
    if not recordings:
        return _Recorded([], witness, None, {})
    replay = Replay(settings, revise=True, tools=witness.open)
    await replay.run(recordings)
    known = (await read_calibration(settings))["pooled"]
    labels = (await count_effects(settings, files))["labels"]
    return _Recorded(replay.calls, witness, known, labels)


async def _tried(state_dir: Path) -> tuple[dict[str, Tries], dict[str, Tries]]:
    """Return what misused verdicts and missing authority let run."""
    settings = Settings(state_dir=state_dir)
    scopes = ["misuse", "ended", *(f"grant-{number}" for number in range(len(GRANTS)))]
    misuse, ended, *granted = await anyio.to_thread.run_sync(
        register_hosts, settings, scopes, "program"
    )
    config = HostConfig(credentials=misuse, authority=PROFILE, state_dir=state_dir / "hosts")
    async with run_cell(settings):
        async with Host.connect(config) as host:
            misused = await misuse_verdicts(host)
        tried = await try_authority(settings, granted)
        tried |= await try_ended_leases(settings, ended)
    return misused, tried


async def _kept(directory: Path, config: ProgramConfig) -> _Kept:
    """Return what real processes gave that were killed and started again."""
    scopes = (WORKED_SCOPE, AWAY_SCOPE, LEAKY_SCOPE, GUARDED_SCOPE, ERASED_SCOPE)
    async with open_house(directory / "kept", scopes) as house:
        guarded = await call_through_guard(house)
        before = await say_and_erase(house, config.seed)
        said = await say_secrets(house, config.seed)
        killed = await work_and_kill(house, config.items, config.seed)
        tries = await stay_away(house)
        await export_said(house, said, house.directory / "judged.json")
        await house.kill()
        after = await read_after(house.settings, killed)
        scan = await scan_files(house, config.seed)
        erased = Erased(before=before, left=await texts_left(house, config.seed))
        starts_ms = house.starts_ms
    async with open_house(directory / "gap", (GAP_SCOPE,), _GAP_TTL_MS) as house:
        over, after_gap = await leave_a_gap(house)
        starts_ms += house.starts_ms
    return _Kept(guarded, killed, after, over, tries | after_gap, starts_ms, scan, erased)


def show_program(report: dict[str, Any]) -> None:
    """Print the report for people, section by section."""
    figures = msgspec.convert(report["figures"], list[Figure])
    for section in SECTIONS:
        console.print(f"\n[bold]{section}[/bold]")
        told = ""
        for figure in figures:
            if figure.section == section:
                console.print(_line(figure), markup=False, soft_wrap=True)
                if figure.how != told:
                    console.print(f"    {figure.how}", style="dim", markup=False, soft_wrap=True)
                told = figure.how
    console.print(f"\n{len(figures)} figures in {report['took_s']} s, seed {report['seed']}")


def _line(figure: Figure) -> str:
    if figure.value is None:
        return f"  {figure.name}: unavailable, {figure.unavailable}"
    if figure.interval_95 is None:
        return f"  {figure.name}: {figure.value:.4g} {figure.unit} (n = {figure.n})"
    low, high = figure.interval_95
    shown = f"{figure.value:.1%} ({low:.1%} to {high:.1%})"
    return f"  {figure.name}: {figure.count} of {figure.n}, {shown}"
