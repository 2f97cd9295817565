"""LOG equals the journal, through kills of the server and beside other relays."""

import anyio
import pytest

from pmcl.bus import LOG, stored_message
from pmcl.contracts import headers
from tests.integration.outbox.pipeline import WITHIN_S, Pipeline

pytestmark = pytest.mark.anyio

KIB = 1024


@pytest.mark.parametrize(
    ("rows", "body_bytes"), [(1, 10), (8, 10), (9, 10), (500, 10), (1203, 10), (20, 250 * KIB)]
)
async def test_every_size_of_backlog_arrives(
    pipeline: Pipeline, rows: int, body_bytes: int
) -> None:
    await pipeline.commit(*(b"%d." % row + bytes(body_bytes) for row in range(rows)))
    async with pipeline.relaying():
        await pipeline.expect_equal()


async def test_a_commit_wakes_the_relay(pipeline: Pipeline) -> None:
    async with pipeline.relaying() as relay:
        for number in range(20):
            await pipeline.commit(b"%d" % number)
            with anyio.fail_after(WITHIN_S):
                await relay.caught_up()
        message = await stored_message(pipeline.admin, LOG, 20)
        assert message is not None
        assert message.data == b"19"
        assert len(message.headers[headers.CHAIN_HASH]) == 64


@pytest.mark.parametrize("relays", [1, 2])
async def test_log_equals_journal_after_kills_under_load(pipeline: Pipeline, relays: int) -> None:
    async with pipeline.relaying(relays), anyio.create_task_group() as tasks:
        tasks.start_soon(pipeline.load, 4000)
        for progress in (200, 900, 1600, 2300, 3000):
            await pipeline.log_reaches(progress)
            await pipeline.kill_server()
            await pipeline.restart_server()
    async with pipeline.relaying():
        await pipeline.expect_equal()


async def test_relays_that_compete_leave_one_log(pipeline: Pipeline) -> None:
    async with pipeline.relaying(3):
        await pipeline.load(3000)
        await pipeline.expect_equal()


async def test_a_frozen_server_leaves_no_row_out_and_none_twice(pipeline: Pipeline) -> None:
    async with pipeline.relaying():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipeline.load, 1500)
            await pipeline.log_reaches(500)
            pipeline.server.pause()
            with anyio.fail_after(WITHIN_S):
                await pipeline.admin.lost()
            pipeline.server.resume()
            await pipeline.admin.wait_ready(WITHIN_S)
        await pipeline.expect_equal()
