from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

import pmcl.bus.connection
from pmcl.bus import (
    BusBusyError,
    BusClosedError,
    BusTimeoutError,
    Connection,
    Message,
    MessageTooLargeError,
    NoRespondersError,
    open_connection,
)
from pmcl.bus.message import frame
from tests.integration.bus.intake import Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

ASKED = "pmcl.v1.checkpoint.s.a.plan"
FAST = {"probe_interval_s": 0.05, "probe_timeout_s": 0.1, "connect_timeout_s": 0.5}


def _answering(worker: Connection) -> Callable[[Message], Awaitable[None]]:
    async def answer(message: Message) -> None:
        await worker.publish(message.reply, b"re:" + message.data)

    return answer


async def echo(worker: Connection) -> None:
    await worker.subscribe(ASKED, _answering(worker))


async def worker_round_trip(worker: Connection) -> None:
    came = anyio.Event()

    async def arrived(_: Message) -> None:
        came.set()

    inbox = worker.new_inbox()
    subscription = await worker.subscribe(inbox, arrived)
    with anyio.fail_after(5):
        await worker.publish(inbox, b"")
        await came.wait()
    await subscription.unsubscribe()


async def silence(worker: Connection) -> anyio.Event:
    """Someone listens, and says nothing."""
    asked = anyio.Event()

    async def listen(_: Message) -> None:
        asked.set()

    await worker.subscribe(ASKED, listen)
    return asked


async def flood(host: Connection) -> None:
    while True:
        await host.publish(ASKED, bytes(900_000))
        await anyio.lowlevel.checkpoint()


async def fails_with(
    error: type[Exception], call: Awaitable[object], outcome: list[BaseException]
) -> None:
    with pytest.raises(error) as raised:
        await call
    outcome.append(raised.value)


async def test_request_gets_the_reply(connect: Connect) -> None:
    await echo(await connect("worker"))
    host = await connect("s/a")

    reply = await host.request(ASKED, b"x", timeout_s=5)

    assert reply.data == b"re:x"


async def test_request_without_listener_fails_at_once(connect: Connect) -> None:
    host = await connect("s/a")

    with anyio.fail_after(2), pytest.raises(NoRespondersError):
        await host.request(ASKED, b"x", timeout_s=60)


async def test_who_subscribed_is_found_at_once(connect: Connect) -> None:
    asking, worker = await connect("s/a"), await connect("worker")
    for _ in range(50):
        subscription = await worker.subscribe(ASKED, _answering(worker))
        reply = await asking.request(ASKED, b"x", timeout_s=5)
        assert reply.data == b"re:x"
        await subscription.unsubscribe()
        await worker_round_trip(worker)


async def test_connection_that_is_ready_is_found_at_once(
    connect: Connect, nats_server: NatsServer
) -> None:
    asking = await connect("s/a")
    for _ in range(20):
        async with open_connection(nats_server.connection_config("worker")) as worker:
            await worker.subscribe(ASKED, _answering(worker))  # before there is a client
            await worker.wait_ready(5)
            reply = await asking.request(ASKED, b"x", timeout_s=5)
            assert reply.data == b"re:x"


async def test_request_without_answer_times_out(connect: Connect) -> None:
    await silence(await connect("worker"))
    host = await connect("s/a")

    with anyio.fail_after(2), pytest.raises(BusTimeoutError):
        await host.request(ASKED, b"x", timeout_s=0.05)


async def test_kill_ends_waits_and_connection_comes_back_with_subscriptions(
    connect: Connect, nats_server: NatsServer
) -> None:
    worker, host = await connect("worker"), await connect("s/a")
    asked = await silence(worker)
    ups: list[int] = []
    host.on_ready(lambda: ups.append(1))
    outcome: list[BaseException] = []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            request = host.request(ASKED, b"x", timeout_s=60)
            tasks.start_soon(fails_with, BusClosedError, request, outcome)
            await asked.wait()
            nats_server.kill()
    assert isinstance(outcome[0], BusClosedError)
    assert outcome[0].sent
    assert not host.ready

    nats_server.start()
    await host.wait_ready(5)
    await worker.wait_ready(5)

    await echo(worker)
    assert (await host.request(ASKED, b"y", timeout_s=5)).data == b"re:y"
    assert ups == [1]


async def test_publish_while_down_fails_and_is_not_kept(
    connect: Connect, nats_server: NatsServer
) -> None:
    worker, host = await connect("worker"), await connect("s/a")
    heard: list[bytes] = []

    async def listen(message: Message) -> None:
        heard.append(message.data)

    await worker.subscribe(ASKED, listen)
    nats_server.kill()
    with anyio.fail_after(5):
        await host.lost()
    with pytest.raises(BusClosedError) as raised:
        await host.publish(ASKED, b"while down")
    assert not raised.value.sent

    nats_server.start()
    await host.wait_ready(5)
    await worker.wait_ready(5)
    await worker_round_trip(worker)
    await host.publish(ASKED, b"after")
    with anyio.fail_after(5):
        while b"after" not in heard:
            await worker_round_trip(worker)
    assert heard == [b"after"]


async def test_connection_waits_for_a_server_that_comes_later(nats_server: NatsServer) -> None:
    nats_server.kill()
    async with open_connection(nats_server.connection_config("s/a")) as host:
        assert not host.ready
        with pytest.raises(BusTimeoutError):
            await host.wait_ready(0.05)

        nats_server.start()

        await host.wait_ready(5)


async def test_watchdog_replaces_a_deaf_client(connect: Connect, nats_server: NatsServer) -> None:
    worker, host = await connect("worker"), await connect("s/a", **FAST)
    await echo(worker)
    nats_server.pause()
    try:
        with anyio.fail_after(3):
            await host.lost()
        assert not host.ready
    finally:
        nats_server.resume()

    await host.wait_ready(5)
    await worker.wait_ready(5)
    assert (await host.request(ASKED, b"x", timeout_s=5)).data == b"re:x"


async def test_connection_is_rebuilt_when_the_server_closes_it(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, host = await connect("worker"), await connect("s/a")
    heard = anyio.Event()

    async def listen(_: Message) -> None:
        heard.set()

    await host.subscribe(f"{host.new_inbox()}.kept", listen)
    with monkeypatch.context() as patch:
        patch.setattr(pmcl.bus.connection, "frame", lambda s, d, h, r, _: frame(s, d, h, r, 10**9))
        oversize = {"traceparent": "x" * 100}
        await host.publish(ASKED, bytes(1024 * 1024), headers=oversize)
        with anyio.fail_after(5):
            await host.lost()

    await host.wait_ready(5)
    kept = next(s for s in host._subscriptions.values() if s.subject.endswith(".kept"))
    await host.publish(kept.subject, b"")
    with anyio.fail_after(5):
        await heard.wait()
    assert worker.ready


async def test_too_large_with_headers_is_refused_before_it_is_sent(connect: Connect) -> None:
    host = await connect("s/a")
    limit = 1024 * 1024

    with pytest.raises(MessageTooLargeError) as raised:
        await host.publish(ASKED, bytes(limit - 50), headers={"traceparent": "x" * 50})

    assert raised.value.limit_bytes == limit
    await host.publish(ASKED, bytes(limit - 100), headers={"traceparent": "x" * 50})
    with anyio.fail_after(5), pytest.raises(NoRespondersError):
        await host.request(ASKED, b"", timeout_s=5)


async def test_publish_never_waits_when_the_server_does_not_read(
    connect: Connect, nats_server: NatsServer
) -> None:
    host = await connect("s/a", max_pending_bytes=4_000_000, close_timeout_s=0.1)
    nats_server.pause()
    try:
        with anyio.fail_after(3), pytest.raises(BusBusyError) as raised:
            await flood(host)
        assert raised.value.limit_bytes == 4_000_000
    finally:
        nats_server.resume()


async def test_connection_closes_in_time_when_the_server_is_stopped(
    nats_server: NatsServer,
) -> None:
    async with open_connection(nats_server.connection_config("s/a")) as host:
        await host.wait_ready(5)
        nats_server.pause()
        for _ in range(7):
            await host.publish(ASKED, bytes(900_000))
            await anyio.lowlevel.checkpoint()
        started = anyio.current_time()
    assert anyio.current_time() - started < 2


async def test_a_foreign_status_header_is_not_read(
    connect: Connect, nats_server: NatsServer
) -> None:
    import nats

    worker = await connect("worker")
    heard: list[Message] = []

    async def listen(message: Message) -> None:
        heard.append(message)
        await worker.publish(message.reply, b"ok")

    await worker.subscribe(ASKED, listen)
    await worker_round_trip(worker)
    credentials = nats_server.credentials("s", "a")
    plain = await nats.connect(
        nats_server.url, nkeys_seed_str=credentials.seed, inbox_prefix="_INBOX.s.a"
    )
    try:
        forged = {"Status": "503", "Description": "x", "Pmcl-Number": "7", "Foo": "bar"}
        reply = await plain.request(ASKED, b"", headers=forged, timeout=5)
    finally:
        await plain.close()

    assert reply.data == b"ok"
    assert heard[0].headers == {"Pmcl-Number": "7"}
    assert heard[0].status == ""


async def test_an_error_of_the_block_comes_out_bare(nats_server: NatsServer) -> None:
    with pytest.raises(LookupError):
        async with open_connection(nats_server.connection_config("s/a")):
            raise LookupError


async def test_a_function_that_fails_does_not_end_the_reading(connect: Connect) -> None:
    worker, came = await connect("worker"), anyio.Event()

    def take(message: Message) -> None:
        if not message.data:
            raise ZeroDivisionError
        came.set()

    inbox = worker.new_inbox()
    await worker.subscribe(inbox, take)
    await worker.publish(inbox, b"")
    await worker.publish(inbox, b"again")
    with anyio.fail_after(5):
        await came.wait()


async def test_messages_arrive_in_order_when_some_had_to_wait(
    connect: Connect, nats_server: NatsServer
) -> None:
    worker = await connect("worker", max_pending_bytes=100_000_000)
    numbers: list[int] = []
    last = anyio.Event()

    def take(message: Message) -> None:
        numbers.append(int(message.data[:3]))
        if numbers[-1] == 59:
            last.set()

    inbox = worker.new_inbox()
    await worker.subscribe(inbox, take)
    await worker_round_trip(worker)
    waited = 0
    for number in range(60):
        if number == 20:
            nats_server.pause()  # from here on the socket fills up
        if number == 40:
            assert worker._client is not None
            waited = worker._client.waiting_bytes
            nats_server.resume()
        await worker.publish(inbox, b"%03d" % number + bytes(500_000))
        if number % 3 == 0:
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(10):
        await last.wait()
    assert numbers == list(range(60))
    assert waited > 5_000_000
