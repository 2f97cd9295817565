"""`pmcl up`: a cell in the foreground until it is told to stop."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from pmcl.ops.cell import run_cell
from pmcl.ops.console import console, print_json
from pmcl.ops.settings import Settings
from pmcl.ops.tracing import export_traces

__all__ = ["up"]


async def up(settings: Settings, *, as_json: bool) -> None:
    """Run until SIGINT or SIGTERM, then drain; SIGHUP loads the hosts again.

    Raises:
        DashboardError: one is wanted and did not start.
        PmclError: as `run_cell`.
    """
    async with (
        _signals() as signals,
        export_traces(),
        run_cell(settings) as cell,
        _dashboard(settings) as dashboard,
    ):
        if as_json:
            told = {"ready": True, "url": cell.url, "gateway": cell.gateway_url, "pid": os.getpid()}
            print_json(told if dashboard is None else {**told, "dashboard": dashboard})
        else:
            urls = "  ".join(url for url in (cell.url, cell.gateway_url) if url is not None)
            console.print(f"pmcl ready  {urls}  {settings.state_dir}", soft_wrap=True)
            if dashboard is not None:
                console.print(f"pmcl dashboard  {dashboard}", soft_wrap=True, markup=False)
        async for number in signals:
            if number != signal.SIGHUP:
                break
            await cell.reload()


@asynccontextmanager
async def _dashboard(settings: Settings) -> AsyncIterator[str | None]:
    if settings.dashboard == "off":
        yield None
        return
    from pmcl.ops.dashboard_process import open_beside

    async with open_beside(settings) as link:
        yield link


@asynccontextmanager
async def _signals() -> AsyncIterator[AsyncIterator[signal.Signals]]:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as received:
        yield received
