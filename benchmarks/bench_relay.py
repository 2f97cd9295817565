"""What it costs to carry a committed event to the stream; both sides are on disk."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio
import msgspec
import nats
from nats.aio.client import Client

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.timing import p50_ms, per_second
from pmcl.bus import (
    Connection,
    ConnectionConfig,
    EmbeddedServer,
    Keyring,
    ServerConfig,
    ensure_streams,
    open_connection,
    run_server,
)
from pmcl.contracts import PREFIX, STORED_PREFIX, EvidenceRecorded, encode
from pmcl.outbox import SCHEMAS, Relay, RelayConfig, UnitOfWork
from pmcl.store import StoreConfig, Transaction, Writer, open_writer

SCOPE = HOST = "bench"
CONNECT_S = 10.0
STORED_S = 10.0
ROWS_PER_COMMIT = 500
APART_S = 0.01
"""Between two single events: longer than the relay's own pace, so that each one is on its own."""

BACKLOG = "relay, with a backlog"
SINGLE = "relay, one row on its own, from its commit until a subscriber has it"
PUBLISHED = "js.publish, one at a time"
ACKNOWLEDGED = "js.publish, one on its own, until acknowledged"

ROWS = (
    Row(
        name="events to the stream",
        unit="/s",
        ours=BACKLOG,
        baseline=PUBLISHED,
        bound=Bound("ratio", ">=", 10.0),
    ),
    Row(
        name="one event to the stream, p50",
        unit="ms",
        ours=SINGLE,
        baseline=ACKNOWLEDGED,
        bound=Bound("ratio", "<=", 1.3),
    ),
)

EVENT = EvidenceRecorded(
    scope=SCOPE,
    host=HOST,
    at_ms=1_700_000_000_000,
    evidence_id="0" * 26,
    key="0" * 26,
    generation=1,
    source="read_file",
    trust="tool_output",
    domain="outer",
    modality="text",
    confidence=1.0,
    visibility="local_only",
    observed_at=1_700_000_000_000,
    evidence_ids=(),
    resource_keys=("0" * 64,),
    commitment="0" * 64,
    size_bytes=512,
)


class Parts(msgspec.Struct, frozen=True):
    """What the sides share; `subscriber` speaks as the host whose events are relayed."""

    ledger: Path
    writer: Writer
    relaying: Connection
    admin: ConnectionConfig
    publisher: Client
    subscriber: Client


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        keyring = Keyring(directory / "keys")
        seed = keyring.add_host(SCOPE, HOST)
        config = ServerConfig(state_dir=directory / "nats")
        server = await stack.enter_async_context(run_server(config, keyring))
        host = ConnectionConfig(
            url=server.url, seed=seed, inbox_prefix=f"_INBOX.{SCOPE}.{HOST}", name=HOST
        )
        parts = await open_parts(stack, directory / "ledger.sqlite", keyring, server, host)
        yield Bench(sides(parts, sizes), ROWS)


async def open_parts(
    stack: AsyncExitStack,
    ledger: Path,
    keyring: Keyring,
    server: EmbeddedServer,
    host: ConnectionConfig,
) -> Parts:
    relay, worker, admin = (
        keyring.connection_config(identity, server.url) for identity in ("relay", "worker", "admin")
    )
    async with open_connection(admin) as connection:
        await connection.wait_ready(CONNECT_S)
        await ensure_streams(connection)
    store = StoreConfig(path=ledger, schemas=SCHEMAS, application_id=1, version=1)
    relaying = await stack.enter_async_context(open_connection(relay))
    await relaying.wait_ready(CONNECT_S)
    return Parts(
        ledger=ledger,
        writer=await stack.enter_async_context(open_writer(store)),
        relaying=relaying,
        admin=admin,
        publisher=await stack.enter_async_context(plain_client(worker)),
        subscriber=await stack.enter_async_context(plain_client(host)),
    )


@asynccontextmanager
async def plain_client(config: ConnectionConfig) -> AsyncIterator[Client]:
    client = await nats.connect(
        config.url, nkeys_seed_str=config.seed, inbox_prefix=config.inbox_prefix.encode()
    )
    try:
        yield client
    finally:
        await client.close()


def sides(parts: Parts, sizes: Sizes) -> Mapping[str, Side]:
    publish = partial(publish_one, parts.publisher)
    return {
        PUBLISHED: partial(per_second, publish, sizes.published, 1),
        BACKLOG: partial(backlog_per_second, parts, sizes.backlog),
        ACKNOWLEDGED: partial(p50_ms, publish, sizes.apart, APART_S),
        SINGLE: partial(single_ms, parts, sizes.apart),
    }


async def publish_one(client: Client, number: int) -> None:
    await client.jetstream().publish(f"{PREFIX}.deadletter.bench", encode(EVENT))


async def backlog_per_second(parts: Parts, rows: int) -> float:
    for start in range(0, rows, ROWS_PER_COMMIT):
        await parts.writer.run(partial(journalled, min(ROWS_PER_COMMIT, rows - start)))
    relay = made(parts)
    async with anyio.create_task_group() as tasks:
        begun = perf_counter()
        tasks.start_soon(relay.run)
        await relay.caught_up()
        taken_s = perf_counter() - begun
        tasks.cancel_scope.cancel()
    return rows / taken_s


async def single_ms(parts: Parts, rows: int) -> float:
    """Return the median time from the return of a commit to the arrival of its event."""
    relay = made(parts)
    parts.writer.on_commit(relay.wake)
    stored = await parts.subscriber.subscribe(f"{STORED_PREFIX}.event.{SCOPE}.{HOST}.>")
    taken_s = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(relay.run)
        await relay.caught_up()
        for _ in range(rows):
            await anyio.sleep(APART_S)
            await parts.writer.run(partial(journalled, 1))
            begun = perf_counter()
            await stored.next_msg(STORED_S)
            taken_s.append(perf_counter() - begun)
        tasks.cancel_scope.cancel()
    await stored.unsubscribe()
    return 1_000 * median(taken_s)


def made(parts: Parts) -> Relay:
    return Relay(parts.relaying, parts.ledger, partial(admin_connection, parts), RelayConfig())


@asynccontextmanager
async def admin_connection(parts: Parts) -> AsyncIterator[Connection]:
    async with open_connection(parts.admin) as connection:
        await connection.wait_ready(CONNECT_S)
        yield connection


def journalled(rows: int, tx: Transaction) -> None:
    unit = UnitOfWork(tx, time.time_ns() // 1_000_000)
    for _ in range(rows):
        unit.publish(EVENT)
