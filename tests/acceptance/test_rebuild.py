"""After kills, redeliveries and duplicates, events alone still give the ledger back."""

import signal
from typing import Any

import msgspec
import pytest

from pmcl.bus import DURABLES, INTAKE, Connection
from pmcl.bus.jetstream import call
from tests.acceptance.facts import count, rows, until
from tests.acceptance.load import Load, loading
from tests.acceptance.processes import Finished, pmcl
from tests.acceptance.world import READY_S, World

pytestmark = pytest.mark.anyio

WITHIN_S = 60.0


async def rebuild(world: World, *arguments: str) -> tuple[Finished, dict[str, Any]]:
    finished = await pmcl(
        "rebuild", "--json", "--state-dir", str(world.state_dir), *arguments,
        environment=world.environment | {
            "PMCL_SERVER_URL": world.server.url,
            "PMCL_SERVER_MONITOR_URL": world.server.monitor_url,
        },
        within_s=WITHIN_S,
    )  # fmt: skip
    assert finished.stdout, finished.stderr
    return finished, msgspec.json.decode(finished.stdout)


async def deliver_again(admin: Connection) -> None:
    """Have the server deliver all of INTAKE once more."""
    for durable in DURABLES:
        await call(admin, f"CONSUMER.DELETE.{INTAKE}.{durable}")


async def recorded(world: World, load: Load) -> bool:
    found = {row["evidence_id"] for row in await rows(world.ledger, "SELECT * FROM evidence")}
    return set(load.acked) <= found and not await count(world.ledger, "inbox_beyond")


@pytest.mark.long
async def test_digests_are_equal_after_kills_and_redeliveries(world: World) -> None:
    async with loading(world.host()) as load, world.admin() as admin:
        for acked in (800, 800):
            async with world.sidecar() as sidecar:
                await load.grows(acked=acked, used=10)
                sidecar.send(signal.SIGKILL)
                await sidecar.ends()
        async with world.sidecar() as sidecar:
            await load.grows(acked=400, used=5)
            world.server.kill()
            await world.restart_server()
            await admin.wait_ready(READY_S)
            await deliver_again(admin)
            await load.grows(acked=800, used=10)
            load.stopped = True
            await until(lambda: recorded(world, load), within_s=40)
            sidecar.send(signal.SIGINT)
            assert await sidecar.ends() == 0

    finished, report = await rebuild(world)

    assert report["same"], [table for table in report["tables"] if table["old"] != table["new"]]
    assert finished.code == 0
    assert report["rows"] == await count(world.ledger, "journal") > 2800
    found = {table["table"]: table["rows"] for table in report["tables"]}
    assert found["evidence"] >= 2800
    assert found["payloads"] == found["evidence"] + found["evaluations"]
    assert min(found[name] for name in ("outcomes", "leases", "inbox_watermarks")) > 0
    assert report["payloads"]["unavailable"] == 0
