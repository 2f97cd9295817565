from collections import Counter
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from pmcl.bus import (
    INTAKE,
    Connection,
    Delivery,
    Outgoing,
    PullConfig,
    StreamLimits,
    StreamMissingError,
    ensure_streams,
    publish_batch,
    publish_stored,
    pull,
    rewind_consumers,
)
from pmcl.bus.jetstream import call
from pmcl.contracts import BusError
from tests.integration.bus.intake import CONFIG, OBSERVED, Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


class Seen:
    """What was handled, and a way to wait for it."""

    def __init__(self) -> None:
        self.numbers: Counter[int] = Counter()
        self._changed = anyio.Event()

    async def handle(self, delivery: Delivery) -> None:
        self.note(delivery)
        await delivery.ack()

    def note(self, delivery: Delivery) -> None:
        self.numbers[int(delivery.message.data)] += 1
        self._changed.set()

    async def wait_for(self, count: int, timeout_s: float = 10) -> None:
        with anyio.fail_after(timeout_s):
            while len(self.numbers) < count:
                self._changed = anyio.Event()
                await self._changed.wait()


async def store(host: Connection, first: int, count: int) -> None:
    batch = [Outgoing(OBSERVED, str(n).encode(), {}) for n in range(first, first + count)]
    await publish_batch(host, INTAKE, batch, 5)


async def acked(admin: Connection) -> int:
    info = await call(admin, f"CONSUMER.INFO.{INTAKE}.observe")
    floor: int = info["ack_floor"]["stream_seq"]
    return floor


@pytest.fixture
async def host(connect: Connect, admin: Connection) -> Connection:
    return await connect("s/a")


@pytest.fixture
async def worker(connect: Connect, admin: Connection) -> Connection:
    return await connect("worker")


async def test_every_message_is_handled_once(
    host: Connection, worker: Connection, admin: Connection
) -> None:
    seen = Seen()
    await store(host, 0, 300)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, seen.handle)
        await seen.wait_for(300)
        await store(host, 300, 300)
        await seen.wait_for(600)
        with anyio.fail_after(5):
            while await acked(admin) < 600:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert set(seen.numbers.values()) == {1}


async def test_delivery_tells_subject_and_sequence(host: Connection, worker: Connection) -> None:
    got: list[Delivery] = []
    came = anyio.Event()

    async def handle(delivery: Delivery) -> None:
        got.append(delivery)
        await delivery.ack()
        came.set()

    stored = await publish_stored(host, OBSERVED, b"x", headers={"Pmcl-Number": "7"}, timeout_s=5)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, handle)
        with anyio.fail_after(5):
            await came.wait()
        tasks.cancel_scope.cancel()

    assert got[0].message.subject == OBSERVED
    assert got[0].message.headers == {"Pmcl-Number": "7"}
    assert (got[0].stream_sequence, got[0].attempt) == (stored.sequence, 1)


async def test_no_more_than_slots_run_at_once_and_all_slots_are_used(
    host: Connection, worker: Connection
) -> None:
    running = most = 0
    full = anyio.Event()
    seen = Seen()

    async def handle(delivery: Delivery) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == CONFIG.slots:
            full.set()
        with anyio.fail_after(10):
            await full.wait()
        running -= 1
        await seen.handle(delivery)

    await store(host, 0, 200)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, handle)
        await seen.wait_for(200)
        tasks.cancel_scope.cancel()

    assert most == CONFIG.slots


async def test_pull_goes_on_through_kills_of_the_server(
    connect: Connect, nats_server: NatsServer
) -> None:
    limits = StreamLimits(ack_wait_s=1)
    await ensure_streams(await connect("admin"), limits)
    host, worker = await connect("s/a"), await connect("worker")
    seen = Seen()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            pull,
            worker,
            PullConfig(stream=INTAKE, durable="observe", slots=4, ack_wait_s=1),
            seen.handle,
        )
        for first in (0, 100, 200):
            await store(host, first, 100)
            await seen.wait_for(first + 10)
            nats_server.kill()
            with anyio.fail_after(5):
                await host.lost()
            nats_server.start()
            await host.wait_ready(5)
        await seen.wait_for(300)
        tasks.cancel_scope.cancel()


async def test_an_idle_pull_hears_the_first_message_after_a_restart(
    host: Connection, worker: Connection, nats_server: NatsServer
) -> None:
    seen = Seen()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, seen.handle)
        await store(host, 0, 1)
        await seen.wait_for(1)
        nats_server.kill()
        with anyio.fail_after(5):
            await host.lost()
        nats_server.start()
        await host.wait_ready(5)
        await store(host, 1, 1)
        await seen.wait_for(2, timeout_s=2)
        tasks.cancel_scope.cancel()


async def test_a_deleted_consumer_ends_the_pull_and_a_new_one_is_served(
    host: Connection, worker: Connection, admin: Connection
) -> None:
    seen = Seen()
    await store(host, 0, 1)
    ended = anyio.Event()

    async def pull_until_missing() -> None:
        with pytest.raises(StreamMissingError):
            await pull(worker, CONFIG, seen.handle)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull_until_missing)
        await seen.wait_for(1)
        await call(admin, f"CONSUMER.DELETE.{INTAKE}.observe")
        with anyio.fail_after(5):
            await ended.wait()
        await ensure_streams(admin)
        await store(host, 1, 1)
        tasks.start_soon(pull, worker, CONFIG, seen.handle)
        await seen.wait_for(2)
        tasks.cancel_scope.cancel()


async def test_a_consumer_that_is_made_again_in_time_is_served_on(
    host: Connection, worker: Connection, admin: Connection
) -> None:
    seen = Seen()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, seen.handle)
        await store(host, 0, 1)
        await seen.wait_for(1)
        await call(admin, f"CONSUMER.DELETE.{INTAKE}.observe")
        await ensure_streams(admin)
        await store(host, 1, 1)
        await seen.wait_for(2)
        tasks.cancel_scope.cancel()


async def test_a_slow_handler_keeps_its_message(connect: Connect) -> None:
    await ensure_streams(await connect("admin"), StreamLimits(ack_wait_s=0.3))
    host, worker = await connect("s/a"), await connect("worker")
    seen = Seen()

    async def handle(delivery: Delivery) -> None:
        seen.note(delivery)
        if int(delivery.message.data) == 0:
            await seen.wait_for(2)
        await delivery.ack()

    async def later() -> None:
        """Come with the second message when the first one's time was over four times."""
        await anyio.sleep(1.2)
        await store(host, 1, 1)

    await store(host, 0, 1)
    async with anyio.create_task_group() as tasks:
        config = PullConfig(stream=INTAKE, durable="observe", slots=4, ack_wait_s=0.3)
        tasks.start_soon(pull, worker, config, handle)
        tasks.start_soon(later)
        await seen.wait_for(2)
        tasks.cancel_scope.cancel()

    assert seen.numbers == {0: 1, 1: 1}


async def test_what_a_cancelled_pull_held_comes_again_at_once(
    host: Connection, worker: Connection
) -> None:
    held, seen = Seen(), Seen()

    async def hold(delivery: Delivery) -> None:
        held.note(delivery)
        await anyio.sleep_forever()

    await store(host, 0, 5)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, hold)
        await held.wait_for(5)
        tasks.cancel_scope.cancel()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, seen.handle)
        await seen.wait_for(5, timeout_s=2)
        tasks.cancel_scope.cancel()


async def test_what_a_dead_worker_held_comes_again_after_a_rewind(
    host: Connection, worker: Connection, admin: Connection, nats_server: NatsServer
) -> None:
    took = anyio.Event()

    async def take(_: object) -> None:
        took.set()

    inbox = worker.new_inbox()
    await worker.subscribe(inbox, take)
    await store(host, 0, 1)
    await worker.publish(
        f"$JS.API.CONSUMER.MSG.NEXT.{INTAKE}.observe", b'{"batch": 1}', reply=inbox
    )
    with anyio.fail_after(5):
        await took.wait()
    seen = Seen()

    await rewind_consumers(admin)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, seen.handle)
        await seen.wait_for(1, timeout_s=2)
        tasks.cancel_scope.cancel()


async def test_nak_brings_a_message_again_and_term_does_not(
    host: Connection, worker: Connection, admin: Connection
) -> None:
    seen = Seen()

    async def handle(delivery: Delivery) -> None:
        seen.note(delivery)
        match int(delivery.message.data), seen.numbers[0]:
            case 0, 1:
                await delivery.nak()
            case 0, 2:
                await delivery.nak(delay_ms=10)
            case 1, _:
                await delivery.term()
            case _:
                await delivery.ack()

    await store(host, 0, 2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pull, worker, CONFIG, handle)
        with anyio.fail_after(5):
            while await acked(admin) < 2:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert seen.numbers == {0: 3, 1: 1}


async def test_an_error_of_a_handler_ends_the_pull_and_gives_the_message_back(
    host: Connection, worker: Connection
) -> None:
    async def fail(delivery: Delivery) -> None:
        raise BusError(delivery.message.subject)

    seen = Seen()
    await store(host, 0, 1)
    with anyio.fail_after(5), pytest.raises(BusError, match="observation"):
        await pull(worker, CONFIG, fail)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(pull, worker, CONFIG, seen.handle))
        await seen.wait_for(1, timeout_s=2)
        tasks.cancel_scope.cancel()
