"""`pmcl doctor`: whether the sidecar is sound, and every installed hook really blocks."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec
from rich.table import Table

from pmcl.ops.console import console
from pmcl.ops.findings import Finding, State
from pmcl.ops.health import (
    check_backups,
    check_files,
    check_sidecar,
    check_space,
    check_stop,
    check_versions,
)
from pmcl.ops.hook_checks import check_hooks
from pmcl.ops.readiness import check_gateway
from pmcl.ops.settings import Settings

__all__ = ["examine", "show_findings"]

_STYLES: Final[dict[State, str]] = {"ok": "green", "unknown": "yellow", "wrong": "red"}


async def examine(settings: Settings, project: Path) -> dict[str, Any]:
    """Return all findings, and whether none of them is wrong.

    `project` is the folder whose settings are looked at beside the user's.
    """
    findings = [finding async for finding in _findings(settings, project)]
    return {
        "ok": all(finding.state != "wrong" for finding in findings),
        "findings": [msgspec.to_builtins(finding) for finding in findings],
    }


async def _findings(settings: Settings, project: Path) -> AsyncIterator[Finding]:
    for finding in await anyio.to_thread.run_sync(_files, settings):
        yield finding
    async for finding in check_stop(settings):
        yield finding
    async for finding in check_sidecar(settings):
        yield finding
    for finding in await anyio.to_thread.run_sync(lambda: [*check_hooks(settings, project)]):
        yield finding
    for finding in await anyio.to_thread.run_sync(lambda: [*check_gateway(settings)]):
        yield finding  # behind the hooks, whose calls it has served by now


def _files(settings: Settings) -> list[Finding]:
    return [
        *check_versions(),
        *check_files(settings),
        *check_space(settings),
        *check_backups(settings),
    ]


def show_findings(report: dict[str, Any]) -> None:
    """Print the findings for people, what to do below each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in report["findings"]:
        state: State = finding["state"]
        told = "\n".join(filter(None, (finding["told"], finding["remedy"] and _do(finding))))
        table.add_row(f"[{_STYLES[state]}]{state}[/]", finding["check"], _plain(told))
    console.print(table)
    console.print("all is well" if report["ok"] else "something is wrong")


def _do(finding: dict[str, Any]) -> str:
    return f"→ {finding['remedy']}"


def _plain(text: str) -> str:
    return text.replace("[", "\\[")
