"""Killed while one ledger takes another's place: the next start has a whole one, and all of it.

Content is in the ledger alone here: INTAKE was emptied. Its newest rows are in the write-ahead log,
for the sidecar was killed as well.

Source: DESIGN section 3, points 4 and 7.
"""

import pytest

from pmcl.bus import INTAKE
from pmcl.bus.jetstream import call
from pmcl.hosts import Host
from tests.acceptance.gameday.killed import REBUILD, REPLACE, RESTORE
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.test_record_kills import killed_at, observe, recorded
from tests.acceptance.gameday.whole import bare, expect_whole

pytestmark = pytest.mark.anyio

_EACH = 20


class Work:
    """What a host was told is stored, before each kill."""

    def __init__(self, station: Station, host: Host) -> None:
        self.acked: list[str] = []
        self._station = station
        self._host = host

    async def grows(self, what: str) -> None:
        """More is recorded, nowhere else, by a sidecar that found all of the rest and is killed."""
        async with self._station.up() as sidecar:
            await self.is_there()
            self.acked += await observe(self._host, _EACH, what)
            await recorded(self._station, len(self.acked))
            async with self._station.admin() as admin:
                await call(admin, f"STREAM.PURGE.{INTAKE}")
            await self._station.crash(sidecar)

    async def is_there(self) -> None:
        found = {
            row["id"] for row in await self._station.rows("SELECT evidence_id AS id FROM evidence")
        }
        assert set(self.acked) == found
        assert await bare(self._station) == set()

    async def ends(self) -> None:
        async with self._station.up():
            await expect_whole(self._station, self.acked, ())


@pytest.mark.parametrize("then", ["up", "rebuild"])
async def test_a_rebuild_killed_between_each_pair_of_steps(station: Station, then: str) -> None:
    async with Host.connect(station.host()) as host:
        work = Work(station, host)
        for step in REBUILD:
            await work.grows(step)
            await killed_at(station, [step], "rebuild", "--replace")
            if then == "rebuild":
                await station.run("rebuild", "--replace")
        await work.ends()


async def test_a_start_killed_while_it_goes_on_with_a_rebuild(station: Station) -> None:
    async with Host.connect(station.host()) as host:
        work = Work(station, host)
        await work.grows("before")
        (decided, *later) = REPLACE
        await killed_at(station, [decided], "rebuild", "--replace")
        await killed_at(station, [decided, *later], "up")
        await work.ends()


async def test_a_restore_killed_between_each_pair_of_steps(station: Station) -> None:
    async with Host.connect(station.host()) as host:
        work = Work(station, host)
        for step in RESTORE:
            await work.grows(step)
            place = station.directory / step.replace(" ", "-")
            await station.run("backup", str(place))
            await killed_at(station, [step], "restore", str(place), "--replace")
        await work.ends()
