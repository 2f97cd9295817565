"""What nats-py does to itself is a broken connection, and no end of who uses it."""

import anyio
import pytest
from nats.aio.client import Client

from pmcl.bus import open_connection
from pmcl.bus.client import close_client, connect_client
from tests.integration.bus.intake import Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

WITHIN_S = 5.0


def cancel_its_end(client: Client | None) -> None:
    """As a task of nats-py's leaves it that waited for the socket's end and was cancelled."""
    assert client is not None
    writer = client._transport._io_writer  # type: ignore[union-attr]
    writer._protocol._get_close_waiter(writer).cancel()


async def test_who_closes_a_client_is_not_cancelled_by_it(nats_server: NatsServer) -> None:
    config = nats_server.connection_config("s/a")
    client = await connect_client(config, lambda: None, lambda: None)
    assert client is not None
    cancel_its_end(client)
    await close_client(client, WITHIN_S)
    assert client.is_closed


async def test_connection_whose_client_cancels_its_own_end_comes_back(
    connect: Connect, nats_server: NatsServer
) -> None:
    host = await connect("s/a")
    cancel_its_end(host._client)
    nats_server.kill()
    with anyio.fail_after(WITHIN_S):
        await host.lost()
    nats_server.start()
    await host.wait_ready(WITHIN_S)


async def test_connection_that_is_cancelled_ends(nats_server: NatsServer) -> None:
    with anyio.fail_after(WITHIN_S):
        async with open_connection(nats_server.connection_config("s/a")) as host:
            await host.wait_ready(WITHIN_S)
            cancel_its_end(host._client)
