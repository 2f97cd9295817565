"""Whatever happens to LOG, it is made equal to the journal, and never the other way round."""

import shutil
from pathlib import Path

import anyio
import pytest

from pmcl.bus import LOG, stored_message, stream_state
from pmcl.outbox import DivergedError, JournalBehindError
from tests.integration.outbox.pipeline import WITHIN_S, Pipeline, open_pipeline, until

pytestmark = pytest.mark.anyio

BLOCK_BODY_BYTES = 8_000


async def delete_log(pipeline: Pipeline) -> None:
    await pipeline.admin.request(f"$JS.API.STREAM.DELETE.{LOG}", b"", timeout_s=WITHIN_S)


def blocks(pipeline: Pipeline) -> list[Path]:
    found = pipeline.server.config.store_dir.glob(f"**/streams/{LOG}/msgs/*.blk")
    return sorted(found, key=lambda path: int(path.stem))


def flip_a_bit(block: Path) -> None:
    data = bytearray(block.read_bytes())
    data[len(data) // 2] ^= 1
    block.write_bytes(data)


async def test_log_deleted_under_load_is_rebuilt(pipeline: Pipeline) -> None:
    async with pipeline.relaying():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipeline.load, 2000)
            for progress in (300, 800, 1300):
                await pipeline.log_reaches(progress)
                await delete_log(pipeline)
        await pipeline.expect_equal()


async def test_log_deleted_is_found_by_the_check_without_new_rows(pipeline: Pipeline) -> None:
    async with pipeline.relaying(check_s=0.05):
        await pipeline.load(100)
        await delete_log(pipeline)

        async def rebuilt() -> bool:
            return await pipeline.log_last() == 100

        await until(rebuilt)
        await pipeline.expect_equal()


async def test_log_put_back_from_an_older_copy_gets_its_tail(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    store, copy = pipeline.server.config.store_dir, tmp_path / "older"
    async with pipeline.relaying():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipeline.load, 2000)
            await pipeline.log_reaches(400)
            await pipeline.kill_server()
            shutil.copytree(store, copy)
            await pipeline.restart_server()
            await pipeline.log_reaches(1200)
            await pipeline.kill_server()
            shutil.rmtree(store)
            shutil.copytree(copy, store)
            await pipeline.restart_server()
        await pipeline.expect_equal()


@pytest.mark.parametrize("which", [0, -1])
async def test_log_with_a_damaged_block_is_made_whole(pipeline: Pipeline, which: int) -> None:
    async with pipeline.relaying():
        await pipeline.load(2500, BLOCK_BODY_BYTES)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipeline.load, 500)
            await pipeline.log_reaches(2600)
            await pipeline.kill_server()
            assert len(blocks(pipeline)) > 1, "an older block is what this is about"
            flip_a_bit(blocks(pipeline)[which])
            await pipeline.restart_server()
        await pipeline.expect_equal()


@pytest.mark.parametrize("own", [0, 30, 100], ids=["shorter", "diverged", "diverged and longer"])
async def test_a_ledger_behind_log_is_refused_and_log_kept(
    pipeline: Pipeline, tmp_path: Path, own: int
) -> None:
    first = [b"%d" % number for number in range(50)]
    await pipeline.commit(*first)
    async with pipeline.relaying():
        await pipeline.commit(*(b"later %d" % number for number in range(30)))
        await pipeline.expect_equal()
    before = await stream_state(pipeline.admin, LOG)
    expected = DivergedError if own else JournalBehindError
    older_path = tmp_path / "older.sqlite"
    async with open_pipeline(pipeline.server, older_path, pipeline.admin) as older:
        await older.commit(*first)
        if own:
            await older.commit(*(b"own %d" % number for number in range(own)))
        async with older.relay() as relay:
            with pytest.raises(expected, match="row 80"):
                await relay.check()
            with anyio.fail_after(WITHIN_S), pytest.raises(expected):
                await relay.run()
    assert await stream_state(pipeline.admin, LOG) == before
    last = await stored_message(pipeline.admin, LOG, 80)
    assert last is not None
    assert last.data == b"later 29"


async def test_an_empty_ledger_beside_a_full_log_is_refused(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    async with pipeline.relaying():
        await pipeline.commit(b"1")
        await pipeline.expect_equal()
    path = tmp_path / "new.sqlite"
    async with (
        open_pipeline(pipeline.server, path, pipeline.admin) as new,
        new.relay() as relay,
    ):
        with pytest.raises(JournalBehindError, match="older copy"):
            await relay.check()


async def test_log_that_is_missing_at_start_is_made(pipeline: Pipeline) -> None:
    await pipeline.commit(b"1", b"2")
    await delete_log(pipeline)
    async with pipeline.relay() as relay:
        await relay.check()
    state = await stream_state(pipeline.admin, LOG)
    assert state is not None
    assert (state.messages, state.last) == (0, 0)
    async with pipeline.relaying():
        await pipeline.expect_equal()
