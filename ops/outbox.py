"""`pmcl outbox`: what is committed and not yet told, on the ledger's side and on the hosts'.

Replaying sends again what waits, and nothing else: LOG takes each row at its own number only, the
inbox each message once, and a host's row goes when the ledger has it.
"""

from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from pmcl.bus import LOG, Connection, stream_state
from pmcl.contracts import BusError, PmclError, Received
from pmcl.hosts import HostConfig, Receipts, resend
from pmcl.ops.console import console, shown_time, shown_whole
from pmcl.ops.known_hosts import HostNotFoundError, find_host
from pmcl.ops.reach import check_ledger, reach_bus
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid
from pmcl.outbox import OpenAdmin, Relay, RelayConfig, inbox, journal
from pmcl.store import Reader, load_queries, open_reader

__all__ = [
    "HostOutbox",
    "OutboxReport",
    "list_outboxes",
    "replay_outboxes",
    "show_outboxes",
    "show_replayed",
]

_queries = load_queries("pmcl.ops", "outbox")
_CLAIMS_MAX: Final = 64
_SETTLE_S: Final = 10.0
_LOOK_S: Final = 0.05


class OpenClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was dispatched and has no outcome yet."""

    id: str
    kind: str
    call_id: str
    claimed_at: int
    expires_at: int


class HostOutbox(msgspec.Struct, frozen=True, kw_only=True):
    """One host's file on this machine.

    Attributes:
        rows: outcomes, audit receipts and voids that the ledger has not receipted.
        unsent: of these, how many no stream has acknowledged.
        parked: outcomes and audit receipts that an operator has set aside.
        open_claims: calls under way, or left by a process that died.
        sent, receipted: by a replay: what it has sent, and what the ledger then had.
        error: why nothing could be sent for this host.
    """

    host: str
    file: str
    rows: int
    bytes: int
    unsent: int
    parked: int
    open_claims: int
    claims: tuple[OpenClaim, ...] = ()
    sent: int = 0
    receipted: int = 0
    error: str | None = None


class OutboxReport(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides.

    Attributes:
        journal: rows of the ledger's journal.
        waiting: of these, how many LOG does not have; `None` when LOG cannot be asked.
    """

    journal: int
    waiting: int | None
    hosts: tuple[HostOutbox, ...]


async def list_outboxes(settings: Settings) -> OutboxReport:
    """Return what waits; nothing is changed.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    try:
        async with reach_bus(settings, "relay") as connection:
            last: int | None = await _log_last(connection)
    except BusError:
        last = None
    async with open_reader(settings.ledger_path) as reader:
        head = await journal.last(reader)
    hosts = [await _read(path) for path in await _files(settings)]
    return OutboxReport(
        journal=head.sequence,
        waiting=None if last is None else max(0, head.sequence - last),
        hosts=tuple(hosts),
    )


async def replay_outboxes(settings: Settings, host: str | None = None) -> OutboxReport:
    """Send again what waits, and return what is left.

    Args:
        settings: name the ledger and its server.
        host: `scope/name`, whose file alone is sent again.

    Raises:
        LedgerError: there is no ledger.
        HostNotFoundError: the host has no file here.
        BusError: the server does not answer.
    """
    check_ledger(settings)
    files = [path for path in await _files(settings) if host in (None, _host_of(path))]
    if host is not None and not files:
        raise HostNotFoundError(f"host {host!r} has no file in {settings.state_dir / 'hosts'}")
    idle = settings.server_url is None and running_pid(settings.state_dir) is None
    async with reach_bus(settings, "relay") as relaying:
        sent = [await _send(settings, path, idle=idle) for path in files]
        if host is None:
            await _relay(settings, relaying, idle=idle)
        found = await list_outboxes(settings)
    return msgspec.structs.replace(found, hosts=tuple(sent))


async def _relay(settings: Settings, relaying: Connection, *, idle: bool) -> None:
    """LOG has every row of the journal; a running sidecar's own relay sees to that."""
    with anyio.move_on_after(_SETTLE_S):
        if not idle:
            async with open_reader(settings.ledger_path) as reader:
                head = (await journal.last(reader)).sequence
            while (await _log_last(relaying)) < head:  # noqa: ASYNC110 - another process's
                await anyio.sleep(_LOOK_S)
            return
        relay = Relay(relaying, settings.ledger_path, _admin_of(settings), RelayConfig())
        await relay.check()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relay.run)
            await relay.caught_up()
            tasks.cancel_scope.cancel()


def _admin_of(settings: Settings) -> OpenAdmin:
    return lambda: reach_bus(settings, "admin")


async def _log_last(connection: Connection) -> int:
    state = await stream_state(connection, LOG)
    return 0 if state is None else state.last


async def _send(settings: Settings, path: Path, *, idle: bool) -> HostOutbox:
    """Send one host's file again; without the sidecar, INTAKE keeps what was sent."""
    sent = receipted = 0
    error: str | None = None
    try:
        config = find_host(settings, _host_of(path))
        async with open_reader(settings.ledger_path) as reader:
            receipts = None if idle else _receipts(reader, config)
            sent, receipted = await resend(config, receipts)
    except PmclError as failed:
        error = str(failed)
    return msgspec.structs.replace(await _read(path), sent=sent, receipted=receipted, error=error)


def _receipts(reader: Reader, config: HostConfig) -> Receipts:
    scope, host = config.credentials.scope, config.credentials.host

    async def receipts(epoch: str) -> Received:
        return await inbox.read_received(reader, scope, host, epoch)

    return receipts


async def _files(settings: Settings) -> list[Path]:
    found = await anyio.to_thread.run_sync(
        lambda: sorted((settings.state_dir / "hosts").glob("*.*.sqlite"))
    )
    return list(found)


def _host_of(path: Path) -> str:
    return path.stem.replace(".", "/", 1)


async def _read(path: Path) -> HostOutbox:
    async with open_reader(path) as reader:
        state = await reader.one(_queries.state)
        unsent = await reader.one(_queries.unsent)
        parked = await reader.one(_queries.parked)
        claims = await reader.all(_queries.claims, max_rows=_CLAIMS_MAX)
    assert unsent is not None
    assert parked is not None
    rows, size, open_claims = (
        (0, 0, 0)
        if state is None
        else (state["outbox_rows"], state["outbox_bytes"], state["open_claims"])
    )
    return HostOutbox(
        host=_host_of(path),
        file=str(path),
        rows=rows,
        bytes=size,
        unsent=unsent["unsent"],
        parked=parked["parked"],
        open_claims=open_claims,
        claims=tuple(
            OpenClaim(**{name: row[name] for name in OpenClaim.__struct_fields__}) for row in claims
        ),
    )


def show_outboxes(report: OutboxReport) -> None:
    """Print for people what waits on both sides."""
    waiting = "unknown, the server does not answer" if report.waiting is None else report.waiting
    console.print(f"journal  {report.journal} rows, waiting for LOG: {waiting}", soft_wrap=True)
    if not report.hosts:
        console.print("hosts    none on this machine")
        return
    names = ("host", "rows", "unsent", "parked", "bytes", "open claims", "oldest claim")
    rows = []
    for host in report.hosts:
        oldest = shown_time(host.claims[0].claimed_at) if host.claims else ""
        numbers = (host.rows, host.unsent, host.parked, host.bytes, host.open_claims)
        rows.append((host.host, *map(str, numbers), oldest))
    print_rows(names, rows)


def show_replayed(report: OutboxReport) -> None:
    """Print for people what a replay has sent, and what is left."""
    for host in report.hosts:
        told = f"{host.sent} sent, {host.receipted} of them in the ledger, {host.rows} left"
        failed = "" if host.error is None else f": {shown_whole(host.error)}"
        console.print(f"{host.host}  {told}{failed}", soft_wrap=True, markup=False)
    show_outboxes(report)
