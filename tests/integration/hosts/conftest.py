from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pmcl.bus import (
    Credentials,
    EmbeddedServer,
    Keyring,
    ServerConfig,
    open_connection,
    run_server,
)
from pmcl.bus.streams import ensure_streams
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import HostConfig
from tests.integration.hosts.sidecar import Sidecar


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def keyring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "keys")


@pytest.fixture
def seed(keyring: Keyring) -> str:
    return keyring.add_host("s", "h")


@pytest.fixture
async def server(tmp_path: Path, keyring: Keyring, seed: str) -> AsyncIterator[EmbeddedServer]:
    state_dir = tmp_path / "server"
    state_dir.mkdir()
    async with run_server(ServerConfig(state_dir=state_dir), keyring) as running:
        yield running


@pytest.fixture
async def sidecar(server: EmbeddedServer, keyring: Keyring) -> AsyncIterator[Sidecar]:
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(
            open_connection(keyring.connection_config("admin", server.url))
        )
        await admin.wait_ready(5)
        await ensure_streams(admin)
        worker = await stack.enter_async_context(
            open_connection(keyring.connection_config("worker", server.url))
        )
        await worker.wait_ready(5)
        sidecar = Sidecar(worker, admin)
        await sidecar.serve()
        yield sidecar


@pytest.fixture
def config(server: EmbeddedServer, seed: str, tmp_path: Path) -> HostConfig:
    return HostConfig(
        credentials=Credentials(url=server.url, scope="s", host="h", seed=seed),
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
