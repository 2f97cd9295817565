"""Killed inside backup, restore, fold, erase or redrive: the same command again, and it is done.

Source: DESIGN section 3, points 4 to 7; SPEC B3.
"""

import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.bus import DEADLETTERS, INTAKE
from pmcl.hosts import Host
from pmcl.ops.record.broken_off import broken_off
from tests.acceptance.facts import log_is_the_journal, until
from tests.acceptance.gameday.killed import (
    BACKUP,
    ERASE,
    ERASE_COMMAND,
    FOLD,
    REDRIVE,
    RESTORE,
)
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.whole import expect_whole
from tests.acceptance.processes import Child, child
from tests.acceptance.world import deleting
from tests.integration.record.content import files_with, words, words_left

pytestmark = pytest.mark.anyio

TOP = Path(__file__).parents[3]
STRUCK = (sys.executable, "-m", "tests.acceptance.gameday.killed")
KILLED = (*STRUCK, "SIGKILL")
POISONED = (sys.executable, str(Path(__file__).with_name("poisoned.py")))
TEXT, KEPT = words("unforgettable"), words("kept")
_OF_A = "SELECT evidence_id AS id FROM evidence WHERE host = 'a'"


async def killed_at(station: Station, steps: Iterable[str], *command: str) -> None:
    """Run the command once for each step; it dies there."""
    environment = station.environment | {"PYTHONPATH": str(TOP)}
    errors = station.directory / "command.err"
    for step in steps:
        async with child([*KILLED, step, *command], errors, environment) as running:
            assert await running.ends() == -signal.SIGKILL, (step, running.errors[-2000:])
        await station.gone()


async def broken_backups(station: Station, place: Path) -> None:
    for step in BACKUP:
        await killed_at(station, [step], "backup", str(place))
        (folder,) = broken_off(station.settings.state_dir)  # so that an erasure can tell
        assert (folder / "ledger.sqlite").is_file(), step


async def listing(station: Station, command: str) -> list[dict[str, Any]]:
    ran = await station.run(command, "--json")
    return msgspec.json.decode(ran.stdout, type=list[dict[str, Any]])


async def drained(sidecar: Child) -> None:
    sidecar.send(signal.SIGINT)
    assert await sidecar.ends() == 0


async def observe(host: Host, count: int, what: str) -> list[str]:
    return await host.observe_many(
        [{"source": "ls", "summary": f"{what} {number}"} for number in range(count)]
    )


async def recorded(station: Station, count: int) -> None:
    async def all_there() -> bool:
        (row,) = await station.rows("SELECT count(*) AS n FROM evidence")
        return bool(row["n"] == count)

    await until(all_there)


@pytest.mark.long
async def test_backup_restore_and_fold_killed_between_each_pair_of_steps(station: Station) -> None:
    place = station.directory / "backup"
    async with Host.connect(station.host()) as host:
        async with station.up() as sidecar:
            acked = await observe(host, 100, "first")
            await recorded(station, 100)
            await drained(sidecar)
        await broken_backups(station, place)
        await station.run("backup", str(place))
        assert broken_off(station.settings.state_dir) == []
        (listed,) = await listing(station, "backups")
        assert listed["place"] == str(place)
        async with station.up() as sidecar:
            acked += await observe(host, 500, "second")
            await recorded(station, 600)
            await drained(sidecar)
        await killed_at(station, RESTORE, "restore", str(place), "--replace")
        (ledger,) = await station.rows("SELECT folded_after FROM ledger")
        assert ledger["folded_after"] is not None  # also whoever starts it as it is now folds
        await station.run("restore", str(place), "--replace")
        await killed_at(station, FOLD, "up")
        async with station.up() as sidecar:
            await expect_whole(station, acked, ())
            async with station.admin() as admin:
                await log_is_the_journal(station.ledger, admin)
            await drained(sidecar)
    (fold,) = station.logged("fold.ended")
    assert fold["unavailable"] == 0
    report = await station.told("rebuild")
    assert report["same"], [table for table in report["tables"] if table["old"] != table["new"]]
    assert await listing(station, "backups") == [listed]


@pytest.mark.long
async def test_erase_killed_between_each_pair_of_steps(station: Station) -> None:
    kept = await filled(station)
    command = ("erase", "--scope", "s", "--host", "a", "--yes", "--json")
    steps = iter(ERASE)
    path = {"PYTHONPATH": str(TOP)}
    async with station.open(command=(*KILLED, next(steps)), **path) as sidecar:
        assert await sidecar.line() is not None
        dying = [*KILLED, *ERASE_COMMAND, *command]
        errors = station.directory / "command.err"
        async with child(dying, errors, station.environment | path) as asking:
            assert await asking.ends() == -signal.SIGKILL, asking.errors[-2000:]
        assert await sidecar.ends() == -signal.SIGKILL
    await station.gone()
    await killed_at(station, steps, "up")
    async with station.up() as sidecar:
        await until(lambda: erased(station))
        assert files_with(station.directory, TEXT) == {}
        again = await station.told(*command[:-1])
        assert (again["observations"], again["erasure"]["payloads"]) == (0, 0)
        gone = [row["id"] for row in await station.rows(_OF_A)]
        await expect_whole(station, [*kept, *gone], (), erased=gone)
        async with station.admin() as admin:
            await log_is_the_journal(station.ledger, admin)
        await drained(sidecar)
    assert files_with(station.directory, TEXT) == {}
    assert words_left(station.directory, TEXT) == set()
    assert list(files_with(station.settings.state_dir, KEPT)) != []


async def filled(station: Station) -> list[str]:
    """Host `a` leaves the text in two ledgers, INTAKE and a dead letter; host `b` stays."""
    async with station.up(command=POISONED), Host.connect(station.host()) as host:
        await host.observe(source="poison", summary=TEXT)

        async def buried() -> bool:
            return len((await station.told("deadletters", "list"))["letters"]) == 1

        await until(buried)
    async with station.up() as sidecar:
        async with Host.connect(station.host("b")) as host:
            kept = await observe(host, 100, KEPT)
        async with Host.connect(station.host()) as host:
            (seen, *_) = await observe(host, 3, TEXT)
            assert (await host.check(deleting("/work/n0", seen, goal=TEXT))).evaluation is not None
        await recorded(station, 103)
        await drained(sidecar)
    await station.told("rebuild", "--replace")
    held = files_with(station.directory, TEXT)
    assert len([name for name in held if name.startswith("state/ledger.")]) >= 2, held
    assert [name for name in held if INTAKE in name], held
    assert [name for name in held if DEADLETTERS in name], held
    return kept


async def erased(station: Station) -> bool:
    (erasure,) = await listing(station, "erasures")
    return erasure["ended_at"] is not None


async def test_redrive_killed_between_each_pair_of_steps(station: Station) -> None:
    async with station.up(command=POISONED), Host.connect(station.host()) as host:
        poisons = [await host.observe(source="poison", summary=str(n)) for n in range(3)]

        async def buried() -> bool:
            return len((await station.told("deadletters", "list"))["letters"]) == len(poisons)

        await until(buried)
    async with station.up():
        environment = station.environment | {"PYTHONPATH": str(TOP)}
        errors = station.directory / "command.err"
        for step in REDRIVE:
            command = [*KILLED, step, "deadletters", "redrive"]
            async with child(command, errors, environment) as redriving:
                assert await redriving.ends() == -signal.SIGKILL, (step, redriving.errors)
        await station.told("deadletters", "redrive")
        assert (await station.told("deadletters", "list"))["letters"] == []
        await expect_whole(station, poisons, ())
        async with station.admin() as admin:
            await log_is_the_journal(station.ledger, admin)
