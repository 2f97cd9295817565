"""A host and a sidecar are killed with SIGKILL while they work, and started again.

Source: P1, Evaluation Methodology, continuity; DESIGN section 3.
"""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

import anyio
import msgspec
from anyio.abc import Process

from pmcl.contracts import PmclError
from pmcl.hosts import Host
from pmcl.ops.program.house import House
from pmcl.ops.program.worked_host import Job

__all__ = ["WORKED_SCOPE", "Killed", "work_and_kill"]

_KILLS: Final = 3
"""Of the host, and of the sidecar."""
_WITHIN_S: Final = 120.0
_POLL_S: Final = 0.02
WORKED_SCOPE: Final = "worked"


class UnfinishedError(PmclError):
    """The working host did not come to its end."""


class Killed(msgspec.Struct, frozen=True):
    """What is to be looked at after the kills: the host's records, and how many there were."""

    job: Job
    host_kills: int
    sidecar_kills: int


async def work_and_kill(house: House, items: int, seed: int) -> Killed:
    """Return when the host has finished its items, whatever was killed on the way.

    Raises:
        UnfinishedError: it ended by itself, or took longer than two minutes.
    """
    config = house.host(WORKED_SCOPE)
    job = Job(config, house.directory / "worked.records", items)
    order = ["host", "sidecar"] * _KILLS
    Random(seed).shuffle(order)  # noqa: S311 - an order that can be repeated
    try:
        with anyio.fail_after(_WITHIN_S):
            await _kill_each(house, job, order)
    except TimeoutError as error:
        raise UnfinishedError(f"{items} items were not done within {_WITHIN_S:.0f} s") from error
    async with Host.connect(config):
        await house.settled(config)
    return Killed(job, order.count("host"), order.count("sidecar"))


async def _kill_each(house: House, job: Job, order: list[str]) -> None:
    """Kill in this order, at even shares of the work; then let the host finish."""
    left = list(enumerate(order, start=1))
    while True:
        async with _host(house, job) as process:
            while left and left[0][1] == "sidecar":
                await _finished(job, left.pop(0)[0], len(order), process)
                await house.kill()
                await house.start()
            if not left:
                code = await process.wait()
                if code != 0:
                    raise UnfinishedError(f"the working host ended with code {code}")
                return
            await _finished(job, left.pop(0)[0], len(order), process)
            process.kill()


@asynccontextmanager
async def _host(house: House, job: Job) -> AsyncIterator[Process]:
    """Run the working host; its job goes in on its standard input, since it holds a key."""
    command = [sys.executable, "-m", "pmcl.ops.program.worked_host"]
    with (house.directory / "worked.log").open("ab") as errors:
        process = await anyio.open_process(
            command, stdout=subprocess.DEVNULL, stderr=errors, env=house.environment
        )
    try:
        assert process.stdin is not None
        await process.stdin.send(msgspec.json.encode(job, enc_hook=str))
        await process.stdin.aclose()
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            await process.aclose()


async def _finished(job: Job, place: int, places: int, process: Process) -> None:
    """Return when so many of the items are done that the next kill is due."""
    due = job.items * place // (places + 1)
    while _count(job.records) < due:
        if process.returncode is not None:
            raise UnfinishedError(f"the working host ended with code {process.returncode}")
        await anyio.sleep(_POLL_S)


def _count(records: Path) -> int:
    return records.read_bytes().count(b'"finished"') if records.exists() else 0
