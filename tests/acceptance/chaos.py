"""Hosts, sidecar and nats-server run, are killed with -9 at random, and are started again.

Whoever was not killed must live: a host, or a sidecar that was ready, that ends by itself fails.
"""

import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio

from tests.acceptance.facts import until
from tests.acceptance.host_driver import Job, save_job
from tests.acceptance.processes import Child, child
from tests.acceptance.world import World

__all__ = ["KINDS", "Chaos"]

KINDS = ("host", "sidecar", "server")
_DOWN_MAX_S = 1.0
_WORK_S = 90.0
_DRIVER = Path(__file__).with_name("host_driver.py")


class Part:
    """A process that is started again each time it was killed, until it ends with 0."""

    def __init__(
        self,
        start: Callable[[], AbstractAsyncContextManager[Child]],
        rest: Callable[[], float],
        *,
        may_fail_to_start: bool,
    ) -> None:
        self.kills = 0
        self.finished = anyio.Event()
        self._start = start
        self._rest = rest
        self._may_fail_to_start = may_fail_to_start
        self._child: Child | None = None
        self._doomed = False

    async def run(self) -> None:
        while not self.finished.is_set():
            self._doomed = False
            async with self._start() as self._child:
                ready = await self._child.line() is not None
                code = await self._child.wait()
                self._judge(code, ready=ready, errors=self._child.errors)
            self._child = None
            await anyio.sleep(self._rest())

    def _judge(self, code: int, *, ready: bool, errors: str) -> None:
        if code == 0:
            self.finished.set()
        elif self._doomed and code == -signal.SIGKILL:
            self.kills += 1
        else:
            assert self._may_fail_to_start, errors[-4000:]
            assert not ready, errors[-4000:]

    def send(self, number: int) -> bool:
        """Return whether there was a process to get the signal."""
        if self._child is None or self._doomed or self.finished.is_set():
            return False
        self._doomed = number == signal.SIGKILL
        self._child.send(number)
        return True


class Chaos:
    """Runs the jobs of several hosts to their end, in a world that is killed again and again."""

    def __init__(self, world: World, jobs: list[Job], seed: int) -> None:
        self._world = world
        self._jobs = jobs
        self._random = random.Random(seed)
        self._sidecar = Part(world.open_sidecar, self._rest, may_fail_to_start=True)
        self._hosts = [
            Part(self._host_starter(job), self._rest, may_fail_to_start=False) for job in jobs
        ]
        self._server_up = anyio.Semaphore(1)
        self._server_kills = 0

    @property
    def kills(self) -> Counter[str]:
        """How many of each kind were killed."""
        hosts = sum(host.kills for host in self._hosts)
        return Counter(host=hosts, sidecar=self._sidecar.kills, server=self._server_kills)

    async def run(self, order: list[str]) -> None:
        """Kill in this order while the hosts work; then the sidecar drains, and the server runs."""
        total = sum(len(job.plan()) for job in self._jobs)
        moments = sorted(self._random.uniform(0.02, 0.85) for _ in order)
        with anyio.fail_after(_WORK_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._sidecar.run)
                for host in self._hosts:
                    tasks.start_soon(host.run)
                for kind, share in zip(order, moments, strict=True):
                    await self._progress(int(total * share))
                    await self._kill(kind, tasks)
                for host in self._hosts:
                    await host.finished.wait()
                await until(self._stop)
                await self._sidecar.finished.wait()

    def _rest(self) -> float:
        return self._random.uniform(0.0, _DOWN_MAX_S)

    def _host_starter(self, job: Job) -> Callable[[], AbstractAsyncContextManager[Child]]:
        path = job.records.with_suffix(".job")
        save_job(job, path)
        command = [sys.executable, str(_DRIVER), str(path)]
        errors = job.records.with_suffix(".err")
        return lambda: child(command, errors, self._world.environment)

    async def _progress(self, items: int) -> None:
        async def reached() -> bool:
            return sum(_finished(job.records) for job in self._jobs) >= items

        await until(reached, within_s=_WORK_S)

    async def _kill(self, kind: str, tasks: anyio.abc.TaskGroup) -> None:
        if kind == "server":
            await self._server_up.acquire()
            self._world.server.kill()
            self._server_kills += 1
            tasks.start_soon(self._start_server)
            return
        parts = [self._sidecar] if kind == "sidecar" else self._hosts

        async def killed() -> bool:
            return self._random.choice(parts).send(signal.SIGKILL)

        await until(killed)

    async def _start_server(self) -> None:
        await anyio.sleep(self._rest())
        await self._world.restart_server()
        self._server_up.release()

    async def _stop(self) -> bool:
        return self._sidecar.send(signal.SIGINT)


def _finished(records: Path) -> int:
    return records.read_bytes().count(b'"finished"') if records.exists() else 0
