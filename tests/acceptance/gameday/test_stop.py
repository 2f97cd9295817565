"""A stop holds everything but local inspections within a second, over a restart, until `resume`.

Source: SPEC F7.
"""

import time

import pytest

from pmcl.contracts import limits
from pmcl.hosts import DispatchRefusedError, Host, Verdict
from tests.acceptance.facts import until
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.test_server_outages import use
from tests.acceptance.world import about, deleting, reading
from tests.stub_model import open_stub_model

pytestmark = pytest.mark.anyio

_ENDED = "SELECT result, reason, ended_at FROM reflections WHERE ended_at IS NOT NULL"


@pytest.mark.long
async def test_only_inspections_go_on_over_a_restart_until_resume(station: Station) -> None:
    async with station.up() as sidecar, Host.connect(station.host()) as host:
        seen = await host.observe(source="ls", summary="it is there", resources=(about("/work/0"),))
        proposal = deleting("/work/0", seen)
        passed = await host.check(proposal)
        assert passed.status == "passed"
        before = await station.run("stop", "--dry-run")
        assert "Would stop: 1 lease would end" in before.stdout
        await station.run("stop")
        stopped = time.monotonic()
        with pytest.raises(DispatchRefusedError):  # whatever it still held in its hands
            await host.dispatch(passed, proposal).__aenter__()
        assert time.monotonic() - stopped < limits.STOP_MS / 1000
        await expect_stopped(host, seen)
        assert (await station.told("status"))["stopped"] is not None
        await station.crash(sidecar)
        async with station.up():
            await expect_stopped(host, seen)
            await station.run("resume")
            assert (await station.told("status"))["stopped"] is None
            with pytest.raises(DispatchRefusedError):
                await host.dispatch(passed, proposal).__aenter__()
            fresh = await host.observe(source="ls", summary="still", resources=(about("/work/0"),))
            await use(host, fresh)

            async def ran() -> bool:
                done = "SELECT 1 FROM outcomes WHERE status = 'succeeded'"
                return len(await station.rows(done)) == 3  # two inspections, and this change

            await until(ran)


async def test_a_model_that_hangs_is_cut_off_and_nothing_of_it_is_kept(station: Station) -> None:
    """The bound is held against the times that the record itself tells."""
    async with open_stub_model() as model:
        model.silent = True
        async with station.up(PMCL_MODEL_URL=model.url), Host.connect(station.host()) as host:
            await host.observe(source="ls", summary="it is there")
            await host.complete("turn")

            async def asked() -> bool:
                return bool(model.asked)

            await until(asked)
            await station.run("stop")
            (stop,) = await station.rows("SELECT stopped_at FROM stops")
            ended = await until(lambda: station.rows(_ENDED))
    ((result, reason, ended_at),) = [tuple(row) for row in ended]
    assert (result, reason) == ("skipped", "stopped")
    assert 0 <= ended_at - stop["stopped_at"] <= limits.STOP_MS
    assert len(model.asked) == 1


async def expect_stopped(host: Host, seen: str) -> None:
    """Whatever changes anything is held by the stop; an inspection passes and runs."""

    async def held() -> Verdict | None:
        verdict = await host.check(deleting("/work/0", seen))
        return verdict if verdict.reasons[:1] == ("authority.stopped",) else None

    async def inspected() -> Verdict | None:
        verdict = await host.check(inspection)
        return verdict if verdict.status == "passed" else None

    assert (await until(held)).status == "held"
    inspection = reading("/work/0")
    async with host.dispatch(await until(inspected), inspection):
        pass
