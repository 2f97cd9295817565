"""A gateway of a test's own, before a scripted sidecar."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pmcl.hosts.gateway import GatewayConfig, run_gateway
from tests.integration.gateway.wire import Wire
from tests.nats_server import NatsServer

__all__ = ["Configured", "opened"]

Configured = Callable[..., GatewayConfig]


@asynccontextmanager
async def opened(config: GatewayConfig, nats_server: NatsServer) -> AsyncIterator[Wire]:
    """Run it, and call it as host `s/a`."""
    async with run_gateway(config) as url:
        yield Wire(url, nats_server.credentials("s", "a").seed)
