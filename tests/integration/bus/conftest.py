from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from pmcl.bus import Connection, ensure_streams, open_connection
from tests.integration.bus.intake import Connect
from tests.nats_server import NatsServer


@pytest.fixture
async def connect(nats_server: NatsServer, anyio_backend: str) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        async def ready(name: str, **changes: Any) -> Connection:
            config = msgspec.structs.replace(nats_server.connection_config(name), **changes)
            connection = await stack.enter_async_context(open_connection(config))
            await connection.wait_ready(5)
            return connection

        yield ready


@pytest.fixture
async def admin(connect: Connect) -> Connection:
    """The admin's connection, with all streams made."""
    connection = await connect("admin")
    await ensure_streams(connection)
    return connection
