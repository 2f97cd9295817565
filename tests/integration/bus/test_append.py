from collections.abc import Awaitable

import anyio
import pytest

from pmcl.bus import (
    INTAKE,
    LOG,
    AppendRefusedError,
    BusClosedError,
    Connection,
    LogRow,
    Message,
    NoRespondersError,
    Outgoing,
    StreamLimits,
    StreamMissingError,
    StreamState,
    UncertainAppendError,
    WrongSequenceError,
    append_batch,
    append_pipelined,
    ensure_streams,
    publish_batch,
    publish_stored,
    stored_message,
    stream_state,
)
from tests.integration.bus.intake import OBSERVED, Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


def rows(first: int, count: int) -> list[LogRow]:
    return [
        LogRow("pmcl.v1.event.s.a.recorded", f"body {n}".encode(), f"hash{n}")
        for n in range(first, first + count)
    ]


def observations(first: int, count: int) -> list[Outgoing]:
    return [
        Outgoing(OBSERVED, b"{}", {"Nats-Msg-Id": f"id{n}", "Pmcl-Number": str(n)})
        for n in range(first, first + count)
    ]


async def state(admin: Connection, stream: str = LOG) -> StreamState:
    found = await stream_state(admin, stream)
    assert found is not None
    return found


@pytest.fixture
async def relay(connect: Connect, admin: Connection) -> Connection:
    return await connect("relay")


@pytest.fixture
async def host(connect: Connect, admin: Connection) -> Connection:
    return await connect("s/a")


async def test_pipelined_rows_lie_in_order_with_their_hash(relay: Connection) -> None:
    assert await append_pipelined(relay, rows(1, 8), 0, 5) == 8
    assert await append_pipelined(relay, rows(9, 1), 8, 5) == 9

    for sequence in range(1, 10):
        message = await stored_message(relay, LOG, sequence)
        assert message is not None
        assert message.data == f"body {sequence}".encode()
        assert message.headers == {"Pmcl-Hash": f"hash{sequence}"}


@pytest.mark.parametrize("count", [1, 2, 500])
async def test_batch_rows_lie_in_order_with_their_hash(relay: Connection, count: int) -> None:
    assert await append_batch(relay, LOG, rows(1, count), 0, 5) == count
    assert await append_batch(relay, LOG, rows(count + 1, count), count, 5) == 2 * count

    for sequence in (1, count, count + 1, 2 * count):
        message = await stored_message(relay, LOG, sequence)
        assert message is not None
        assert message.data == f"body {sequence}".encode()
        assert message.headers["Pmcl-Hash"] == f"hash{sequence}"


@pytest.mark.parametrize("believed", [1, 7])
async def test_a_writer_that_is_wrong_about_the_end_stores_nothing(
    relay: Connection, believed: int
) -> None:
    await append_pipelined(relay, rows(1, 3), 0, 5)

    with pytest.raises(WrongSequenceError) as single:
        await append_pipelined(relay, rows(believed + 1, 1), believed, 5)
    with pytest.raises(WrongSequenceError) as batch:
        await append_batch(relay, LOG, rows(believed + 1, 20), believed, 5)

    assert single.value.actual == batch.value.actual == 3
    assert (await state(relay)).messages == 3


async def test_what_a_late_writer_pipelines_lies_at_its_own_number(relay: Connection) -> None:
    await append_pipelined(relay, rows(1, 3), 0, 5)

    with pytest.raises(WrongSequenceError):
        await append_pipelined(relay, rows(2, 3), 1, 5)

    message = await stored_message(relay, LOG, 4)
    assert message is not None
    assert message.data == b"body 4"
    assert (await state(relay)).messages == 4


async def test_of_two_writers_one_appends_and_the_other_learns_it(
    connect: Connect, relay: Connection
) -> None:
    other = await connect("relay")
    ends: list[object] = []

    async def append(connection: Connection) -> None:
        try:
            ends.append(await append_batch(connection, LOG, rows(1, 100), 0, 5))
        except WrongSequenceError as error:
            ends.append(error.actual)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(append, relay)
        tasks.start_soon(append, other)

    assert ends == [100, 100]
    assert (await state(relay)).messages == 100


async def test_a_batch_without_its_stream_is_refused(relay: Connection, admin: Connection) -> None:
    await admin.request("$JS.API.STREAM.DELETE.LOG", b"", timeout_s=5)

    with pytest.raises(StreamMissingError):
        await append_batch(relay, LOG, rows(1, 20), 0, 5)
    with pytest.raises(StreamMissingError):
        await append_pipelined(relay, rows(1, 2), 0, 5)


async def test_a_full_stream_refuses_the_whole_batch(
    connect: Connect, nats_server: NatsServer
) -> None:
    admin = await connect("admin")
    await ensure_streams(admin, StreamLimits(intake_bytes=2000))
    host = await connect("s/a")

    with pytest.raises(AppendRefusedError) as raised:
        await publish_batch(host, INTAKE, observations(1, 100), 5)

    assert raised.value.code == 10077
    assert (await state(admin, INTAKE)).messages == 0


async def test_a_lost_connection_ends_an_append_at_once_and_uncertain(
    relay: Connection, nats_server: NatsServer
) -> None:
    nats_server.pause()
    ends: list[BaseException] = []

    async def append(call: Awaitable[int]) -> None:
        with pytest.raises(UncertainAppendError) as raised:
            await call
        ends.append(raised.value)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(append, append_batch(relay, LOG, rows(1, 20), 0, 60))
            tasks.start_soon(append, append_pipelined(relay, rows(1, 3), 0, 60))
            await anyio.wait_all_tasks_blocked()
            nats_server.kill()
    assert len(ends) == 2

    with pytest.raises(BusClosedError):
        await append_batch(relay, LOG, rows(1, 20), 0, 5)


async def test_an_unanswered_append_is_uncertain(
    relay: Connection, nats_server: NatsServer
) -> None:
    nats_server.pause()
    try:
        with anyio.fail_after(3), pytest.raises(UncertainAppendError):
            await append_batch(relay, LOG, rows(1, 20), 0, 0.05)
    finally:
        nats_server.resume()


async def test_events_of_a_refused_batch_are_not_shown(connect: Connect, relay: Connection) -> None:
    host = await connect("s/a")
    shown: list[Message] = []
    last = anyio.Event()

    async def show(message: Message) -> None:
        shown.append(message)
        if message.data == b"body 3":
            last.set()

    await host.subscribe("pmcl.v1.stored.event.s.a.>", show)
    with pytest.raises(NoRespondersError):
        await host.request("pmcl.v1.context.s.a", b"", timeout_s=5)
    with pytest.raises(WrongSequenceError):
        await append_batch(relay, LOG, rows(50, 20), 7, 5)
    await append_batch(relay, LOG, rows(1, 3), 0, 5)
    with anyio.fail_after(5):
        await last.wait()

    assert [message.data for message in shown] == [b"body 1", b"body 2", b"body 3"]
    assert shown[2].headers == {"Pmcl-Hash": "hash3", "Nats-Sequence": "3"}


async def test_a_hosts_batch_is_stored_with_its_headers(
    host: Connection, admin: Connection
) -> None:
    assert await publish_batch(host, INTAKE, observations(1, 100), 5) == 100

    message = await stored_message(admin, INTAKE, 42)
    assert message is not None
    assert message.subject == OBSERVED
    assert message.headers == {"Nats-Msg-Id": "id42", "Pmcl-Number": "42"}


async def test_a_hosts_batch_with_a_known_id_is_refused_whole(
    host: Connection, admin: Connection
) -> None:
    await publish_batch(host, INTAKE, observations(1, 3), 5)

    with pytest.raises(AppendRefusedError) as raised:
        await publish_batch(host, INTAKE, observations(3, 3), 5)

    assert raised.value.code == 10201
    assert (await state(admin, INTAKE)).messages == 3


async def test_the_same_message_again_is_stored_once(host: Connection) -> None:
    fields = {"Nats-Msg-Id": "one"}

    first = await publish_stored(host, OBSERVED, b"{}", headers=fields, timeout_s=5)
    again = await publish_stored(host, OBSERVED, b"{}", headers=fields, timeout_s=5)

    assert (first.sequence, first.duplicate) == (1, False)
    assert (again.sequence, again.duplicate) == (1, True)


async def test_a_host_without_a_stream_learns_that_nothing_is_stored(connect: Connect) -> None:
    host = await connect("s/a")

    with pytest.raises(StreamMissingError):
        await publish_stored(host, OBSERVED, b"{}", headers={}, timeout_s=5)
