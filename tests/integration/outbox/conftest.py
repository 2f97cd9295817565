from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pmcl.bus import Connection, ensure_streams, open_connection
from tests.integration.outbox.pipeline import Pipeline, open_pipeline
from tests.nats_server import NatsServer


@pytest.fixture
async def admin(nats_server: NatsServer, anyio_backend: str) -> AsyncIterator[Connection]:
    async with open_connection(nats_server.connection_config("admin")) as admin:
        await admin.wait_ready(5)
        await ensure_streams(admin)
        yield admin


@pytest.fixture
async def pipeline(
    nats_server: NatsServer, admin: Connection, tmp_path: Path
) -> AsyncIterator[Pipeline]:
    async with open_pipeline(nats_server, tmp_path / "ledger.sqlite", admin) as pipeline:
        yield pipeline
