"""The dashboard as a process: in the foreground, or beside `pmcl up`, whose loop it never holds up.

A page may read and count for a while. In the sidecar's own process verdicts would wait for it.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from pmcl.bus import background_tasks
from pmcl.ops.console import console, print_json
from pmcl.ops.dashboard import DashboardError, run_dashboard
from pmcl.ops.settings import Settings

__all__ = ["open_beside", "serve"]

_READY_S: Final = 20.0
_STOP_S: Final = 5.0
_LINK_MAX_BYTES: Final = 4096
_LOOK_S: Final = 1.0


async def serve(settings: Settings, *, as_json: bool, parent: int | None = None) -> None:
    """Run until SIGINT or SIGTERM, or until the parent process is gone.

    Raises:
        DashboardError: the port is in use.
    """
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with background_tasks() as tasks, run_dashboard(settings) as link:
            if as_json:
                print_json({"link": link})
            else:
                console.print(f"pmcl dashboard  {link}", soft_wrap=True, markup=False)
                console.print("Whoever has this link may decide. Ctrl-C ends it.")
            if parent is not None:
                tasks.start_soon(_end_with, parent)
            async for _ in signals:
                break


async def _end_with(parent: int) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody tells
        await anyio.sleep(_LOOK_S)
    signal.raise_signal(signal.SIGTERM)


@asynccontextmanager
async def open_beside(settings: Settings) -> AsyncIterator[str]:
    """Yield the link of a dashboard in a process of its own, which ends with the block.

    Raises:
        DashboardError: it did not start; the reason is on standard error.
    """
    command = [sys.executable, "-m", "pmcl.ops", "dashboard", "--json"]
    command += ["--state-dir", str(settings.state_dir), "--parent", str(os.getpid())]
    process = await anyio.open_process(
        command, stdin=subprocess.DEVNULL, stderr=None, env=_environment(settings)
    )
    try:
        yield await _link(process)
    finally:
        with anyio.move_on_after(_STOP_S, shield=True) as ending:
            if process.returncode is None:
                process.terminate()
            await process.wait()
        if ending.cancelled_caught:
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()


def _environment(settings: Settings) -> dict[str, str]:
    """Return our own environment, with what the command line may have given."""
    given = {
        "PMCL_SERVER_URL": settings.server_url,
        "PMCL_SERVER_MONITOR_URL": settings.server_monitor_url,
        "PMCL_DASHBOARD_PORT": str(settings.dashboard_port),
        "PMCL_LOG_LEVEL": settings.log_level,
    }
    return {**os.environ, **{name: value for name, value in given.items() if value is not None}}


async def _link(process: Process) -> str:
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    try:
        with anyio.fail_after(_READY_S):
            line = await lines.receive_until(b"\n", _LINK_MAX_BYTES)
    except (TimeoutError, anyio.EndOfStream, anyio.IncompleteRead) as error:
        raise DashboardError("dashboard: it did not start beside the sidecar") from error
    return str(json.loads(line)["link"])
