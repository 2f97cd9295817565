"""A state directory, the nats-server outside of the sidecar, and what a host needs to take part."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import anyio
import anyio.to_thread
import msgspec

from pmcl.bus import Connection, open_connection
from pmcl.contracts import AuthoritySnapshot, Effect, Premortem, Resource, Tool, sha256
from pmcl.hosts import HostConfig, Proposal
from tests.acceptance.processes import PMCL, Child, child
from tests.nats_server import NatsServer

__all__ = ["AUTHORITY", "READY_S", "World", "about", "clean_environment", "deleting", "reading"]

READY_S = 20.0

AUTHORITY = AuthoritySnapshot(
    tools={"*": "grant"},
    effects=dict.fromkeys(get_args(Effect), "grant"),
    writable_roots=("/",),
    network_hosts=("*",),
)


def clean_environment() -> dict[str, str]:
    """Return the environment without anybody's settings; the nats-server to run is kept."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PMCL_") or name == "PMCL_NATS_SERVER"
    }


class World:
    """Hosts `s/a`, `s/b` and `t/a` are registered; nothing runs but the nats-server."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.state_dir = directory / "state"
        self.ledger = self.state_dir / "ledger.sqlite"
        self.server = NatsServer(self.state_dir)
        self.environment = {
            **clean_environment(),
            "PMCL_HEARTBEAT_MS": "500",  # receipts come with it
            "PMCL_LEASE_TTL_MS": "300000",
            "PMCL_LOG_LEVEL": "info",
        }

    def host(self, scope: str = "s", host: str = "a", **changes: Any) -> HostConfig:
        config = HostConfig(
            credentials=self.server.credentials(scope, host),
            authority=AUTHORITY,
            state_dir=self.directory / "hosts",
            sweep_ms=500,
        )
        return msgspec.structs.replace(config, **changes)

    def open_sidecar(
        self, pmcl: Sequence[str] = PMCL, **environment: str
    ) -> AbstractAsyncContextManager[Child]:
        """Start `pmcl up`; it says one line when it is ready."""
        server = self.server
        command = [
            *pmcl, "up", "--json", "--state-dir", str(self.state_dir),
            "--server-url", server.url, "--server-monitor-url", server.monitor_url,
        ]  # fmt: skip
        return child(command, self.directory / "sidecar.err", self.environment | environment)

    @asynccontextmanager
    async def sidecar(self, pmcl: Sequence[str] = PMCL, **environment: str) -> AsyncIterator[Child]:
        """A sidecar that is ready."""
        async with self.open_sidecar(pmcl, **environment) as running:
            with anyio.fail_after(READY_S):
                line = await running.line()
            assert line is not None, running.errors
            assert msgspec.json.decode(line)["ready"]
            yield running

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Connection]:
        async with open_connection(self.server.connection_config("admin")) as admin:
            await admin.wait_ready(READY_S)
            yield admin

    async def restart_server(self) -> None:
        await anyio.to_thread.run_sync(self.server.start)


def about(path: str) -> Resource:
    return Resource(kind="path", value=path, argument="path")


def _tool(name: str) -> Tool:
    return Tool(server="files", name=name, definition_hash=sha256(name.encode()))


def reading(path: str, **changes: Any) -> Proposal:
    """A local inspection: passes without evidence, and goes on when nobody judges."""
    return _proposal("read_file", path, changes)


def deleting(path: str, *shown: str, **changes: Any) -> Proposal:
    """A mutation, mitigated by the evidence that is shown."""
    premortem = Premortem(
        failure_mode="data_loss", likelihood=0.2, mitigation="seen", evidence_ids=shown
    )
    return _proposal("delete_file", path, {"premortem": premortem if shown else None, **changes})


def _proposal(tool: str, path: str, changes: dict[str, Any]) -> Proposal:
    fields: dict[str, Any] = {
        "goal": "keep the folder tidy",
        "tool": _tool(tool),
        "arguments": {"path": path},
        "resources": (about(path),),
    }
    return Proposal(**fields | changes)
