"""What nobody ends has an end, and what is away is no error."""

import json
from pathlib import Path

import anyio
import pytest
import structlog

from pmcl.hosts.desk import Desk
from pmcl.ops.cell import run_cell
from pmcl.ops.settings import Settings
from tests.integration.gateway.opening import Configured, opened
from tests.integration.gateway.wire import Wire
from tests.integration.hosts.sidecar import Sidecar, evaluation_of, until
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


async def test_idle_session_is_closed_and_comes_back(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with opened(configured(idle_s=0.0), nats_server) as wire:
        await wire.begin()

        async def begun_again() -> bool:
            verdict = await wire.check("read_file", "/a")
            assert verdict["status"] == "passed", verdict
            assert (await wire.claim(verdict, "/a")).status == 201
            assert (await wire.outcome(verdict, "succeeded")).status == 200
            return begins() > 1

        def begins() -> int:
            return sum(1 for message, _ in sidecar.asked if message.subject.endswith(".begin"))

        await until(begun_again)


async def test_unclaimed_verdict_ends_as_unused(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    sidecar.answer = lambda request: evaluation_of(request, valid_for_ms=50)
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        verdict = await wire.check("read_file", "/a")

        async def unused() -> bool:
            return any(b'"status":"unused"' in message.data for message in await sidecar.stored())

        await until(unused)
        refused = await wire.claim(verdict, "/a")
        assert (refused.status, refused.body["code"]) == (409, "expired")


async def test_open_dispatches_are_unknown_when_the_gateway_stops(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        verdict = await wire.check("read_file", "/a")
        await wire.check("read_file", "/b")
        assert (await wire.claim(verdict, "/a")).status == 201
    outcomes = [json.loads(message.data) for message in await sidecar.stored()]
    assert sorted(outcome["status"] for outcome in outcomes) == ["unknown", "unused"]
    [unknown] = [outcome for outcome in outcomes if outcome["status"] == "unknown"]
    assert unknown["evaluation_id"] == verdict["verdict_id"]


async def test_away_sidecar_degrades_and_is_never_an_error(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        nats_server.kill()
        held = await wire.check("delete_file", "/a")
        assert (held["status"], held["evaluation"]) == ("held", None)
        assert held["reasons"][0].startswith("degraded.")
        inspected = await wire.check("read_file", "/a")
        assert inspected["status"] == "degraded"
        assert (await wire.claim(inspected, "/a")).status == 201
        assert (await wire.outcome(inspected, "succeeded")).status == 200
        assert (await wire.claim(inspected, "/a")).body["code"] == "claimed"


async def test_begin_without_a_sidecar_is_a_lease_that_comes_later(
    configured: Configured, nats_server: NatsServer
) -> None:
    nats_server.kill()
    async with opened(configured(), nats_server) as wire:
        lease = await wire.begin()
        assert (lease["live"], lease["generation"]) == (False, None)
        assert (await wire.check("read_file", "/a"))["status"] == "degraded"


@pytest.mark.usefixtures("sidecar")
async def test_lost_observation_is_told_by_its_key(
    configured: Configured, nats_server: NatsServer
) -> None:
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        nats_server.kill()
        observed = {"source": "ls", "summary": "a", "key": "key-1"}
        lost = await wire.post("/v1/observations", observed)
        assert (lost.status, lost.body["code"]) == (503, "observation_lost")
        assert lost.body["lost"] == ["key-1"]
        assert lost.headers["retry-after"] == "1"


@pytest.mark.usefixtures("sidecar")
async def test_readiness_is_the_sidecars(configured: Configured, nats_server: NatsServer) -> None:
    parts = {"relay": True, "writer": False}
    async with opened(configured(parts=lambda: parts), nats_server) as wire:
        answer = await wire.get("/v1/ready")
        none = {"count": 0, "last": None}
        assert answer.status == 503
        assert answer.body == {"ready": False, "parts": parts, "defects": none}
        assert (await wire.get("/v1/health")).status == 200


async def test_session_that_is_closing_takes_no_new_call(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    class Slow(Desk):
        async def close(self) -> None:
            closing.set()
            await release.wait()

    closing, release = anyio.Event(), anyio.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pmcl.hosts.gateway.session.Desk", Slow)
        async with opened(configured(idle_s=0.0), nats_server) as wire:
            await wire.begin()
            with anyio.fail_after(10):
                await closing.wait()
            seen = len(sidecar.asked)
            assert (await wire.get("/v1/lease")).body["live"]
            begun = [message.subject for message, _ in sidecar.asked[seen:]]
            assert begun[0].endswith(".begin")
            release.set()


async def refused(wire: Wire) -> bool:
    """Whether nobody listens."""
    try:
        await wire.get("/v1/health")
    except OSError:
        return True
    return False


async def test_sidecar_goes_on_when_the_gateway_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("pmcl.hosts.gateway.http_server._Server.main_loop", broken)
    with structlog.testing.capture_logs() as logged:
        async with run_cell(Settings(state_dir=tmp_path / "state")) as cell, cell.admin() as admin:
            assert admin.ready
            assert cell.gateway_url is not None
            wire = Wire(cell.gateway_url, None)
            await until(lambda: refused(wire))
    assert [entry["error"] for entry in logged if entry["event"] == "gateway.stopped"] == [
        "RuntimeError"
    ]
