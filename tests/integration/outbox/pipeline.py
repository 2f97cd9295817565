"""A ledger, its relays and LOG, with a load that keeps running while a test breaks things."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from pmcl.bus import LOG, Connection, open_connection, stored_message, stream_state
from pmcl.contracts import headers
from pmcl.outbox import SCHEMAS, Relay, RelayConfig, journal
from pmcl.store import StoreConfig, Transaction, Writer, open_reader, open_writer
from tests.nats_server import NatsServer

SUBJECT = "pmcl.v1.event.s.a.x"
WITHIN_S = 20.0
_READ_AT_ONCE = 100

Row = tuple[int, str, bytes, str]


def store_config(path: Path) -> StoreConfig:
    return StoreConfig(path=path, schemas=SCHEMAS, application_id=0x504D, version=1)


def append(*bodies: bytes) -> Callable[[Transaction], None]:
    def unit(tx: Transaction) -> None:
        for body in bodies:
            journal.append(tx, SUBJECT, body)

    return unit


class Pipeline:
    """One ledger and the bus around it."""

    def __init__(self, server: NatsServer, ledger: Path, writer: Writer, admin: Connection) -> None:
        self.server = server
        self.ledger = ledger
        self.writer = writer
        self.admin = admin
        self.committed = 0
        self.relays: list[Relay] = []

    async def commit(self, *bodies: bytes) -> None:
        await self.writer.run(append(*bodies))
        self.committed += len(bodies)

    async def load(self, rows: int, body_bytes: int = 100) -> None:
        """Commit `rows` rows in bursts of every size that the relay treats differently."""
        sizes = random.Random(rows)
        written = 0
        while written < rows:
            burst = min(sizes.choice((1, 2, 8, 9, 30, 60)), rows - written)
            await self.commit(*(b"%d." % self.committed + bytes(body_bytes) for _ in range(burst)))
            written += burst
            await self.relays[0].caught_up()

    async def log_last(self) -> int:
        state = await stream_state(self.admin, LOG)
        return 0 if state is None else state.last

    async def log_reaches(self, sequence: int) -> None:
        async def reached() -> bool:
            return await self.log_last() >= sequence

        await until(reached)

    @asynccontextmanager
    async def relaying(self, relays: int = 1, *, check_s: float = 60.0) -> AsyncIterator[Relay]:
        """Run so many relays on connections of their own; yield the first."""
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            for _ in range(relays):
                relay = await stack.enter_async_context(self.relay(check_s=check_s))
                self.writer.on_commit(relay.wake)
                self.relays.append(relay)
                tasks.start_soon(relay.run)
            try:
                yield self.relays[-relays]
            finally:
                tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def relay(self, *, check_s: float = 60.0) -> AsyncIterator[Relay]:
        config = self.server.connection_config("relay")
        async with open_connection(config) as connection:
            await connection.wait_ready(WITHIN_S)
            yield Relay(connection, self.ledger, self.open_admin, RelayConfig(check_s=check_s))

    @asynccontextmanager
    async def open_admin(self) -> AsyncIterator[Connection]:
        async with open_connection(self.server.connection_config("admin")) as admin:
            await admin.wait_ready(WITHIN_S)
            yield admin

    async def kill_server(self) -> None:
        self.server.kill()

    async def restart_server(self) -> None:
        await anyio.to_thread.run_sync(self.server.start)
        await self.admin.wait_ready(WITHIN_S)

    async def expect_equal(self) -> None:
        """LOG is the journal, byte for byte, once the relay has caught up."""
        with anyio.fail_after(WITHIN_S):
            await self.relays[0].caught_up()
        async with open_reader(self.ledger) as reader:
            assert (await journal.verify(reader)).sequence == self.committed
            rows = [
                (row.sequence, row.subject, row.body, row.hash)
                for row in await journal.read(reader, 0, max_rows=self.committed, max_bytes=2**30)
            ]
        state = await stream_state(self.admin, LOG)
        assert state is not None
        assert (state.first, state.last, state.messages) == (1, self.committed, self.committed)
        assert await self._stored(self.committed) == rows

    async def _stored(self, last: int) -> list[Row]:
        found: dict[int, Row] = {}

        async def get(sequence: int) -> None:
            message = await stored_message(self.admin, LOG, sequence)
            assert message is not None, sequence
            chained = message.headers[headers.CHAIN_HASH]
            found[sequence] = (sequence, message.subject, message.data, chained)

        for start in range(1, last + 1, _READ_AT_ONCE):
            async with anyio.create_task_group() as tasks:
                for sequence in range(start, min(start + _READ_AT_ONCE, last + 1)):
                    tasks.start_soon(get, sequence)
        return [found[sequence] for sequence in sorted(found)]


@asynccontextmanager
async def open_pipeline(
    server: NatsServer, ledger: Path, admin: Connection
) -> AsyncIterator[Pipeline]:
    async with open_writer(store_config(ledger)) as writer:
        yield Pipeline(server, ledger, writer, admin)


async def until(ask: Callable[[], Awaitable[bool]]) -> None:
    """Return at the first true answer; for facts of another process, which tells nobody."""
    with anyio.fail_after(WITHIN_S):
        while not await ask():  # noqa: ASYNC110
            await anyio.sleep(0.001)
