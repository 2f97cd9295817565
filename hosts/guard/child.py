"""The server's process ends with the guard, whatever ends the guard, and gets all of its signals.

It is in a process group of its own, so that what it started ends with it.
"""

import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import Process

from pmcl.hosts.guard.pipes import Pipe

__all__ = ["Child", "open_child"]

_LAUNCH: Final = str(Path(__file__).with_name("launch.py"))
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_GRACE_S: Final = 2.0


class Child:
    """A running server."""

    def __init__(self, process: Process, requests: Pipe, answers: Pipe) -> None:
        self._process = process
        self._requests = requests
        self._answers = answers

    @property
    def requests(self) -> Pipe:
        """Its standard input."""
        return self._requests

    async def receive(self) -> bytes:
        """Return some bytes of its standard output; nothing at the end."""
        return await self._answers.receive()

    async def wait(self) -> int:
        """Return its exit code, as a shell gives it: 128 and the signal when one killed it."""
        code = await self._process.wait()
        return code if code >= 0 else 128 - code

    async def pass_signals(self) -> None:
        """Give it every signal that would end the guard, for ever."""
        with anyio.open_signal_receiver(*_SIGNALS) as signals:
            async for number in signals:
                self.send(number)

    def send(self, number: int) -> None:
        """Send a signal to it and to all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def leave(self) -> None:
        """Be gone, within twice the grace period."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.returncode is not None:
                break
            self.send(number)
            with anyio.move_on_after(_GRACE_S):
                await self._process.wait()
        self.send(signal.SIGKILL)


@asynccontextmanager
async def open_child(command: Sequence[str]) -> AsyncIterator[Child]:
    """Run the server with the guard's own environment and error output."""
    child_in, requests = os.pipe()
    answers, child_out = os.pipe()
    with Pipe(requests) as to_child, Pipe(answers) as from_child:
        try:
            process = await anyio.open_process(
                [sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), *command],
                stdin=child_in,
                stdout=child_out,
                stderr=None,
                start_new_session=True,
            )
        finally:
            os.close(child_in)
            os.close(child_out)
        child = Child(process, to_child, from_child)
        try:
            yield child
        finally:
            with anyio.CancelScope(shield=True):
                await child.leave()
                await process.aclose()
