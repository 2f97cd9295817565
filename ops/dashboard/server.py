"""The dashboard listens on one loopback port until its block ends; its link is told to its caller.

Source: SPEC H4.
"""

import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Final

import anyio
import uvicorn

from pmcl.bus import background_tasks
from pmcl.contracts import PmclError
from pmcl.hosts.gateway import quiet_server
from pmcl.ops.dashboard.access import Doorkeeper
from pmcl.ops.dashboard.application import Application
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.looking import Lookout
from pmcl.ops.settings import Settings

__all__ = ["DashboardError", "run_dashboard"]

_LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128
_CLOSE_S: Final = 3.0


class DashboardError(PmclError):
    """The dashboard cannot be started."""


@asynccontextmanager
async def run_dashboard(settings: Settings) -> AsyncIterator[str]:
    """Yield the link of a dashboard that listens; whoever has it may decide.

    Raises:
        DashboardError: the port is in use.
    """
    with closing(_listen(settings.dashboard_port)) as listening:
        door = Doorkeeper(listening.getsockname()[1])
        feed = Feed(settings)
        lookout = Lookout(settings, feed)
        server = quiet_server(Application(settings, door, feed, lookout))
        stopped = anyio.Event()
        async with background_tasks() as tasks:
            tasks.start_soon(feed.run)
            tasks.start_soon(lookout.run)
            tasks.start_soon(_serve, server, listening, stopped)
            try:
                yield door.link
            finally:
                feed.close()
                server.should_exit = True
                with anyio.move_on_after(_CLOSE_S, shield=True):
                    await stopped.wait()


async def _serve(server: uvicorn.Server, listening: socket.socket, stopped: anyio.Event) -> None:
    try:
        await server.serve([listening])
    finally:
        stopped.set()


def _listen(port: int) -> socket.socket:
    try:
        listening = socket.create_server((_LOOPBACK, port), backlog=_BACKLOG)
    except OSError as error:
        told = f"dashboard: cannot listen on port {port} of {_LOOPBACK}: {error.strerror}"
        if error.errno == errno.EADDRINUSE:
            told += ": stop what listens there, or choose another dashboard_port"
        raise DashboardError(told) from error
    listening.settimeout(0)
    return listening
