from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from pmcl.bus import Credentials, ensure_streams, open_connection
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import HostConfig
from pmcl.ops.cell import Cell, run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from tests.integration.awake import awake
from tests.integration.hosts.sidecar import Sidecar
from tests.nats_server import NatsServer

_HOSTS = 120


@pytest.fixture
async def sidecar(nats_server: NatsServer, anyio_backend: str) -> AsyncIterator[Sidecar]:
    async with AsyncExitStack() as stack:
        admin, worker = [
            await stack.enter_async_context(open_connection(nats_server.connection_config(name)))
            for name in ("admin", "worker")
        ]
        await admin.wait_ready(5)
        await worker.wait_ready(5)
        await ensure_streams(admin)
        sidecar = Sidecar(worker, admin)
        await sidecar.serve()
        yield sidecar


@pytest.fixture
def config(nats_server: NatsServer, tmp_path: Path) -> HostConfig:
    return HostConfig(
        credentials=nats_server.credentials("s", "a"),
        authority=AuthoritySnapshot(
            tools={"*": "grant"},
            effects={"inspect_local": "grant", "mutation": "grant"},
            writable_roots=("/",),
        ),
        state_dir=tmp_path / "host",
        deadline_ms=600,
        observe_ms=2_000,
        resend_ms=300,
        sweep_ms=200,
    )


class Neighbours(msgspec.Struct, frozen=True):
    """A running sidecar's ledger, and the keys of hosts that nobody has used."""

    cell: Cell
    ledger: Path
    credentials: Iterator[Credentials]


@pytest.fixture(scope="session")
async def shared_neighbours(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Neighbours]:
    """One sidecar for all tests that only ask it; each is a host in a scope of its own."""
    settings = Settings(state_dir=tmp_path_factory.mktemp("neighbours"))
    credentials = register_hosts(settings, [f"s{number}" for number in range(_HOSTS)], "a")
    async with run_cell(settings) as cell:
        yield Neighbours(cell, settings.ledger_path, iter(credentials))


@pytest.fixture
async def neighbours(shared_neighbours: Neighbours) -> Neighbours:
    """The one sidecar, awake."""
    await awake(shared_neighbours.cell)
    return shared_neighbours


@pytest.fixture
def cell_config(neighbours: Neighbours, tmp_path: Path) -> HostConfig:
    return granted(next(neighbours.credentials), tmp_path)


def granted(credentials: Credentials, directory: Path) -> HostConfig:
    """A host of a real sidecar that may inspect and change files."""
    return HostConfig(
        credentials=credentials,
        authority=AuthoritySnapshot(
            tools={"*": "grant"},
            effects={"inspect_local": "grant", "mutation": "grant"},
            writable_roots=("/",),
        ),
        state_dir=directory / "host",
    )
