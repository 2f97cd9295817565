"""The server dies, or its store is gone, older or damaged: `pmcl up` is all that is needed.

Source: DESIGN section 3, points 6 and 8.
"""

import random
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext

import pytest

from pmcl.bus import INTAKE, LOG
from pmcl.bus.jetstream import call
from pmcl.hosts import Host
from tests.acceptance.facts import until
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.whole import expect_whole, flip_a_byte
from tests.acceptance.load import loading
from tests.acceptance.processes import Child
from tests.acceptance.world import about, deleting

pytestmark = pytest.mark.anyio

UNTAKEN = 150


async def test_server_killed_under_load(station: Station) -> None:
    async with station.up(), loading(station.host()) as load:
        for _ in range(3):
            await load.grows(acked=200, used=3)
            station.kill_server()
        await load.grows(acked=200, used=3)
        load.stopped = True
        assert len(station.logged("server.restarting")) == 3
        await expect_whole(station, load.acked, load.used)
        outbox = await station.told("outbox", "list")
        assert outbox["waiting"] == 0


async def observe(host: Host, count: int, about_what: str) -> list[str]:
    return await host.observe_many(
        [
            {"source": "ls", "summary": f"{about_what} {n}", "resources": (about(f"/work/{n}"),)}
            for n in range(count)
        ]
    )


async def use(host: Host, shown: str) -> str:
    """Have one change pass and run."""
    proposal = deleting("/work/0", shown)

    async def passed() -> bool:
        return (await host.check(proposal)).status == "passed"

    await until(passed)
    verdict = await host.check(proposal)
    async with host.dispatch(verdict, proposal):
        return verdict.claim_id


@asynccontextmanager
async def asleep(sidecar: Child) -> AsyncIterator[None]:
    """The sidecar stands still: what hosts are acknowledged meanwhile is in INTAKE alone."""
    sidecar.send(signal.SIGSTOP)
    yield
    sidecar.send(signal.SIGCONT)


Damage = Callable[[Station, random.Random], Awaitable[None]]


async def deleted(station: Station, chosen: random.Random) -> None:
    shutil.rmtree(station.settings.state_dir / "nats" / "jetstream")


async def damaged(station: Station, chosen: random.Random) -> None:
    for stream in (INTAKE, LOG):
        (block,) = (station.stream(stream) / "msgs").glob("*.blk")
        flip_a_byte(block, chosen)


async def older(station: Station, chosen: random.Random) -> None:
    station.put_back(
        station.directory / "older-jetstream", station.settings.state_dir / "nats/jetstream"
    )


@pytest.mark.parametrize("damage", [deleted, damaged, older])
async def test_store_that_lost_what_it_had_acknowledged(
    station: Station, seed: int, damage: Damage
) -> None:
    """The host lives: it sends again what the stream has lost, LOG is made from the journal."""
    async with station.up() as sidecar, Host.connect(station.host()) as host:
        acked = await observe(host, 100, "first")
        used = [await use(host, acked[0])]
        await station.crash(sidecar)
        station.copy(station.settings.state_dir / "nats" / "jetstream")
        async with station.up() as sidecar:
            acked += await observe(host, 100, "second")
            used.append(await use(host, acked[100]))
            sidecar.send(signal.SIGSTOP)
            acked += await observe(host, UNTAKEN, "untaken")
            await station.crash(sidecar)
        await damage(station, random.Random(seed))
        async with station.up():
            acked += await observe(host, 100, "third")
            used.append(await use(host, acked[-100]))
            await expect_whole(station, acked, used)


@pytest.mark.parametrize("restarts", [False, True])
async def test_streams_that_somebody_purged(station: Station, *, restarts: bool) -> None:
    """What was taken is in the ledger, and the host sends the rest again; LOG comes back whole."""
    async with station.up() as sidecar, Host.connect(station.host()) as host:
        acked = await observe(host, 100, "first")
        used = [await use(host, acked[0])]
        sidecar.send(signal.SIGSTOP)
        acked += await observe(host, UNTAKEN, "untaken")
        async with station.admin() as admin:
            for stream in (INTAKE, LOG):
                await call(admin, f"STREAM.PURGE.{stream}", {})
        if restarts:
            await station.crash(sidecar)
        else:
            sidecar.send(signal.SIGCONT)
        async with station.up() if restarts else nullcontext():
            acked += await observe(host, 100, "second")
            used.append(await use(host, acked[-100]))
            await expect_whole(station, acked, used)


async def test_what_nobody_has_any_more_is_told(station: Station) -> None:
    """The host is gone with its memory: its numbers are closed, and who uses it is told."""
    async with station.up() as sidecar:
        async with Host.connect(station.host()) as host:
            acked = await observe(host, 100, "first")
        await station.crash(sidecar)
    station.copy(station.settings.state_dir / "nats" / "jetstream")
    async with station.up() as sidecar:
        async with Host.connect(station.host(close_ms=100)) as host:
            await host.check(deleting("/work/0"))  # it holds a lease
            sidecar.send(signal.SIGSTOP)
            await observe(host, UNTAKEN, "untaken")
        await station.crash(sidecar)
    await older(station, random.Random(0))
    async with station.up(), Host.connect(station.host()) as host:
        acked += await observe(host, 100, "third")
        unlicensed = await host.check(deleting("/work/0", acked[-100]))
        assert "grounding.unlicensed_effect" in unlicensed.reasons  # a model may have read orders
        said = "Delete /work/0"
        acked.append(await host.observe(source="user", summary=said, trust="user"))
        await use(host, acked[100])
        await expect_whole(station, acked, (), lost=UNTAKEN)
        assert [entry["numbers"] for entry in station.logged("intake.missing")] != []
