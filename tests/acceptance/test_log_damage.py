"""Whatever happens to LOG while the sidecar works, it is made equal to the journal again."""

import random
import shutil
from pathlib import Path

import anyio
import pytest

from pmcl.bus import LOG, open_connection
from pmcl.bus.jetstream import call
from pmcl.outbox import Relay, RelayConfig
from tests.acceptance.facts import count, log_is_the_journal, rows, until
from tests.acceptance.load import Load, loading
from tests.acceptance.world import World

pytestmark = pytest.mark.anyio

STORE_WITHIN_S = 40.0


async def expect_whole(world: World, load: Load, *, observed: bool = True) -> None:
    """LOG is the journal, and the ledger has all that was acknowledged, once."""
    async with world.admin() as admin:
        await log_is_the_journal(world.ledger, admin)
    if observed:
        found = [row["evidence_id"] for row in await rows(world.ledger, "SELECT * FROM evidence")]
        assert len(found) == len(set(found))
        assert set(load.acked) <= set(found)

    async def closed() -> bool:
        outcomes = await rows(
            world.ledger, "SELECT evaluation_id FROM outcomes WHERE corrected_by IS NULL"
        )
        ids = [row["evaluation_id"] for row in outcomes]
        return len(ids) == len(set(ids)) and set(load.used) <= set(ids)

    await until(closed)
    assert await count(world.ledger, "listed_outcomes") == 0


async def test_log_deleted_under_load_is_rebuilt(world: World) -> None:
    async with world.sidecar(), world.admin() as admin:
        async with loading(world.host()) as load:
            for _ in range(3):
                await load.grows(acked=500, used=5)
                await call(admin, f"STREAM.DELETE.{LOG}")
            await load.grows(acked=500, used=5)
        await expect_whole(world, load)


async def test_store_put_back_from_an_older_copy_gets_its_tail(world: World) -> None:
    """All streams go back: what INTAKE lost of the outcomes, the host still has."""
    store, copy = world.server.config.store_dir, world.directory / "older"
    async with world.sidecar():
        async with loading(world.host(), observes=False) as load:
            await load.grows(used=50)
            world.server.kill()
            shutil.copytree(store, copy)
            await world.restart_server()
            await load.grows(used=100)
            world.server.kill()
            shutil.rmtree(store)
            shutil.copytree(copy, store)
            await world.restart_server()
            await load.grows(used=50)
        await expect_whole(world, load, observed=False)


async def test_log_put_back_from_an_older_copy_gets_its_tail(world: World) -> None:
    stream = log_directory(world)
    copy = world.directory / "older"
    async with world.sidecar():
        async with loading(world.host()) as load:
            await load.grows(acked=500)
            world.server.kill()
            shutil.copytree(stream, copy)
            await world.restart_server()
            await load.grows(acked=1000)
            world.server.kill()
            shutil.rmtree(stream)
            shutil.copytree(copy, stream)
            await world.restart_server()
            await load.grows(acked=500)
        await expect_whole(world, load)


async def test_damaged_older_block_is_made_whole(world: World, seed: int) -> None:
    chosen = random.Random(seed)
    async with world.sidecar():
        async with loading(world.host()) as load:
            await until(lambda: has_older_block(world), within_s=STORE_WITHIN_S)
            await load.grows(acked=200)
            world.server.kill()
            flip_a_byte(chosen.choice(blocks(world)[:-1]), chosen)
            await world.restart_server()
            await load.grows(acked=200)
        await expect_whole(world, load)


async def test_damage_is_found_when_nothing_was_under_way(world: World, seed: int) -> None:
    async with world.sidecar(PMCL_HEARTBEAT_MS="60000"):
        async with loading(world.host()) as load:
            await until(lambda: has_older_block(world), within_s=STORE_WITHIN_S)
        await expect_whole(world, load)
        world.server.kill()
        flip_a_byte(blocks(world)[0], random.Random(seed))
        await world.restart_server()
        await expect_whole(world, load)


def log_directory(world: World) -> Path:
    return world.server.config.store_dir / "jetstream" / "CORE" / "streams" / LOG


def blocks(world: World) -> list[Path]:
    found = (log_directory(world) / "msgs").glob("*.blk")
    return sorted(found, key=lambda path: int(path.stem))


async def has_older_block(world: World) -> bool:
    return len(blocks(world)) > 1


def flip_a_byte(block: Path, chosen: random.Random) -> None:
    data = bytearray(block.read_bytes())
    data[chosen.randrange(len(data))] ^= 0xFF
    block.write_bytes(data)


async def test_two_relays_on_one_ledger_leave_one_log(world: World) -> None:
    async with (
        world.sidecar(),
        open_connection(world.server.connection_config("relay")) as connection,
    ):
        await connection.wait_ready(10)
        async with loading(world.host()) as load, anyio.create_task_group() as tasks:
            relay = Relay(connection, world.ledger, world.admin, RelayConfig(check_s=0.05))
            tasks.start_soon(relay.run)
            for _ in range(20):
                await load.grows(acked=100)
                relay.wake()
            with anyio.fail_after(10):
                await relay.caught_up()
            tasks.cancel_scope.cancel()
        await expect_whole(world, load)
