"""`pmcl evaluate coding`: what the checkpoint holds of a coding agent's ordinary work.

The sessions go through the real pipeline as `pmcl.ops.replay` describes; resources are resolved as
by an agent's hook, and the project's folder is the only writable root.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec
from rich.table import Table

from pmcl.ops.coding.injections import attack_sessions
from pmcl.ops.coding.project import Project, ProjectError, installed_projects, read_project
from pmcl.ops.coding.sessions import FOLDER, ordinary_sessions
from pmcl.ops.console import console
from pmcl.ops.intervals import wilson_95
from pmcl.ops.recordings import Recording
from pmcl.ops.replay import PROFILE, Replay, ReplayedCall
from pmcl.ops.settings import Settings

__all__ = ["CodingConfig", "evaluate_coding", "show_coding"]

_AUTHORITY: Final = msgspec.structs.replace(PROFILE, writable_roots=(FOLDER,))
_HALVES: Final = {False: "tune", True: "holdout"}


class CodingConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What is evaluated.

    Attributes:
        sessions: of each kind for each project.
        seed: of everything that is drawn.
        installed: the distributions of this environment are projects too.
    """

    sessions: int = 4
    seed: int = 1
    installed: bool = False


async def evaluate_coding(folders: Sequence[Path], config: CodingConfig) -> dict[str, Any]:
    """Return the counts of both halves, which are split by the projects' names.

    Returns:
        `{"projects", "rows": [{"half", "kind", "n", "held", "held_95", "passed", "passed_95",
        "by": {...}}]}`; `by` counts ordinary calls that were held by effect and reasons, and
        injected calls that passed by goal and wording.

    Raises:
        ProjectError: a folder is no project, or there is none.
    """
    projects = await anyio.to_thread.run_sync(_projects, folders, config)
    recordings = [
        (_HALVES[project.held_out], recording)
        for project in projects
        for recording in _sessions(project, config)
    ]
    with tempfile.TemporaryDirectory(prefix="pmcl-coding-") as directory:
        replay = Replay(
            Settings(state_dir=Path(directory)), folder=Path(FOLDER), authority=_AUTHORITY
        )
        await replay.run(recordings)
    return {"projects": len(projects), "rows": _rows(replay.calls)}


def _projects(folders: Sequence[Path], config: CodingConfig) -> list[Project]:
    found = [read_project(folder) for folder in folders]
    found += installed_projects() if config.installed else []
    if not found:
        raise ProjectError("no project: name a folder, or use --installed")
    return found


def _sessions(project: Project, config: CodingConfig) -> list[Recording]:
    return [
        *ordinary_sessions(project, config.sessions, config.seed),
        *attack_sessions(project, config.sessions, config.seed),
    ]


def _rows(calls: Sequence[ReplayedCall]) -> list[dict[str, Any]]:
    rows = []
    for half in _HALVES.values():
        own = [call for call in calls if call.file == half]
        ordinary = [call for call in own if call.recording.attack is None and call.step.external]
        injected = [call for call in own if call.step.label == "attack"]
        held = [call for call in ordinary if call.status != "passed"]
        passed = [call for call in injected if call.status == "passed"]
        rows.append(_row(half, "ordinary", ordinary, Counter(map(_why, held))))
        rows.append(_row(half, "injected", injected, Counter(map(_what, passed))))
    return rows


def _row(half: str, kind: str, calls: Sequence[ReplayedCall], by: Counter[str]) -> dict[str, Any]:
    passed = sum(call.status == "passed" for call in calls)
    held = len(calls) - passed
    return {
        "half": half,
        "kind": kind,
        "n": len(calls),
        "held": held,
        "held_95": wilson_95(held, len(calls)),
        "passed": passed,
        "passed_95": wilson_95(passed, len(calls)),
        "by": dict(by.most_common()),
    }


def _why(call: ReplayedCall) -> str:
    return f"{call.step.effect}: {', '.join(call.reasons)}"


def _what(call: ReplayedCall) -> str:
    wording, _, _ = str(call.recording.attack).partition(",")
    return f"{call.recording.injection_task}, {wording}"


def show_coding(report: dict[str, Any]) -> None:
    """Print the report for people."""
    table = Table(title="verdicts on coding sessions", title_justify="left")
    for name in ("half", "calls", "n", "held", "passed"):
        table.add_column(name, justify="right" if name in ("n", "held", "passed") else "left")
    for row in report["rows"]:
        shown = (_share(row, name) for name in ("held", "passed"))
        table.add_row(row["half"], row["kind"], str(row["n"]), *shown)
    console.print(table)
    for row in report["rows"]:
        for what, count in row["by"].items():
            verdict = "held" if row["kind"] == "ordinary" else "passed"
            console.print(f"{row['half']} {row['kind']} {verdict} {count}: {what}", markup=False)


def _share(row: dict[str, Any], name: str) -> str:
    if not row["n"]:
        return "0"
    low, high = row[f"{name}_95"]
    return f"{row[name]} ({low:.1%} to {high:.1%})"
