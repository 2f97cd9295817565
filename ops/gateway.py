"""The gateway as a part of `pmcl up`: loaded beside the rest, since it takes a while to import."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread

from pmcl.bus import background_tasks
from pmcl.judgement import EffectRules
from pmcl.ops.known_hosts import find_host
from pmcl.ops.registry import HostRegistry
from pmcl.ops.settings import Settings
from pmcl.ops.signals.signals import Signals

__all__ = ["load_gateway", "open_gateway"]


@asynccontextmanager
async def load_gateway(settings: Settings) -> AsyncIterator[None]:
    """Import what the gateway needs while the block runs."""
    async with background_tasks() as tasks:
        if settings.gateway != "off":
            tasks.start_soon(anyio.to_thread.run_sync, _load)
        yield


@asynccontextmanager
async def open_gateway(
    settings: Settings,
    url: str,
    registry: HostRegistry,
    rules: EffectRules,
    signals: Signals,
) -> AsyncIterator[str | None]:
    """Yield the URL of the gateway that listens, `None` where the settings want none.

    Raises:
        GatewayError: the port is in use, or the kept one cannot be read.
    """
    if settings.gateway == "off":
        yield None
        return
    await anyio.to_thread.run_sync(_load)
    from pmcl.hosts.gateway import GatewayConfig, run_gateway

    config = GatewayConfig(
        url=url,
        state_dir=settings.state_dir,
        find_host=registry.find,
        load_profile=lambda known: find_host(settings, f"{known.scope}/{known.host}"),
        parts=signals.parts,
        defects=signals.defects,
        metrics=signals.metrics,
        serves_hosts=settings.gateway == "on",
        port=settings.gateway_port,
        rules=rules,
    )
    async with run_gateway(config) as gateway_url:
        yield gateway_url


def _load() -> None:
    import pmcl.hosts.gateway  # noqa: F401 - only loaded
