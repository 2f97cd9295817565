"""A disk is full: nothing counts that is not stored, everybody says so, and room is all it takes.

Source: DESIGN section 3; SPEC J.
"""

import json
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import anyio.to_thread
import pytest

from pmcl.contracts import LedgerError
from pmcl.hosts import Host, ObservationLostError, Proposal, Verdict
from tests.acceptance.facts import log_is_the_journal, until
from tests.acceptance.gameday.disk import Disk, small_disk
from tests.acceptance.gameday.station import Station
from tests.acceptance.gameday.whole import expect_whole
from tests.acceptance.load import Load, loading
from tests.acceptance.world import about, deleting, reading

pytestmark = pytest.mark.anyio


async def ask(station: Station, path: str) -> str:
    """Return what the gateway answers, ready or not."""
    url = json.loads((station.settings.state_dir / "gateway.json").read_bytes())["url"]

    def get() -> str:
        try:
            answer: HTTPResponse | HTTPError = urlopen(url + path)
        except HTTPError as error:
            answer = error
        with answer:
            return answer.read().decode()

    return await anyio.to_thread.run_sync(get)


async def parts(station: Station) -> dict[str, bool]:
    return dict(json.loads(await ask(station, "/v1/ready"))["parts"])


async def expect_told(station: Station, place: str, disk: Disk) -> None:
    """`status`, `doctor` and the metric behind the alert name the disk that is full."""
    status = await station.told("status")
    (told,) = [each for each in status["disks"] if each["place"] == place]
    assert (told["path"], told["scarce"]) == (str(disk.path), True)
    shown = (await station.told("doctor", code=1))["findings"]
    wrong = [f["told"] for f in shown if (f["check"], f["state"]) == ("disk.space", "wrong")]
    assert any(str(disk.path) in each for each in wrong), shown
    metrics = await ask(station, "/metrics")
    sample = f'pmcl_disk_free_bytes{{place="{place}"}} '
    (free,) = [line for line in metrics.splitlines() if line.startswith(sample)]
    assert float(free.removeprefix(sample)) < 1024**3


async def expect_recovered(station: Station, load: Load) -> None:
    """Work goes on; what was acknowledged and used before and after is there, once."""
    await load.grows(acked=100, used=1)
    load.stopped = True
    await expect_whole(station, load.acked, load.used)
    async with station.admin() as admin:
        await log_is_the_journal(station.ledger, admin)


async def test_a_ledger_that_cannot_grow_judges_nothing_and_takes_it_all_in_later(
    tmp_path: Path,
) -> None:
    """Streams and hosts have room: what is acknowledged meanwhile waits in INTAKE."""
    state = tmp_path / "state"
    with (
        small_disk(state, 64) as disk,
        small_disk(state / "nats", 256),
        small_disk(state / "hosts", 16),
    ):
        station = Station(tmp_path)
        async with (
            station.up(),
            Host.connect(station.host("b")) as other,
            loading(station.host()) as load,
        ):
            await load.grows(acked=100, used=1)
            disk.fill()
            await until(lambda: unavailable(other))
            assert not (await parts(station))["writer"]
            await load.grows(acked=200)
            await expect_told(station, "ledger", disk)
            assert await unavailable(other)
            (failed, *_) = station.logged("store.commit_failed")
            assert failed["path"] == str(station.ledger)
            assert "disk is full" in failed["reason"]
            disk.make_room()
            await expect_recovered(station, load)


async def unavailable(host: Host) -> bool:
    """Whether a change is held because the ledger cannot be written."""
    return (await host.check(deleting("/work/x"))).reasons == ("degraded.ledger_unavailable",)


async def test_a_server_that_cannot_store_takes_nothing_in_until_there_is_room(
    station: Station,
) -> None:
    """Verdicts are no messages of a stream: they go on, on the connections that there are."""

    async def is_told() -> dict[str, Any] | None:
        return next(iter(station.logged("server.disk_full")), None)

    store = station.settings.state_dir / "nats" / "jetstream"
    with small_disk(store, 24) as disk:
        async with (
            station.up(),
            Host.connect(station.host("b", observe_ms=300)) as other,
            loading(station.host()) as load,
        ):
            await load.grows(acked=100, used=1)
            disk.fill()
            told = await until(is_told)
            assert told["path"] == str(disk.path)
            assert "no space left on device" in told["error"]
            with pytest.raises(ObservationLostError, match="1 observations not stored"):
                await other.observe(source="ls", summary="there is no room")
            assert (await other.check(deleting("/work/x"))).reasons == ("plan.unmitigated",)
            assert not (await parts(station))["intake"]
            await expect_told(station, "streams", disk)
            assert station.logged("server.restarting") == []
            disk.make_room()
            await expect_recovered(station, load)
            assert len(station.logged("server.restarting")) == 1


async def test_a_host_that_cannot_write_runs_nothing_and_keeps_what_came_of_a_call(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ran when the disk became full has its true outcome; nothing else was begun."""
    monkeypatch.setattr("pmcl.hosts.dispatch._RECORD_S", 0.2)
    with small_disk(station.settings.state_dir / "hosts", 4) as disk:
        async with (
            station.up(),
            Host.connect(station.host("b")) as other,
            loading(station.host()) as load,
        ):
            seen = await other.observe(source="ls", summary="x", resources=(about("/work/x"),))
            await load.grows(acked=100, used=1)
            inspection = reading("/work/y")
            began = await other.check(inspection)
            proposal = deleting("/work/x", seen)
            passed = await until(lambda: passes(other, proposal))
            with pytest.raises(LedgerError, match=f"{disk.path}.*disk is full"):
                async with other.dispatch(began, inspection):
                    disk.fill()
            with pytest.raises(LedgerError, match=f"{disk.path}.*disk is full"):
                await other.dispatch(passed, proposal).__aenter__()
            with pytest.raises(ObservationLostError, match=f"{disk.path}.*disk is full"):
                await other.observe(source="ls", summary="there is no room")
            with pytest.raises(LedgerError, match=str(disk.path)):
                await Host.connect(station.host("b", state_dir=disk.path / "new")).__aenter__()
            await expect_told(station, "hosts", disk)
            disk.make_room()
            load.used.append(began.claim_id)
            await expect_recovered(station, load)
        (outcome,) = await station.rows(
            "SELECT status FROM outcomes WHERE evaluation_id = :id", id=began.claim_id
        )
        assert outcome["status"] == "succeeded"


async def passes(host: Host, proposal: Proposal) -> Verdict | None:
    verdict = await host.check(proposal)
    return verdict if verdict.status == "passed" else None
