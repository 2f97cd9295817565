"""`pmcl up` as a process of its own, over its own bus; whoever started it also ends it."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from pmcl.contracts import PmclError

__all__ = ["SidecarError", "clean_environment", "run_sidecar"]

_READY_S: Final = 30.0
_STOP_S: Final = 10.0


class SidecarError(PmclError):
    """The sidecar's process did not become ready."""


def clean_environment() -> dict[str, str]:
    """Return the environment without anybody's settings; the nats-server to run is kept."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PMCL_") or name == "PMCL_NATS_SERVER"
    }


@asynccontextmanager
async def run_sidecar(
    state_dir: Path, environment: Mapping[str, str], errors: Path | None = None
) -> AsyncIterator[Process]:
    """Yield the process once it is ready; it is told to stop at the end, if it still runs.

    Args:
        state_dir: keys, ledger and the embedded server's store.
        environment: all of the process's.
        errors: where its log goes; to our own standard error without it.

    Raises:
        SidecarError: it ended, or was not ready within 30 s.
    """
    command = [sys.executable, "-m", "pmcl.ops", "up", "--json", "--state-dir", str(state_dir)]
    process = await _opened(command, dict(environment), errors)  # uvloop takes no other mapping
    try:
        await _ready(process)
        yield process
    finally:
        with anyio.move_on_after(_STOP_S, shield=True):
            if process.returncode is None:
                process.terminate()
            await process.wait()
        await process.aclose()


async def _opened(command: list[str], environment: dict[str, str], errors: Path | None) -> Process:
    if errors is None:
        return await anyio.open_process(command, stderr=None, env=environment)
    with errors.open("ab") as stderr:
        return await anyio.open_process(
            command, stdin=subprocess.DEVNULL, stderr=stderr, env=environment
        )


async def _ready(process: Process) -> None:
    assert process.stdout is not None
    try:
        with anyio.fail_after(_READY_S):
            await TextReceiveStream(process.stdout).receive()
    except TimeoutError as error:
        raise SidecarError(f"the sidecar was not ready within {_READY_S:.0f} s") from error
    except anyio.EndOfStream as error:
        raise SidecarError("the sidecar ended before it was ready") from error
