from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from pmcl.bus import Connection, ensure_streams, open_connection
from tests.nats_server import NatsServer

Connect = Callable[..., Awaitable[Connection]]


@pytest.fixture
async def connect(nats_server: NatsServer, anyio_backend: str) -> AsyncIterator[Connect]:
    """Gives a ready connection by name; keyword arguments go into its configuration."""
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
