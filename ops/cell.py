"""A cell: one ledger with the workers around it. Everything is put together here and only here.

It is ready when the streams are as they must be, LOG agrees with the journal, and every worker
listens. It drains on the way out: what was taken is committed, journalled and relayed.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec
import structlog

from pmcl.bus import (
    INTAKE,
    Connection,
    EmbeddedServer,
    Identity,
    Keyring,
    PullConfig,
    ServerConfig,
    StreamMissingError,
    check_server,
    ensure_streams,
    open_connection,
    pull,
    rewind_consumers,
    run_server,
    trim_intake,
)
from pmcl.contracts import BusError, DetectorMissingError
from pmcl.hosts.hooks import built_in_rules
from pmcl.judgement import EffectRules, load_detector
from pmcl.ledger import LedgerKey, ledger_config
from pmcl.ops.gateway import load_gateway, open_gateway
from pmcl.ops.record.eraser import Eraser
from pmcl.ops.record.folding import fold_tail, take_back
from pmcl.ops.registry import HostRegistry
from pmcl.ops.rules import load_rules
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import ledger_key, use_state_dir
from pmcl.outbox import Relay, RelayConfig, journal
from pmcl.store import StoreBusyError, StoreUnavailableError, Writer, open_writer
from pmcl.workers import (
    ApprovalWorker,
    CheckpointWorker,
    CommitSignal,
    ContextWorker,
    LeaseTimes,
    LeaseWorker,
    ObserveWorker,
    OperatorWorker,
    OutcomeWorker,
    RecordWorker,
    RedriveWorker,
    RequestLimits,
    RequestLoop,
    RequestWorker,
    Retaker,
    StopWorker,
    StreamHandler,
    Units,
)

__all__ = ["Cell", "run_cell"]

log = structlog.get_logger()

_CONNECT_S: Final = 30.0
_DRAIN_S: Final = 5.0
_SWEEP_S: Final = 1.0
_RETRY_S: Final = 0.5
_TRIM_S: Final = 60.0


class Cell:
    """A running sidecar."""

    def __init__(
        self, url: str, keyring: Keyring, registry: HostRegistry, server: EmbeddedServer | None
    ) -> None:
        self.url = url
        self._keyring = keyring
        self.registry = registry
        self.gateway_url: str | None = None
        self._server = server

    async def reload(self) -> None:
        """Hosts that were added may connect, hosts that were removed may not."""
        await anyio.to_thread.run_sync(self.registry.load)
        if self._server is not None:
            await self._server.reload()
        log.info("cell.reloaded")

    def admin(self) -> AbstractAsyncContextManager[Connection]:
        """Return a connection, to be entered, that may create and repair streams."""
        return self.connect("admin")

    @asynccontextmanager
    async def connect(self, identity: Identity) -> AsyncIterator[Connection]:
        """Yield a ready connection of one of the sidecar's own identities."""
        async with open_connection(self._keyring.connection_config(identity, self.url)) as opened:
            await opened.wait_ready(_CONNECT_S)
            yield opened


@asynccontextmanager
async def run_cell(settings: Settings) -> AsyncIterator[Cell]:
    """Yield a cell that is ready; it drains and stops with the block.

    Raises:
        StateDirInUseError: another sidecar runs on the state directory.
        StreamConfigError, ServerError: the bus is not fit for the guarantees.
        DivergedError, FoldError: LOG is not the continuation of the ledger.
        LedgerKeyMissingError: the ledger has rows, and its key is gone.
        StoreVersionError: the ledger is of a newer version.
        SettingsError: the rules file does not fit.
        GatewayError: the gateway's port is in use.
    """
    told = await anyio.to_thread.run_sync(load_rules, settings.rules)
    rules = built_in_rules().merged(told)
    async with AsyncExitStack() as stack:
        stack.enter_context(use_state_dir(settings.state_dir))
        await stack.enter_async_context(load_gateway(settings))
        keyring = await anyio.to_thread.run_sync(Keyring, settings.state_dir / "keys")
        registry = HostRegistry(keyring)
        server: EmbeddedServer | None = None
        if settings.server_url is None:
            config = ServerConfig(state_dir=settings.state_dir / "nats")
            server = await stack.enter_async_context(run_server(config, keyring))
        url = settings.server_url or _embedded(server).url
        await check_server(settings.server_monitor_url or _embedded(server).monitor_url)
        cell = Cell(url, keyring, registry, server)
        writer = await stack.enter_async_context(open_writer(ledger_config(settings.ledger_path)))
        working = await stack.enter_async_context(_working(settings, cell, rules, writer))
        gateway = open_gateway(settings, url, registry, rules, lambda: working.ready)
        cell.gateway_url = await stack.enter_async_context(gateway)
        yield cell


def _embedded(server: EmbeddedServer | None) -> EmbeddedServer:
    assert server is not None
    return server


@asynccontextmanager
async def _working(
    settings: Settings, cell: Cell, rules: EffectRules, writer: Writer
) -> AsyncIterator[Connection]:
    async with cell.admin() as admin:
        await ensure_streams(admin)
        await rewind_consumers(admin)
        key = await _caught_up(settings, cell, admin, writer)
    commits = CommitSignal()
    writer.on_commit(commits.notify)
    async with (
        cell.connect("relay") as relaying,
        cell.connect("worker") as working,
        anyio.create_task_group() as tasks,
    ):
        relay = Relay(relaying, settings.ledger_path, cell.admin, RelayConfig())
        writer.on_commit(relay.wake)
        await relay.check()
        tasks.start_soon(relay.run)
        crew = _crew(settings, cell, (key, rules), Units(writer, offer=relay.offer), working)
        requests = RequestLoop(working, crew.units, commits, crew.requests, _limits(settings))
        await requests.serve(tasks)
        for handler in crew.streams:
            tasks.start_soon(_consume, cell, working, handler, settings.stream_slots)
        tasks.start_soon(_load_detector)
        tasks.start_soon(_sweep, crew.units)
        tasks.start_soon(_rewind, cell, working)
        tasks.start_soon(_trim, cell)
        tasks.start_soon(Eraser(settings.ledger_path, writer, crew.units, cell.admin).run)
        try:
            yield working
        finally:
            with anyio.move_on_after(_DRAIN_S, shield=True) as drain:
                await requests.drain()
                await relay.caught_up()
            if drain.cancelled_caught:
                log.warning("cell.not_drained")
            tasks.cancel_scope.cancel()


async def _caught_up(
    settings: Settings, cell: Cell, admin: Connection, writer: Writer
) -> LedgerKey:
    """Return the ledger's key; the ledger has all that LOG has, also if it was an older copy."""
    async with cell.connect("relay") as relaying:
        await fold_tail(relaying, writer, settings.ledger_path)
    head = await writer.run(journal.head)
    make = head.sequence == 0
    key = await anyio.to_thread.run_sync(partial(ledger_key, settings.state_dir, make=make))
    units = Units(writer)
    await take_back(admin, writer, settings.ledger_path, Retaker(key, units), units)
    return key


class _Crew(msgspec.Struct, frozen=True):
    units: Units
    requests: tuple[RequestWorker[Any], ...]
    streams: tuple[StreamHandler, ...]


def _crew(
    settings: Settings,
    cell: Cell,
    judging: tuple[LedgerKey, EffectRules],
    units: Units,
    working: Connection,
) -> _Crew:
    key, rules = judging
    times = LeaseTimes(ttl_ms=settings.lease_ttl_ms, heartbeat_ms=settings.heartbeat_ms)
    reading = (ObserveWorker(key, cell.registry.allowed_trust), OutcomeWorker())
    operators = (
        ApprovalWorker(),
        RecordWorker(),
        RedriveWorker(working, reading),
        StopWorker(),
    )
    return _Crew(
        units=units,
        requests=(
            CheckpointWorker(key, rules),
            ContextWorker(),
            LeaseWorker(key, times),
            OperatorWorker(*operators),
        ),
        streams=tuple(StreamHandler(working, units, worker) for worker in reading),
    )


def _limits(settings: Settings) -> RequestLimits:
    return RequestLimits(cell=settings.queue_cell, host=settings.queue_host)


async def _load_detector() -> None:
    """Load it beside the event loop; without it, what may hold a secret is refused, not passed."""
    try:
        await anyio.to_thread.run_sync(load_detector)
    except DetectorMissingError as missing:
        log.error("cell.detector_missing", error=missing.value)


async def _consume(cell: Cell, working: Connection, handler: StreamHandler, slots: int) -> None:
    """Take from INTAKE for ever; a stream or consumer that went missing is made again."""
    config = PullConfig(stream=INTAKE, durable=handler.worker.name, slots=slots)
    while True:
        try:
            await pull(working, config, handler.handle)
        except StreamMissingError as missing:
            log.warning("cell.stream_missing", durable=config.durable, error=str(missing))
        try:
            async with cell.admin() as admin:
                await ensure_streams(admin)
        except BusError as error:
            log.warning("cell.streams_not_ensured", error=type(error).__name__)
            await anyio.sleep(_RETRY_S)


async def _rewind(cell: Cell, working: Connection) -> None:
    """Have what a lost connection held delivered again at once, and not after the ack wait."""
    while True:
        await working.lost()
        try:
            await working.wait_ready(_CONNECT_S)
            async with cell.admin() as admin:
                await rewind_consumers(admin)
        except BusError as error:
            log.warning("cell.not_rewound", error=type(error).__name__)
            await anyio.sleep(_RETRY_S)


async def _trim(cell: Cell) -> None:
    """Keep room in INTAKE."""
    while True:
        await anyio.sleep(_TRIM_S)
        try:
            async with cell.admin() as admin:
                await trim_intake(admin)
        except BusError as error:
            log.warning("cell.not_trimmed", error=type(error).__name__)


async def _sweep(units: Units) -> None:
    """Do what time alone brings about, once a second."""
    while True:
        await anyio.sleep(_SWEEP_S)
        try:
            while await units.sweep():
                pass
        except (StoreBusyError, StoreUnavailableError) as error:
            log.warning("cell.sweep_postponed", error=type(error).__name__)
