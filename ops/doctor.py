"""`pmcl doctor`: whether the sidecar is sound, and every installed hook really blocks."""

import http.client
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio.to_thread
import msgspec
from rich.table import Table

from pmcl.ops.console import console
from pmcl.ops.findings import Finding, State, fine, wrong
from pmcl.ops.health import (
    check_backups,
    check_files,
    check_sidecar,
    check_space,
    check_stop,
    check_versions,
)
from pmcl.ops.hook_checks import check_hooks
from pmcl.ops.settings import Settings

__all__ = ["examine", "show_findings"]

_HEALTH_S: Final = 2.0
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
    yield await anyio.to_thread.run_sync(_gateway, settings)
    for finding in await anyio.to_thread.run_sync(lambda: [*check_hooks(settings, project)]):
        yield finding


def _files(settings: Settings) -> list[Finding]:
    return [
        *check_versions(),
        *check_files(settings),
        *check_space(settings),
        *check_backups(settings),
    ]


def _gateway(settings: Settings) -> Finding:
    """Return whether the gateway that `gateway.json` names answers."""
    path = settings.state_dir / "gateway.json"
    try:
        url = str(json.loads(path.read_bytes())["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return wrong("gateway", f"{path} names no gateway", "start it: pmcl up")
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_HEALTH_S)
    try:
        connection.request("GET", "/v1/health")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        told = f"{url} does not answer: {type(error).__name__}"
        return wrong("gateway", told, "start it: pmcl up")
    finally:
        connection.close()
    if status != http.HTTPStatus.OK:
        return wrong("gateway", f"{url} answers {status}", "see the log of pmcl up")
    return fine("gateway", url)


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
