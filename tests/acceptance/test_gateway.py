"""The gateway in the sidecar's own process: killed with it, it loses and repeats nothing."""

import json
import signal

import pytest

from tests.acceptance.facts import count, rows, until
from tests.acceptance.world import World
from tests.integration.gateway.wire import Wire

SECRET = "ghp_" + "a1B2c3D4" * 5

pytestmark = pytest.mark.anyio


def wire_of(world: World) -> Wire:
    url = json.loads((world.state_dir / "gateway.json").read_text())["url"]
    return Wire(url, world.server.credentials("s", "a").seed)


async def statuses(world: World, evaluation_id: str) -> list[str]:
    sql = "SELECT status FROM outcomes WHERE evaluation_id = :id"
    return [row["status"] for row in await rows(world.ledger, sql, id=evaluation_id)]


async def test_killed_gateway_leaves_its_claim_unknown_once(world: World) -> None:
    async with world.sidecar() as running:
        wire = wire_of(world)
        await wire.begin()
        verdict = await wire.check("read_file", "/work/a", call_id="call-1")
        assert (await wire.claim(verdict, "/work/a")).status == 201
        running.send(signal.SIGKILL)
        await running.ends()
    async with world.sidecar():
        wire = wire_of(world)
        unknown = await wire.outcome(verdict, "succeeded")
        assert (unknown.status, unknown.body["code"]) == (409, "no_lease")
        lease = await wire.begin()
        assert (lease["live"], lease["dispatches"]) == (True, 0)
        evaluation_id = verdict["verdict_id"]
        assert await until(lambda: statuses(world, evaluation_id)) == ["unknown"]
        late = await wire.outcome(verdict, "succeeded")
        assert (late.status, late.body["code"]) == (404, "unknown_verdict")
        again = await wire.check("read_file", "/work/a", call_id="call-1")
        assert again["verdict_id"] == evaluation_id
        assert (await wire.claim(again, "/work/a")).body["code"] == "claimed"
        assert await statuses(world, evaluation_id) == ["unknown"]
        assert await count(world.ledger, "listed_outcomes") == 0


async def test_stopped_sidecar_closes_what_is_open_and_keeps_its_port(world: World) -> None:
    async with world.sidecar() as running:
        wire = wire_of(world)
        await wire.begin()
        verdict = await wire.check("read_file", "/work/a")
        assert (await wire.claim(verdict, "/work/a")).status == 201
        await wire.check("read_file", "/work/b", goal=f"Log in with the token {SECRET}")
        running.send(signal.SIGTERM)
        assert await running.ends() == 0, running.errors
        assert wire.key is not None
        assert wire.key not in running.errors
    assert await statuses(world, verdict["verdict_id"]) == ["unknown"]
    files = [path for path in world.directory.rglob("*") if path.is_file()]
    assert [
        path
        for path in files
        for secret in (wire.key, SECRET)
        if secret.encode() in path.read_bytes()
    ] == []
    async with world.sidecar():
        assert wire_of(world).port == wire.port
