"""Ctrl-C in the middle of long work: one code, no traceback, and the same command does it again.

Source: DESIGN section 3, points 5 to 7.
"""

import pytest

from pmcl.hosts import Host
from tests.acceptance.gameday.killed import AUDIT, ERASE_COMMAND, REBUILD, RESTORE
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.test_record_kills import (
    STRUCK,
    TOP,
    drained,
    listing,
    observe,
    recorded,
)
from tests.acceptance.gameday.whole import bare, expect_whole
from tests.acceptance.processes import child

pytestmark = pytest.mark.anyio

_ROWS = 600  # so that there is a middle: rows are read by the two hundred
_STOPPED = 130


async def interrupted(station: Station, step: str, *command: str) -> None:
    """Run the command, which gets Ctrl-C at the step."""
    environment = station.environment | {"PYTHONPATH": str(TOP)}
    errors = station.directory / "interrupted.err"
    async with child([*STRUCK, "SIGINT", step, *command], errors, environment) as running:
        assert await running.ends() == _STOPPED, (step, running.errors[-2000:])
        assert "Traceback" not in running.errors
        assert "ignored" not in running.errors
        assert await running.line() is None  # and nothing was reported as done


@pytest.fixture
async def acked(station: Station) -> list[str]:
    async with Host.connect(station.host()) as host, station.up() as sidecar:
        acked = await observe(host, _ROWS, "first")
        await recorded(station, _ROWS)
        await drained(sidecar)
    return acked


@pytest.mark.usefixtures("acked")
async def test_an_audit_says_nothing_and_then_all(station: Station) -> None:
    for step in AUDIT:
        await interrupted(station, step, "audit", "verify")
    report = await station.told("audit", "verify")
    assert report["sound"], report["faults"]
    assert report["journal"]["rows"] >= _ROWS


async def test_a_rebuild_leaves_the_ledger_alone_or_replaces_it(
    station: Station, acked: list[str]
) -> None:
    for step in ("some rows folded", *REBUILD):
        await interrupted(station, step, "rebuild", "--replace")
    report = await station.told("rebuild", "--replace")
    assert report["same"]
    async with station.up():
        await expect_whole(station, acked, ())


async def test_a_restore_leaves_the_ledger_alone_or_replaces_it(
    station: Station, acked: list[str]
) -> None:
    place = str(station.directory / "backup")
    await station.run("backup", place)
    for step in RESTORE:
        await interrupted(station, step, "restore", place, "--replace")
    await station.run("restore", place, "--replace")
    async with station.up():
        await expect_whole(station, acked, ())


async def test_an_erasure_goes_on_without_whoever_asked(station: Station, acked: list[str]) -> None:
    command = ("erase", "--scope", "s", "--yes")
    async with station.up():
        for step in ERASE_COMMAND:
            await interrupted(station, step, *command)
        await station.told(*command)
        found = await listing(station, "erasures")
        assert all(erasure["ended_at"] is not None for erasure in found)
        assert sum(erasure["payloads"] for erasure in found) == _ROWS
        assert await bare(station) == set(acked)
