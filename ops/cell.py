"""A cell: one ledger with the workers around it. Everything is put together here and only here.

It is ready when the streams are as they must be, LOG agrees with the journal, and every worker
listens. It drains on the way out: what was taken is committed, journalled and relayed.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
import structlog

from pmcl.bus import (
    Connection,
    EmbeddedServer,
    Identity,
    Keyring,
    ServerConfig,
    check_server,
    ensure_streams,
    open_connection,
    rewind_consumers,
    run_server,
)
from pmcl.contracts import limits
from pmcl.hosts.hooks import built_in_rules
from pmcl.judgement import EffectRules
from pmcl.ledger import LedgerKey, ledger_config
from pmcl.ops.crew import crew_of
from pmcl.ops.criticising import critic_wait_ms
from pmcl.ops.gateway import load_gateway, open_gateway
from pmcl.ops.record.eraser import Eraser
from pmcl.ops.record.folding import fold_tail, take_back
from pmcl.ops.record.unfinished import take_up_replacing
from pmcl.ops.registry import HostRegistry
from pmcl.ops.rules import load_rules
from pmcl.ops.settings import Settings
from pmcl.ops.signals.gauges import Sources
from pmcl.ops.signals.signals import Signals
from pmcl.ops.state_dir import ledger_key, state_folders, use_state_dir
from pmcl.ops.tending import start_tending
from pmcl.outbox import Relay, RelayConfig, journal
from pmcl.store import Writer, open_reader, open_writer
from pmcl.workers import (
    CommitSignal,
    RequestLimits,
    RequestLoop,
    Retaker,
    Units,
)

__all__ = ["Cell", "run_cell"]

log = structlog.get_logger()

_CONNECT_S: Final = 30.0
_DRAIN_S: Final = 5.0


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

    @property
    def stores(self) -> bool:
        """Whether the embedded server can write; of another server nothing is known here."""
        return self._server is None or self._server.stores

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
        await anyio.to_thread.run_sync(take_up_replacing, settings.state_dir)
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
        signals = await stack.enter_async_context(_working(settings, cell, rules, writer))
        gateway = open_gateway(settings, url, registry, rules, signals)
        cell.gateway_url = await stack.enter_async_context(gateway)
        yield cell


def _embedded(server: EmbeddedServer | None) -> EmbeddedServer:
    assert server is not None
    return server


@asynccontextmanager
async def _working(
    settings: Settings, cell: Cell, rules: EffectRules, writer: Writer
) -> AsyncIterator[Signals]:
    async with cell.admin() as admin:
        await ensure_streams(admin)
        await rewind_consumers(admin)
        key = await _caught_up(settings, cell, admin, writer)
    commits = CommitSignal()
    writer.on_commit(commits.notify)
    async with (
        cell.connect("relay") as relaying,
        cell.connect("worker") as working,
        open_reader(settings.ledger_path) as reader,
        anyio.create_task_group() as tasks,
    ):
        relay = Relay(relaying, settings.ledger_path, cell.admin, RelayConfig())
        writer.on_commit(relay.wake)
        await relay.check()
        tasks.start_soon(relay.run)
        sources = Sources(settings, reader, writer, relay, relaying, working, lambda: cell.stores)
        signals = Signals(sources, (await writer.run(journal.head)).sequence)
        units = Units(writer, offer=signals.offer, signals=signals)
        folders = await anyio.to_thread.run_sync(state_folders, settings.state_dir)
        crew = crew_of(settings, cell.registry, (key, rules, folders), units, working)
        requests = RequestLoop(working, units, commits, crew.requests, _limits(settings), signals)
        await requests.serve(tasks)
        start_tending(tasks, working, crew, cell.admin, signals)
        tasks.start_soon(Eraser(settings.ledger_path, writer, units, cell.connect).run)
        try:
            yield signals
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


def _limits(settings: Settings) -> RequestLimits:
    return RequestLimits(
        cell=settings.queue_cell,
        host=settings.queue_host,
        budget_ms=limits.CLIENT_DEADLINE_MS + critic_wait_ms(settings),
    )
