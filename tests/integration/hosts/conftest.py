from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pmcl.bus import Credentials, Keyring, ensure_streams, open_connection
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import HostConfig
from pmcl.ops.cell import run_cell
from pmcl.ops.settings import Settings
from tests.integration.hosts.sidecar import Sidecar
from tests.nats_server import NatsServer


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


@pytest.fixture
async def cell_config(tmp_path: Path, anyio_backend: str) -> AsyncIterator[HostConfig]:
    state_dir = tmp_path / "state"
    seed = Keyring(state_dir / "keys").add_host("s", "a")
    async with run_cell(Settings(state_dir=state_dir)) as cell:
        yield HostConfig(
            credentials=Credentials(url=cell.url, scope="s", host="a", seed=seed),
            authority=AuthoritySnapshot(
                tools={"*": "grant"},
                effects={"inspect_local": "grant", "mutation": "grant"},
                writable_roots=("/",),
            ),
            state_dir=tmp_path / "host",
        )
