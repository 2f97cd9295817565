"""`pmcl status`: what runs, what the ledger holds, and what waits, without disturbing either."""

from typing import Any, Final

import anyio.to_thread
import msgspec
from rich.table import Table

from pmcl.bus import (
    LOG,
    Keyring,
    ServerConfig,
    open_connection,
    prepare_server,
    stream_state,
)
from pmcl.contracts import BusError
from pmcl.hosts import Defects
from pmcl.ops.console import console, shown_time
from pmcl.ops.disks import Disk, find_disks, shown_room
from pmcl.ops.readiness import UnaskedError, ask_readiness, told_defects
from pmcl.ops.record.verified import read_verified
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid
from pmcl.store import Reader, Row, load_queries, open_reader

__all__ = ["Standing", "read_standing", "read_status", "show_status"]

_queries = load_queries("pmcl.ops", "status")
_CONNECT_S: Final = 2.0


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator should see wherever they look.

    Attributes:
        journal: its last number.
        stopped_at, stopped_by: of the stop in force; `None` without one.
    """

    journal: int
    pending_approvals: int
    stopped_at: int | None
    stopped_by: str | None


async def read_standing(reader: Reader) -> Standing:
    """Return how things stand, read in one step."""
    row = await reader.one(_queries.standing)
    assert row is not None
    return Standing(**_named(row))


async def read_status(settings: Settings) -> dict[str, Any]:
    """Return the sidecar's process, its disks, the ledger's counts, and how far LOG has got."""
    pid = running_pid(settings.state_dir)
    status: dict[str, Any] = {"state_dir": str(settings.state_dir), "running": pid is not None}
    status["pid"] = pid
    status["disks"] = await anyio.to_thread.run_sync(_disks, settings)
    if settings.ledger_path.exists():
        async with open_reader(settings.ledger_path) as reader:
            status |= await _ledger(settings, reader)
    if pid is not None:
        status["log"] = await _log(settings)
        status["defects"] = await anyio.to_thread.run_sync(_defects, settings)
    return status


def _disks(settings: Settings) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(disk) for disk in find_disks(settings)]


async def _ledger(settings: Settings, reader: Reader) -> dict[str, Any]:
    """Return what the ledger counts, the stop in force, and when the record was verified."""
    counts = await reader.one(_queries.counts)
    stopped = await reader.one(_queries.stopped)
    verified = await read_verified(settings, reader)
    assert counts is not None
    return {
        "ledger": _named(counts),
        "stopped": None if stopped is None else _named(stopped),
        "verified": msgspec.to_builtins(verified),
    }


def _defects(settings: Settings) -> dict[str, Any] | None:
    """Return what the running sidecar met of defects; `None` where its gateway tells nothing."""
    try:
        _, readiness = ask_readiness(settings)
    except UnaskedError:
        return None
    told: dict[str, Any] = msgspec.to_builtins(readiness.defects)
    return told


def _named(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys()}  # noqa: SIM118 - a Row is no mapping


async def _log(settings: Settings) -> dict[str, int] | None:
    keyring = Keyring(settings.state_dir / "keys")
    ports = prepare_server(ServerConfig(state_dir=settings.state_dir / "nats"), keyring)
    url = settings.server_url or ports.url
    try:
        async with open_connection(keyring.connection_config("relay", url)) as connection:
            await connection.wait_ready(_CONNECT_S)
            state = await stream_state(connection, LOG)
    except BusError:
        return None
    return None if state is None else {"last": state.last, "messages": state.messages}


def show_status(status: dict[str, Any]) -> None:
    """Print a status for people."""
    running = f"running, process {status['pid']}" if status["running"] else "not running"
    console.print(f"sidecar     {running}")
    console.print(f"state       {status['state_dir']}", soft_wrap=True)
    for disk in msgspec.convert(status["disks"], list[Disk]):
        if disk.scarce:
            told = f"{shown_room(disk)}: a full disk holds everything but inspections"
            console.print(f"room        {told}", style="bold red", soft_wrap=True)
    told = told_defects(msgspec.convert(status.get("defects") or {}, Defects))
    if told:
        console.print(f"defects     {told}: pmcl doctor", style="bold red", soft_wrap=True)
    ledger = status.get("ledger")
    if ledger is None:
        console.print("ledger      none yet")
        return
    if (stopped := status["stopped"]) is not None:
        since = f"since {shown_time(stopped['since'])} by {stopped['by']}"
        told = f"{since}: only local inspections go on until `pmcl resume`"
        console.print(f"stopped     {told}", style="bold red", soft_wrap=True)
    _show_verified(status["verified"], ledger["journal"])
    log = status.get("log")
    behind = "unknown" if log is None else str(ledger["journal"] - log["last"])
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, count in ledger.items():
        table.add_row(name.replace("_", " "), str(count))
    table.add_row("waiting for LOG", behind)
    console.print(table)


def _show_verified(verified: dict[str, Any] | None, rows: int) -> None:
    """Print when the record was verified last; what speaks against it stands out."""
    if verified is None:
        console.print("record      never verified: pmcl audit verify")
        return
    at = shown_time(verified["at"])
    if not verified["sound"]:
        told = f"broken, found {at}: pmcl audit verify says where"
    elif not verified["same"]:
        told = (
            f"row {verified['rows']} is another than when it was verified {at}: pmcl audit verify"
        )
    else:
        since = rows - verified["rows"]
        console.print(f"record      verified {at}, sound, {since} rows since")
        return
    console.print(f"record      {told}", style="bold red", soft_wrap=True)
