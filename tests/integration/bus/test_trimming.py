from functools import partial

import anyio
import anyio.lowlevel
import pytest

from pmcl.bus import (
    INTAKE,
    Connection,
    Delivery,
    Outgoing,
    StreamLimits,
    StreamState,
    delete_message,
    drop_trimmed,
    ensure_streams,
    intake_progress,
    publish_batch,
    pull,
    stream_state,
    trim_intake,
    trimming,
)
from pmcl.bus.trimming import BLOCK_BYTES
from tests.integration.bus.intake import CONFIG, OBSERVED, Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

SMALL = StreamLimits(intake_bytes=1)
LARGE = 64 * 1024


class Intake:
    """Its messages are numbered from 1, and so are found in the server's files."""

    def __init__(self, server: NatsServer, admin: Connection, host: Connection) -> None:
        self._store = server.config.store_dir
        self._admin = admin
        self._host = host
        self._stored = 0

    async def store(self, count: int, size: int = 0) -> None:
        for number in range(self._stored + 1, self._stored + count + 1):
            body = _mark(number).ljust(size, b"x")
            await publish_batch(self._host, INTAKE, [Outgoing(OBSERVED, body, {})], 10)
        self._stored += count

    async def state(self) -> StreamState:
        found = await stream_state(self._admin, INTAKE)
        assert found is not None
        return found

    def in_files(self) -> list[int]:
        files = [path.read_bytes() for path in self._store.rglob("*") if path.is_file()]
        numbers = range(1, self._stored + 1)
        return [number for number in numbers if any(_mark(number) in data for data in files)]


def _mark(number: int) -> bytes:
    return b"<message %06d>" % number


@pytest.fixture
async def intake(nats_server: NatsServer, connect: Connect, admin: Connection) -> Intake:
    return Intake(nats_server, admin, await connect("s/a"))


async def take_all(admin: Connection, worker: Connection) -> None:
    """Every message is dealt with."""

    async def take(delivery: Delivery) -> None:
        await delivery.ack()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(pull, worker, CONFIG, take))
        with anyio.fail_after(20):
            while len(set(await intake_progress(admin))) != 1:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def test_a_full_intake_loses_only_what_is_done_with(
    connect: Connect, admin: Connection, intake: Intake
) -> None:
    await intake.store(100)
    assert await trim_intake(admin) == 0
    assert await trim_intake(admin, SMALL) == 0
    await take_all(admin, await connect("worker"))

    assert await trim_intake(admin, SMALL) == 50

    state = await intake.state()
    assert (state.first, state.last) == (51, 100)


@pytest.mark.long
async def test_what_was_trimmed_leaves_the_files_and_what_is_young_stays(
    connect: Connect, admin: Connection, intake: Intake
) -> None:
    await intake.store(300, LARGE)
    await take_all(admin, await connect("worker"))
    assert await trim_intake(admin, SMALL) == 150
    left = set(intake.in_files()) & set(range(1, 151))
    assert left != set()  # the server keeps what shares a file with younger ones
    await ensure_streams(admin)  # a restart of the sidecar forgets no trim

    dropped = await drop_trimmed(admin)

    assert left & set(intake.in_files()) == set()
    assert dropped <= BLOCK_BYTES // LARGE + 1
    state = await intake.state()
    assert (state.first, state.last) == (151 + dropped, 300)


async def test_a_small_stream_is_emptied_and_trimmed_no_more(
    connect: Connect, admin: Connection, intake: Intake
) -> None:
    await intake.store(10)
    await take_all(admin, await connect("worker"))
    await trim_intake(admin, SMALL)
    assert intake.in_files() == list(range(1, 11))

    assert await drop_trimmed(admin) == 5
    assert intake.in_files() == []

    await intake.store(1)
    assert await drop_trimmed(admin) == 0
    assert intake.in_files() == [11]


async def test_nothing_is_dropped_where_nothing_was_trimmed(
    connect: Connect, admin: Connection, intake: Intake
) -> None:
    await intake.store(10)
    await take_all(admin, await connect("worker"))
    await delete_message(admin, INTAKE, 1, overwrite=True)

    assert await drop_trimmed(admin) == 0
    assert intake.in_files() == list(range(2, 11))


async def test_what_nobody_has_dealt_with_is_waited_for(
    connect: Connect, admin: Connection, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = await connect("worker")
    await intake.store(10)
    await take_all(admin, worker)
    await trim_intake(admin, SMALL)
    await intake.store(1)
    looked = anyio.Semaphore(0)

    async def looks(connection: Connection) -> tuple[int, int]:
        looked.release()
        return await intake_progress(connection)

    monkeypatch.setattr(trimming, "intake_progress", looks)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drop_trimmed, admin)
        with anyio.fail_after(20):
            for _ in range(2):
                await looked.acquire()
        assert (await intake.state()).messages == 6
        await take_all(admin, worker)
    assert intake.in_files() == []
