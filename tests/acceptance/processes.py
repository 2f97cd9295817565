"""Real processes: each belongs to the test that started it and is gone when the test is over."""

import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from signal import Signals

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

__all__ = ["Child", "Finished", "child", "pmcl"]

_STOP_S = 20.0
_LINE_MAX = 64 * 1024
PMCL = (sys.executable, "-m", "pmcl.ops")


class Finished(msgspec.Struct, frozen=True):
    code: int
    stdout: str
    stderr: str


class Child:
    """A running process; its error output is in a file, its lines are read one by one."""

    def __init__(self, process: Process, errors: Path) -> None:
        assert process.stdout is not None
        self._process = process
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._errors = errors

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    async def line(self) -> str | None:
        """Return the next line of its output, None when it has ended."""
        try:
            return (await self._lines.receive_until(b"\n", _LINE_MAX)).decode()
        except (anyio.EndOfStream, anyio.IncompleteRead):
            return None

    def send(self, number: int) -> None:
        self._process.send_signal(Signals(number))

    async def wait(self) -> int:
        return await self._process.wait()

    async def ends(self, within_s: float = _STOP_S) -> int:
        """Return its exit code; it must end in time."""
        with anyio.fail_after(within_s):
            return await self._process.wait()


@asynccontextmanager
async def child(
    command: Sequence[str], errors: Path, environment: Mapping[str, str]
) -> AsyncIterator[Child]:
    """Run a command; what still runs at the end of the block is killed."""
    with errors.open("ab") as stderr:
        process = await anyio.open_process(
            command, stdin=subprocess.DEVNULL, stderr=stderr, env=environment
        )
    try:
        yield Child(process, errors)
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            await process.aclose()


async def pmcl(
    *arguments: str, environment: Mapping[str, str], within_s: float = _STOP_S
) -> Finished:
    """Run one `pmcl` command to its end."""
    with anyio.fail_after(within_s):
        ran = await anyio.run_process([*PMCL, *arguments], check=False, env=environment)
    return Finished(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
