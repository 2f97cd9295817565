"""The ledger is gone: events are in LOG, content in INTAKE or a backup.

Source: DESIGN section 3, points 6 and 7.
"""

import signal
from pathlib import Path

import pytest

from pmcl.bus import DURABLES, INTAKE
from pmcl.bus.jetstream import call
from pmcl.hosts import Host, ObservationFields
from tests.acceptance.facts import until
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.whole import expect_whole
from tests.acceptance.processes import Child
from tests.acceptance.world import reading

pytestmark = pytest.mark.anyio

OBSERVATIONS = 10_000
BACKED_UP = 9_000
REPEATS = 500
LATER = frozenset({"evidence", "journal", "leases", "payloads"})
"""Tables that a restored ledger has otherwise: what is taken again has a new salt and an event."""


async def observe(host: Host, first: int, count: int) -> list[str]:
    fields: list[ObservationFields] = [
        {"source": "load", "key": str(n), "summary": f"entry {n}"}
        for n in range(first, first + count)
    ]
    return await host.observe_many(fields)


async def use(host: Host, count: int) -> list[str]:
    used: list[str] = []
    while len(used) < count:
        proposal = reading(f"/work/{len(used)}")
        verdict = await host.check(proposal)
        if verdict.status == "passed":
            async with host.dispatch(verdict, proposal):
                used.append(verdict.claim_id)
    return used


async def deliver_again(station: Station) -> None:
    async with station.admin() as admin:
        for durable in DURABLES:
            await call(admin, f"CONSUMER.RESET.{INTAKE}.{durable}", {"seq": 1})


async def drained(sidecar: Child) -> None:
    sidecar.send(signal.SIGINT)
    assert await sidecar.ends() == 0


async def recorded(station: Station, count: int) -> None:
    async def all_there() -> bool:
        (row,) = await station.rows("SELECT count(*) AS n FROM evidence")
        return bool(row["n"] == count)

    await until(all_there, within_s=60)


def remove(ledger: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        ledger.with_name(ledger.name + suffix).unlink(missing_ok=True)


async def rebuilt(station: Station) -> dict[str, str]:
    """The digests of what the events give, which are those of what is there, table by table."""
    report = await station.told("rebuild")
    assert report["same"], [table for table in report["tables"] if table["old"] != table["new"]]
    rows = {table["table"]: table["rows"] for table in report["tables"]}
    assert rows["evidence"] == OBSERVATIONS
    return {table["table"]: table["new"] for table in report["tables"]}


async def work(station: Station, host: Host, backup: Path) -> tuple[list[str], list[str]]:
    """Return what was acknowledged and used, among duplicates, redeliveries and restarts."""
    async with station.up() as sidecar:
        acked = await observe(host, 0, BACKED_UP)
        used = await use(host, 10)
        assert await observe(host, 0, REPEATS) == acked[:REPEATS]
        await deliver_again(station)
        await recorded(station, BACKED_UP)
        await station.run("backup", str(backup))
        await station.crash(sidecar)
    async with station.up() as sidecar:
        acked += await observe(host, BACKED_UP, OBSERVATIONS - BACKED_UP)
        used += await use(host, 10)
        station.kill_server()
        await until(lambda: restarted(station))
        await deliver_again(station)
        await observe(host, BACKED_UP, REPEATS)
        await recorded(station, OBSERVATIONS)
        await expect_whole(station, acked, used)
        await drained(sidecar)
    return acked, used


@pytest.mark.long
async def test_a_ledger_that_is_gone_comes_back_whole(station: Station) -> None:
    """From a backup, the tail of LOG, and INTAKE; what events give is what is there."""
    backup = station.directory / "backup"
    async with Host.connect(station.host(observe_ms=30_000)) as host:
        acked, used = await work(station, host, backup)
        original = await rebuilt(station)
        remove(station.ledger)
        await station.run("restore", str(backup))
        assert not station.ledger.exists()  # a dry run
        await station.run("restore", str(backup), "--replace")
        async with station.up() as sidecar:
            await expect_whole(station, acked, used)
            await drained(sidecar)
        (fold,) = station.logged("fold.ended")
        assert (fold["retaken"], fold["unavailable"]) == (OBSERVATIONS - BACKED_UP, 0)
    whole = await rebuilt(station)
    assert {name for name in original if whole[name] != original[name]} <= LATER


async def test_without_a_backup_log_and_intake_give_it_back(station: Station) -> None:
    async with Host.connect(station.host()) as host:
        async with station.up() as sidecar:
            acked = await observe(host, 0, REPEATS)
            await recorded(station, REPEATS)
            await drained(sidecar)
        remove(station.ledger)
        async with station.up():
            await expect_whole(station, acked, ())
        (fold,) = station.logged("fold.ended")
        assert (fold["after"], fold["retaken"], fold["unavailable"]) == (0, REPEATS, 0)


async def restarted(station: Station) -> bool:
    return len(station.logged("server.started")) == 3
