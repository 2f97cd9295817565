"""What a plain NATS client with a host's key can do beyond its own name: nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import msgspec
import nats
import nats.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from pmcl.bus import (
    DEADLETTERS,
    INTAKE,
    LOG,
    BusTimeoutError,
    Connection,
    LogRow,
    Message,
    append_batch,
    open_connection,
    stored_message,
    stream_state,
)
from pmcl.bus.jetstream import call
from pmcl.bus.keys import new_seed
from tests.integration.bus.intake import Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

OWN_REQUEST = "pmcl.v1.checkpoint.s.a.plan"
OWN_OBSERVATION = "pmcl.v1.observation.s.a"

FOREIGN = [
    "pmcl.v1.observation.s.b",
    "pmcl.v1.observation.t.a",
    "pmcl.v1.outcome.s.b",
    "pmcl.v1.checkpoint.s.b.plan",
    "pmcl.v1.context.s.b",
    "pmcl.v1.lease.s.b.begin",
    "pmcl.v1.event.s.a.recorded",
    "pmcl.v1.event.s.b.recorded",
    "pmcl.v1.stored.event.s.a.recorded",
    "pmcl.v1.reflection.s.a.turn",
    "pmcl.v1.deadletter.observe",
    "pmcl.v1.ops.approve",
    "pmcl.v1.ops.scope.host.approve",
    "_INBOX.s.b.x",
    "_INBOX.worker.x",
    "_R_.x.y",
    "$JS.ACK.INTAKE.observe.1.1.1.1.1",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.CREATE.MINE",
    "$JS.API.STREAM.UPDATE.INTAKE",
    "$JS.API.STREAM.DELETE.INTAKE",
    "$JS.API.STREAM.PURGE.INTAKE",
    "$JS.API.STREAM.MSG.GET.INTAKE",
    "$JS.API.STREAM.MSG.DELETE.INTAKE",
    "$JS.API.DIRECT.GET.INTAKE",
    "$JS.API.CONSUMER.DURABLE.CREATE.INTAKE.mine",
    "$JS.API.CONSUMER.DELETE.INTAKE.observe",
    "$JS.API.CONSUMER.MSG.NEXT.INTAKE.observe",
    "$SYS.REQ.USER.INFO.x",
]
READ = [
    ">",
    "_INBOX.>",
    "_INBOX.s.b.>",
    "_INBOX.worker.>",
    "_R_.>",
    "pmcl.v1.>",
    "pmcl.v1.event.>",
    "pmcl.v1.event.s.a.>",
    "pmcl.v1.stored.>",
    "pmcl.v1.stored.event.s.b.>",
    "pmcl.v1.stored.event.t.a.>",
    "pmcl.v1.observation.s.a",
    "pmcl.v1.checkpoint.s.b.>",
    "pmcl.v1.ops.>",
    "$JS.>",
    "$SYS.>",
]


class Plain:
    """A plain client and what the server refused it."""

    def __init__(self, client: Client, errors: list[str]) -> None:
        self.client = client
        self.errors = errors

    async def settled(self) -> None:
        """All that was sent before has been dealt with: a later request has come back."""
        await self.client.request(OWN_REQUEST, b"", timeout=5)


@asynccontextmanager
async def plain_client(server: NatsServer, seed: str, prefix: str) -> AsyncIterator[Plain]:
    errors: list[str] = []

    async def failed(error: Exception) -> None:
        errors.append(str(error).lower())

    client = await nats.connect(
        server.url,
        nkeys_seed_str=seed,
        inbox_prefix=prefix,
        error_cb=failed,
        allow_reconnect=False,
    )
    try:
        yield Plain(client, errors)
    finally:
        await client.close()


@pytest.fixture
async def attacker(
    nats_server: NatsServer, worker: Connection, anyio_backend: str
) -> AsyncIterator[Plain]:
    seed = nats_server.credentials("s", "a").seed
    async with plain_client(nats_server, seed, "_INBOX.s.a") as plain:
        yield plain


class Heard(list[Message]):
    """What the worker was asked."""


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def worker(connect: Connect, admin: Connection, heard: Heard) -> Connection:
    """Answers every request, to whatever reply subject it carries, with an empty body."""
    connection = await connect("worker")
    ready = anyio.Event()

    async def answer(message: Message) -> None:
        heard.append(message)
        if message.reply:
            await connection.publish(message.reply, b"")

    async def arrived(_: Message) -> None:
        ready.set()

    for kind in ("checkpoint", "context", "lease", "ops"):
        await connection.subscribe(f"pmcl.v1.{kind}.>", answer)
    inbox = connection.new_inbox()
    await connection.subscribe(inbox, arrived)
    await connection.publish(inbox, b"")
    with anyio.fail_after(5):
        await ready.wait()
    return connection


async def stored(admin: Connection) -> dict[str, list[str]]:
    """Return the subjects of all messages by stream."""
    subjects: dict[str, list[str]] = {}
    for stream in (INTAKE, LOG, DEADLETTERS):
        state = await stream_state(admin, stream)
        assert state is not None, f"{stream} is gone"
        messages = [await stored_message(admin, stream, n + 1) for n in range(state.last)]
        subjects[stream] = [message.subject for message in messages if message is not None]
    return subjects


NOTHING: dict[str, list[str]] = {INTAKE: [], LOG: [], DEADLETTERS: []}


async def configurations(admin: Connection) -> dict[str, object]:
    names = (await call(admin, "STREAM.NAMES"))["streams"]
    return {name: (await call(admin, f"STREAM.INFO.{name}"))["config"] for name in names}


async def consumers(admin: Connection) -> list[str]:
    names: list[str] = (await call(admin, f"CONSUMER.NAMES.{INTAKE}"))["consumers"]
    return sorted(names)


@pytest.mark.parametrize("subject", FOREIGN)
async def test_a_host_cannot_speak_elsewhere(
    attacker: Plain, admin: Connection, heard: Heard, subject: str
) -> None:
    before = await configurations(admin)

    await attacker.client.publish(subject, b'{"name": "MINE", "subjects": ["mine"]}')
    await attacker.settled()

    assert any("permissions violation" in error for error in attacker.errors)
    assert [message.subject for message in heard] == [OWN_REQUEST]
    assert await stored(admin) == NOTHING
    assert await configurations(admin) == before
    assert await consumers(admin) == ["observe", "outcome"]


@pytest.mark.parametrize("reply", FOREIGN)
@pytest.mark.parametrize("own", [OWN_OBSERVATION, OWN_REQUEST])
async def test_a_forged_reply_makes_nobody_speak_for_a_host(
    attacker: Plain, admin: Connection, heard: Heard, own: str, reply: str
) -> None:
    before = await configurations(admin)

    await attacker.client.publish(own, b"{}", reply=reply)
    await attacker.settled()
    await attacker.client.request(OWN_OBSERVATION, b"{}", timeout=5)

    kept = await stored(admin)
    assert set(kept[INTAKE]) == {OWN_OBSERVATION}
    assert kept == NOTHING | {INTAKE: kept[INTAKE]}
    assert {message.subject for message in heard} == {OWN_REQUEST}
    assert await configurations(admin) == before
    assert await consumers(admin) == ["observe", "outcome"]


async def test_a_forged_reply_does_not_answer_another_hosts_request(
    attacker: Plain, connect: Connect
) -> None:
    other = await connect("s/b")
    future = await other.send_request("pmcl.v1.context.s.b", b"", timeout_s=5)
    await future

    for token in range(20):
        await attacker.client.publish(OWN_REQUEST, b"", reply=f"_INBOX.s.b.x.{token}")
    await attacker.settled()

    assert (await other.request("pmcl.v1.context.s.b", b"", timeout_s=5)).data == b""
    assert other.ready


@pytest.mark.parametrize("subject", READ)
async def test_a_host_cannot_listen_elsewhere(
    attacker: Plain, admin: Connection, connect: Connect, subject: str
) -> None:
    overheard: list[Msg] = []

    async def listen(message: Msg) -> None:
        overheard.append(message)

    await attacker.client.subscribe(subject, cb=listen)
    other, relay = await connect("s/b"), await connect("relay")
    await other.request("pmcl.v1.checkpoint.s.b.plan", b"secret", timeout_s=5)
    await other.request("pmcl.v1.observation.s.b", b"secret", timeout_s=5)
    row = LogRow("pmcl.v1.event.s.b.recorded", b"secret", "hash")
    await append_batch(relay, LOG, [row] * 2, 0, 5)
    await attacker.settled()

    assert overheard == []
    assert any("permissions violation" in error for error in attacker.errors)


async def test_a_host_hears_its_own_events_after_their_commit_only(
    attacker: Plain, connect: Connect
) -> None:
    relay = await connect("relay")
    own = LogRow("pmcl.v1.event.s.a.recorded", b"committed", "hash")
    subscription = await attacker.client.subscribe("pmcl.v1.stored.event.s.a.>")
    await attacker.settled()

    open_batch = {"Nats-Batch-Id": "open", "Nats-Batch-Sequence": "1"}
    await relay.publish(own.subject, b"never committed", headers=open_batch)
    await append_batch(relay, LOG, [own], 0, 5)
    message = await subscription.next_msg(timeout=5)

    assert message.data == b"committed"
    assert subscription.pending_msgs == 0


async def test_nobody_connects_with_an_unknown_key(nats_server: NatsServer) -> None:
    known = nats_server.connection_config("s/a")
    async with open_connection(msgspec.structs.replace(known, seed=new_seed())) as stranger:
        with pytest.raises(BusTimeoutError):
            await stranger.wait_ready(0.2)


async def test_nobody_connects_without_a_key(nats_server: NatsServer) -> None:
    with anyio.fail_after(5):
        async with await anyio.connect_tcp("127.0.0.1", nats_server.ports.client) as stream:
            await stream.send(b"CONNECT {}\r\nPING\r\n")
            said = b""
            while b"-ERR" not in said:
                said += await stream.receive()
    assert b"Authorization Violation" in said


@pytest.mark.parametrize(
    ("identity", "subject"),
    [
        ("worker", "pmcl.v1.event.s.a.recorded"),
        ("worker", "pmcl.v1.observation.s.a"),
        ("worker", "pmcl.v1.ops.approve"),
        ("relay", "pmcl.v1.ops.approve"),
        ("admin", "pmcl.v1.ops.approve"),
        ("operator", "pmcl.v1.checkpoint.s.a.tool"),
        ("operator", "pmcl.v1.observation.s.a"),
        ("operator", "pmcl.v1.event.s.a.recorded"),
        ("operator", "$JS.API.STREAM.DELETE.INTAKE"),
        ("operator", "_INBOX.s.a.x"),
        ("worker", "$JS.API.STREAM.DELETE.INTAKE"),
        ("worker", "$JS.API.CONSUMER.DELETE.INTAKE.observe"),
        ("worker", "$JS.API.CONSUMER.MSG.NEXT.LOG.observe"),
        ("relay", "pmcl.v1.observation.s.a"),
        ("relay", "$JS.API.STREAM.DELETE.LOG"),
        ("relay", "$JS.API.STREAM.PURGE.LOG"),
        ("relay", "$JS.API.STREAM.INFO.INTAKE"),
        ("relay", "$JS.API.STREAM.MSG.GET.INTAKE"),
    ],
)
async def test_the_sidecars_own_identities_have_one_task_each(
    nats_server: NatsServer, admin: Connection, identity: str, subject: str
) -> None:
    config = nats_server.connection_config(identity)
    async with plain_client(nats_server, config.seed, config.inbox_prefix) as plain:
        with pytest.raises(nats.errors.TimeoutError):
            await plain.client.request(subject, b'{"seq": 1}', timeout=0.05)
        assert any("permissions violation" in error for error in plain.errors)

    assert await stored(admin) == NOTHING
    assert await consumers(admin) == ["observe", "outcome"]
