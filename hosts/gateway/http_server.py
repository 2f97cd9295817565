"""An HTTP server as a part of a process: bounded connections, no lines of its own, no signals."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from pmcl.hosts.gateway.connection import HEADER_MAX_BYTES, BoundedProtocol

__all__ = ["quiet_server"]

_KEEP_ALIVE_S: Final = 5
_GRACE_S: Final = 1


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.servers: list[asyncio.Server] = []

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until `should_exit`; however it ends, it listens no more.

        uvicorn leaves its sockets to the loop when an error or a cancellation ends it. Once they
        are closed, the loop would take the next descriptors of their numbers for watched ones, and
        never read from them.
        """
        try:
            await super().serve(sockets)
        finally:
            for each in self.servers:
                each.close()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the process that the server is a part of."""
        yield


def quiet_server(application: ASGIApp) -> uvicorn.Server:
    """Return a server for sockets that listen already; `should_exit` ends it."""
    _silence()
    return _Server(
        uvicorn.Config(
            application,
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
            h11_max_incomplete_event_size=HEADER_MAX_BYTES,
        )
    )


def _silence() -> None:
    """Keep uvicorn's own lines, which have no event name, off standard error."""
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
