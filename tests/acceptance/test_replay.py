"""What was done is not done again: INTAKE and LOG fed to every worker once more change no row."""

import random

import anyio
import msgspec
import pytest

from pmcl.bus import (
    DEADLETTERS,
    DURABLES,
    INTAKE,
    LOG,
    Connection,
    Delivery,
    Message,
    open_connection,
    stored_message,
    stream_state,
)
from pmcl.bus.jetstream import call
from pmcl.contracts import parse_subject
from pmcl.hosts import Host
from pmcl.ledger import ledger_config
from pmcl.ops.registry import HostRegistry
from pmcl.ops.state_dir import ledger_key
from pmcl.store import Writer, open_writer
from pmcl.workers import ObserveWorker, OutcomeWorker, StreamHandler, Units
from tests.acceptance.facts import count, digests, log_is_the_journal, rows, until
from tests.acceptance.load import loading
from tests.acceptance.world import AUTHORITY, World, about, deleting

pytestmark = pytest.mark.anyio

AT_ONCE = 100


async def work(world: World) -> None:
    """Leave every kind of row: passed and held, lifted and standing, used and unused, refused."""
    async with Host.connect(world.host("s", "b")) as host:
        for path in ("/work/x", "/work/y"):
            assert (await host.check(deleting(path))).status == "held"
        seen = await host.observe(source="ls", summary="a copy", resources=(about("/work/x"),))
        assert (await host.check(deleting("/work/x", seen))).status == "passed"  # and left unused
        await host.observe(source="ls", summary="mine", trust="operator")
        await host.complete("turn")
    approve = msgspec.structs.replace(AUTHORITY, tools={"*": "approve"})
    async with Host.connect(world.host("t", "a", authority=approve)) as host:
        assert (await host.check(deleting("/work/x"))).approval_id is not None
    async with loading(world.host()) as load:
        await load.grows(acked=1000, used=20)


async def taken(admin: Connection) -> bool:
    """Return whether every message of INTAKE has its ack."""
    for durable in DURABLES:
        info = await call(admin, f"CONSUMER.INFO.{INTAKE}.{durable}")
        if info["num_pending"] or info["num_ack_pending"]:
            return False
    return True


async def is_settled(world: World, admin: Connection) -> bool:
    waiting = await rows(world.ledger, "SELECT 1 FROM inbox_beyond LIMIT 1")
    return not waiting and await taken(admin)


async def test_redelivery_by_the_server_changes_no_row(world: World) -> None:
    # What reflection writes after a turn is due at a time of its own.
    async with world.sidecar(PMCL_REFLECTION="off"), world.admin() as admin:
        await work(world)
        await until(lambda: is_settled(world, admin))
        before = await digests(world.ledger)
        for durable in DURABLES:
            await call(admin, f"CONSUMER.DELETE.{INTAKE}.{durable}")

        async def made_again_and_taken() -> bool:
            names = (await call(admin, f"CONSUMER.NAMES.{INTAKE}"))["consumers"] or ()
            return set(names) == set(DURABLES) and await taken(admin)

        await until(made_again_and_taken)
        assert await digests(world.ledger) == before
        assert await count(world.ledger, "evidence") >= 1000
        await log_is_the_journal(world.ledger, admin)


class Fed(Delivery):
    """A delivery from nowhere; what is answered stays here."""

    def __init__(self, connection: Connection, message: Message) -> None:
        super().__init__(connection, message)
        self.words: list[bytes] = []

    async def _say(self, word: bytes) -> None:
        self.words.append(word)


async def test_both_streams_fed_to_every_worker_change_no_row(world: World, seed: int) -> None:
    async with world.sidecar(), world.admin() as admin:
        await work(world)
        await until(lambda: is_settled(world, admin))
        await log_is_the_journal(world.ledger, admin)
    async with (
        world.admin() as admin,
        open_connection(world.server.connection_config("worker")) as working,
        open_writer(ledger_config(world.ledger)) as writer,
    ):
        await working.wait_ready(10)
        messages = [*await all_of(admin, INTAKE), *await all_of(admin, LOG)]
        random.Random(seed).shuffle(messages)
        kinds = {parse_subject(message.subject).kind for message in messages}
        assert kinds == {"event", "observation", "outcome", "reflection"}
        before = await digests(world.ledger)
        for handler in handlers(world, working, writer):
            fed = [Fed(working, message) for message in messages]
            for start in range(0, len(fed), AT_ONCE):
                async with anyio.create_task_group() as tasks:
                    for delivery in fed[start : start + AT_ONCE]:
                        tasks.start_soon(handler.handle, delivery)
            assert {tuple(delivery.words) for delivery in fed} == {(b"+ACK",)}
        assert await digests(world.ledger) == before
        letters = await stream_state(admin, DEADLETTERS)
        assert letters is not None
        assert letters.messages == 0


def handlers(world: World, working: Connection, writer: Writer) -> list[StreamHandler]:
    units = Units(writer)
    registry = HostRegistry(world.server.keyring)
    observe = ObserveWorker(ledger_key(world.state_dir), registry.allowed_trust)
    return [StreamHandler(working, units, worker) for worker in (observe, OutcomeWorker())]


async def all_of(admin: Connection, stream: str) -> list[Message]:
    state = await stream_state(admin, stream)
    assert state is not None
    found: list[Message] = []

    async def get(sequence: int) -> None:
        message = await stored_message(admin, stream, sequence)
        assert message is not None
        reply = f"$JS.ACK.{stream}.replay.2.{sequence}.{sequence}.0.0"
        found.append(
            Message(
                subject=message.subject, data=message.data, headers=message.headers, reply=reply
            )
        )

    for start in range(1, state.last + 1, AT_ONCE):
        async with anyio.create_task_group() as tasks:
            for sequence in range(start, min(start + AT_ONCE, state.last + 1)):
                tasks.start_soon(get, sequence)
    return found
