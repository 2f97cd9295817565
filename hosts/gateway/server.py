"""The gateway runs beside the workers: no request, and no defect of its own, ends what it serves.

Source: SPEC G4.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Final

import anyio
import anyio.to_thread
import structlog
import uvicorn

from pmcl.bus import background_tasks
from pmcl.hosts.gateway.address import Listening, listen
from pmcl.hosts.gateway.application import application
from pmcl.hosts.gateway.config import GatewayConfig
from pmcl.hosts.gateway.defects import where
from pmcl.hosts.gateway.http_server import quiet_server
from pmcl.hosts.gateway.sessions import Sessions
from pmcl.hosts.gateway.shield import Shield

__all__ = ["run_gateway"]

log = structlog.get_logger()

_RETRY_S: Final = 1.0


@asynccontextmanager
async def run_gateway(config: GatewayConfig) -> AsyncIterator[str]:
    """Yield the URL of a gateway that listens; at the end every open dispatch is `unknown`.

    Raises:
        GatewayError: the port is in use, or the kept one cannot be read.
    """
    listening = await anyio.to_thread.run_sync(listen, config)
    port = listening.port.getsockname()[1]
    with closing(listening):
        async with background_tasks() as tasks:
            sessions = Sessions(config, tasks)
            server = quiet_server(Shield(application(config, sessions), config, port))
            stopped = anyio.Event()
            tasks.start_soon(_serve, server, listening, stopped)
            tasks.start_soon(_kept_up, sessions.run)
            try:
                yield listening.url
            finally:
                with anyio.move_on_after(config.close_s, shield=True) as ending:
                    server.should_exit = True
                    await stopped.wait()
                    await sessions.close()
                if ending.cancelled_caught:
                    log.warning("gateway.closed_early")


async def _serve(server: uvicorn.Server, listening: Listening, stopped: anyio.Event) -> None:
    try:
        await server.serve([listening.port, listening.file])
    except Exception as error:  # noqa: BLE001 - the sidecar goes on without the gateway
        log.error("gateway.stopped", **where(error))
    finally:
        stopped.set()


async def _kept_up(run: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await run()
        except Exception as error:  # noqa: BLE001 - the sidecar goes on whatever happens here
            log.error("gateway.failed", **where(error))
        await anyio.sleep(_RETRY_S)
