"""Killed between each pair of durable steps, nothing is lost and nothing is done twice.

Source: DESIGN section 3; STYLE, tests.
"""

import signal
import sys
from pathlib import Path

import msgspec
import pytest

from pmcl.hosts import Host
from tests.acceptance.facts import until
from tests.acceptance.gameday.killed import HOST, SIDECAR
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.whole import expect_whole
from tests.acceptance.load import loading
from tests.acceptance.processes import child

pytestmark = pytest.mark.anyio

_TOP = Path(__file__).parents[3]
KILLED = (sys.executable, "-m", "tests.acceptance.gameday.killed", "SIGKILL")


async def test_sidecar_killed_between_each_pair_of_steps(station: Station) -> None:
    path = {"PYTHONPATH": str(_TOP)}
    poisons: list[str] = []
    async with (
        station.up() as first,
        Host.connect(station.host("b")) as other,
        loading(station.host()) as load,
    ):
        await load.grows(acked=50, used=1)
        await station.crash(first)
        for step in SIDECAR:
            async with station.open(command=(*KILLED, step), **path) as sidecar:
                if step.startswith("dead letter"):
                    poisons.append(await other.observe(source="poison", summary=step))
                assert await sidecar.ends() == -signal.SIGKILL, (step, sidecar.errors[-2000:])
            await station.gone()
        async with station.up():
            await load.grows(acked=50, used=1)
            load.stopped = True
            letters = (await station.told("deadletters", "list"))["letters"]
            redriven = await station.told("deadletters", "redrive")
            assert (redriven["done"], redriven["repeats"]) == (1, len(letters) - 1)
            await expect_whole(station, [*load.acked, *poisons], load.used)


async def test_host_killed_between_each_pair_of_steps(station: Station) -> None:
    """What ran has one outcome, which is `unknown` where its host could not say more."""
    config = station.directory / "config.json"
    config.write_bytes(msgspec.json.encode(station.host(), enc_hook=str))
    environment = station.environment | {"PYTHONPATH": str(_TOP)}
    observed: list[str] = []
    ran: list[str] = []
    async with station.up():
        for step in HOST:
            errors = station.directory / "host.err"
            async with child([*KILLED, step, str(config)], errors, environment) as host:
                assert await host.ends() == -signal.SIGKILL, (step, host.errors[-2000:])
                while (line := await host.line()) is not None:
                    what, _, name = line.partition(" ")
                    (observed if what == "observed" else ran).append(name)
        async with Host.connect(station.host()) as last:

            async def is_empty() -> bool:
                return bool(last._session.file.is_empty)

            await until(is_empty)
        await expect_whole(station, observed, ran)
    assert len(ran) >= 3
    outcomes = await station.rows("SELECT status FROM outcomes WHERE corrected_by IS NULL")
    assert {row["status"] for row in outcomes} == {"succeeded", "unknown"}
