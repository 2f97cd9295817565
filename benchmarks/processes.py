"""Child processes that never outlive the block that started them."""

import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

__all__ = ["peer", "started", "wait_line"]

ROOT = Path(__file__).parents[1]
STOP_S = 10.0
READY_S = 30.0


@asynccontextmanager
async def started(
    command: Sequence[str | Path], *, log: Path, piped: bool = False
) -> AsyncIterator[anyio.abc.Process]:
    """Run a command in the repository's top; it has ended when the block has."""
    with log.open("ab") as errors:
        process = await anyio.open_process(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if piped else errors,
            stderr=errors,
            cwd=ROOT,
        )
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await stop(process)


async def stop(process: anyio.abc.Process) -> None:
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(STOP_S):
            await process.wait()
    if process.returncode is None:
        process.kill()
    await process.aclose()


async def wait_line(process: anyio.abc.Process, word: str) -> str:
    """Return the first line of output that holds `word`."""
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    with anyio.fail_after(READY_S):
        while True:
            line = (await lines.receive_until(b"\n", 65_536)).decode()
            if word in line:
                return line


@asynccontextmanager
async def peer(module: str, *arguments: str | Path, log: Path) -> AsyncIterator[None]:
    """Run `benchmarks.<module>`, the other end of a measurement, and enter when it is ready."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    async with started(command, log=log, piped=True) as process:
        await wait_line(process, "ready")
        yield
