"""A state directory whose sidecar is started and stopped by the test, with one host at work."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import msgspec

from pmcl.bus import (
    LOG,
    Connection,
    Credentials,
    Identity,
    Keyring,
    LogRow,
    ServerConfig,
    append_batch,
    open_connection,
    prepare_server,
    recreate_log,
    run_server,
)
from pmcl.hosts import Host, HostConfig
from pmcl.ops.cell import Cell, run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.outbox import journal
from pmcl.outbox.journal import GENESIS, chain_hash
from pmcl.store import open_reader
from tests.acceptance.world import AUTHORITY, about, deleting, reading

WITHIN_S = 20.0


class Office:
    """Nothing runs but what a test starts."""

    def __init__(self, directory: Path, credentials: Credentials | None = None) -> None:
        self.directory = directory
        self.settings = Settings(state_dir=directory / "state")
        if credentials is None:
            (credentials,) = register_hosts(self.settings, ["s"], "a")
        self.credentials = credentials

    def copied_to(self, directory: Path) -> "Office":
        """Return the same elsewhere, with ports of its own; no sidecar runs."""
        shutil.copytree(self.directory, directory, dirs_exist_ok=True)
        state_dir = directory / "state"
        for kept in ("nats/ports.json", "gateway.json"):
            (state_dir / kept).unlink()
        ports = prepare_server(
            ServerConfig(state_dir=state_dir / "nats"), Keyring(state_dir / "keys")
        )
        return Office(directory, msgspec.structs.replace(self.credentials, url=ports.url))

    @property
    def ledger(self) -> Path:
        return self.settings.ledger_path

    def sidecar(self) -> AbstractAsyncContextManager[Cell]:
        return run_cell(self.settings)

    @asynccontextmanager
    async def bus(self, *identities: Identity) -> AsyncIterator[list[Connection]]:
        """The embedded server alone, with a connection of each identity."""
        keyring = Keyring(self.settings.state_dir / "keys")
        config = ServerConfig(state_dir=self.settings.state_dir / "nats")
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(run_server(config, keyring))
            opened = [
                await stack.enter_async_context(
                    open_connection(keyring.connection_config(identity, server.url))
                )
                for identity in identities
            ]
            for connection in opened:
                await connection.wait_ready(WITHIN_S)
            yield opened

    @asynccontextmanager
    async def host(
        self, credentials: Credentials | None = None, **changes: Any
    ) -> AsyncIterator[Host]:
        config = HostConfig(
            credentials=credentials or self.credentials,
            authority=AUTHORITY,
            state_dir=self.directory / "hosts",
            close_ms=2000,
        )
        async with Host.connect(msgspec.structs.replace(config, **changes)) as host:
            yield host

    async def work(self, observations: int = 20) -> list[str]:
        """Leave evidence, a hold, its release, outcomes; return the evidence ids."""
        async with self.host() as host:
            seen = await host.observe_many(
                [
                    {"source": "ls", "summary": f"entry {n}", "resources": (about(f"/work/{n}"),)}
                    for n in range(observations)
                ]
            )
            assert (await host.check(deleting("/work/0"))).status == "held"
            proposal = deleting("/work/0", seen[0])
            verdict = await host.check(proposal)
            async with host.dispatch(verdict, proposal):
                pass
            proposal = reading("/work/1")
            async with host.dispatch(await host.check(proposal), proposal):
                pass
        await self.until("SELECT 1 WHERE (SELECT count(*) FROM outcomes) >= 2")
        return seen

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        async with open_reader(self.ledger) as reader:
            found = await reader.all(sql, **params)
        return [{name: row[name] for name in row.keys()} for row in found]  # noqa: SIM118

    async def until(self, sql: str) -> None:
        """Return once the query has a row."""
        with anyio.fail_after(WITHIN_S):
            while not await self.rows(sql):  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.005)

    def tamper(self, sql: str, *params: Any) -> None:
        """Change the ledger's file as somebody with the disk can; no sidecar runs."""
        with closing(sqlite3.connect(self.ledger)) as database:
            changed = database.execute(sql, params).rowcount
            assert changed > 0
            database.commit()

    async def log_ends_at(self, last: int) -> None:
        """Let LOG lack what comes behind a row; no sidecar runs."""
        async with self.bus("admin", "relay") as (admin, relay), open_reader(self.ledger) as reader:
            rows = [
                LogRow(row.subject, row.body, row.hash)
                for row in await journal.read(reader, 0, max_rows=last)
            ]
            await recreate_log(admin, 1)
            await append_batch(relay, LOG, rows, 0, WITHIN_S)

    def copy(self) -> Path:
        """Return a copy of the ledger as it is now, whoever writes it."""
        path = self.directory / f"copy-{len(list(self.directory.glob('copy-*')))}.sqlite"
        with closing(sqlite3.connect(self.ledger)) as database:
            database.execute("VACUUM INTO ?", (str(path),))
        return path

    def put_back(self, copy: Path) -> None:
        """Replace the ledger by a copy; no sidecar runs."""
        for suffix in ("-wal", "-shm"):
            self.ledger.with_name(self.ledger.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(copy, self.ledger)

    def rewrite_chain(self) -> None:
        """Give every row of the journal the hash that its neighbours ask for."""
        before = GENESIS
        with closing(sqlite3.connect(self.ledger)) as database:
            rows = database.execute("SELECT sequence, subject, body FROM journal ORDER BY sequence")
            for sequence, subject, body in rows.fetchall():
                before = chain_hash(before, subject, body)
                changed = (before, sequence)
                database.execute("UPDATE journal SET hash = ? WHERE sequence = ?", changed)
            database.commit()
