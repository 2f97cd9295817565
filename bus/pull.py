"""Messages of a durable consumer keep coming, never more at once than there are free slots.

Each freed slot is asked for again, so the server always knows how much it may still send. Whatever
ends a request silently (a restart, a new leader, a deleted consumer) is noticed by its missing
heartbeats or by the lost connection, and asked anew. While a handler runs, the server is told that
the message is in work, so that it does not send it to another.

Source: facts/reliability, hazards 11, 12 and 18.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, NoReturn

import anyio
import msgspec
import structlog

from pmcl.bus.connection import Connection
from pmcl.bus.errors import BusBusyError, BusClosedError, BusTimeoutError, StreamMissingError
from pmcl.bus.message import PENDING_MESSAGES, Message
from pmcl.bus.streams import ACK_WAIT_S
from pmcl.bus.subscription import Handler
from pmcl.bus.tasks import background_tasks, light_tasks

__all__ = ["Delivery", "PullConfig", "pull"]

log = structlog.get_logger()

_NS: Final = 1_000_000_000
_EXPIRES_S: Final = 30
_HEARTBEAT_S: Final = 1.0
_SILENCE_S: Final = 2.5 * _HEARTBEAT_S
_RETRY_S: Final = 0.1
_HEARTBEAT: Final = "100"
_EXPIRED: Final = "408"
_MISSING: Final = "503"
_ACK: Final = b"+ACK"
_NAK: Final = b"-NAK"
_TERM: Final = b"+TERM"
_PROGRESS: Final = b"+WPI"


Handle = Callable[["Delivery"], Coroutine[Any, Any, None]]


class PullConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which consumer to serve, and how many messages at once.

    Attributes:
        slots: how many handlers may run at once.
        ack_wait_s: the consumer's own; a sign of progress is sent every third of it.
        missing_max: how often the consumer may be found missing, 0.1 s apart, before the loop ends.
    """

    stream: str
    durable: str
    slots: int
    ack_wait_s: float = ACK_WAIT_S
    missing_max: int = 10


class Delivery:
    """One message that is waiting for its end: exactly one of `ack`, `nak`, `term`.

    An ack may be lost like any message, and consumers forget acks when the server crashes: the
    message then comes again. So `attempt` is a hint, and the inbox alone knows what was done.
    """

    def __init__(self, connection: Connection, message: Message) -> None:
        self.message = message
        self._connection = connection
        self._settled = False
        # $JS.ACK.<stream>.<consumer>.<attempt>.<sequence>.<...>, newer servers with two tokens more
        tokens = message.reply.split(".")
        attempt = 4 if len(tokens) == 9 else 6
        self.attempt = int(tokens[attempt])
        self.stream_sequence = int(tokens[attempt + 1])

    @property
    def settled(self) -> bool:
        """Whether its end was said."""
        return self._settled

    async def ack(self) -> None:
        """The message is done with."""
        await self._settle(_ACK)

    async def nak(self, delay_ms: int = 0) -> None:
        """The message comes again, not before `delay_ms`."""
        delay = b" " + msgspec.json.encode({"delay": delay_ms * 1_000_000}) if delay_ms else b""
        await self._settle(_NAK + delay)

    async def term(self) -> None:
        """The message never comes again, although it was not done."""
        await self._settle(_TERM)

    async def in_progress(self) -> None:
        """The server waits a full `ack_wait` from now."""
        await self._say(_PROGRESS)

    async def _settle(self, word: bytes) -> None:
        self._settled = True
        await self._say(word)

    async def _say(self, word: bytes) -> None:
        try:
            await self._connection.publish(self.message.reply, word)
        except (BusClosedError, BusBusyError):
            log.debug("bus.ack_lost", sequence=self.stream_sequence)  # it comes again


async def pull(
    connection: Connection,
    config: PullConfig,
    handle: Handle,
    heard: Callable[[], None] = lambda: None,
) -> NoReturn:
    """`handle` runs for every message, at most `slots` at once, until cancelled.

    `handle` settles its delivery. One that ends without is given back at once, also when the loop
    is cancelled. `heard` is called at every sign of the consumer, at least once a second,
    and whenever a handler has ended.

    Raises:
        StreamMissingError: stream or consumer is not there: have the streams ensured, call again.
    """
    loop = _Loop(connection, config, handle, heard)
    try:
        async with background_tasks() as tasks:
            tasks.start_soon(loop.keep)
            await loop.run(await tasks.start(light_tasks))
    finally:
        with anyio.CancelScope(shield=True):
            await loop.give_back()
    raise AssertionError("the loop ends by an error only")


class _Loop:
    def __init__(
        self,
        connection: Connection,
        config: PullConfig,
        handle: Handle,
        heard: Callable[[], None],
    ) -> None:
        self._tell = heard
        self._connection = connection
        self._config = config
        self._handle = handle
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{config.stream}.{config.durable}"
        self._refill = max(1, config.slots // 4)
        self._running: set[Delivery] = set()
        self._arrived: list[Delivery] = []
        self._unsettled: list[Delivery] = []
        self._inbox = ""
        self._asked: dict[str, int] = {}
        self._outstanding = 0
        self._over = False
        self._missing = 0
        self._heard = 0.0
        self._changed = anyio.Event()

    async def keep(self) -> None:
        """The server never takes a message back whose handler still runs."""
        while True:
            await anyio.sleep(self._config.ack_wait_s / 3)
            for delivery in [*self._running, *self._arrived]:
                if not delivery.settled:
                    await delivery.in_progress()

    async def run(self, handlers: asyncio.TaskGroup) -> None:
        """Ask again, under a new inbox, each time the requests have come to an end."""
        while self._missing < self._config.missing_max:
            await self._wait_ready()
            await self._serve_inbox(handlers)
            await anyio.sleep(_RETRY_S)
        raise StreamMissingError(f"{self._config.stream}/{self._config.durable}")

    async def give_back(self) -> None:
        """What was taken and not settled comes again at once.

        Only now that the inbox is gone: else the server would send it there once more.
        """
        for delivery in [*self._unsettled, *self._arrived]:
            await delivery.nak()

    async def _wait_ready(self) -> None:
        while not self._connection.ready:
            try:
                await self._connection.wait_ready(_EXPIRES_S)
            except BusTimeoutError:
                log.warning("bus.pull_waits", durable=self._config.durable)

    async def _serve_inbox(self, handlers: asyncio.TaskGroup) -> None:
        self._asked.clear()
        self._outstanding = 0
        self._over = False
        self._inbox = self._connection.new_inbox()
        inbox = await self._connection.subscribe(f"{self._inbox}.*", self._receive(handlers))
        try:
            async with background_tasks() as watch:
                watch.start_soon(self._watch_lost)
                await self._serve(handlers)
        finally:
            await inbox.unsubscribe()

    async def _serve(self, handlers: asyncio.TaskGroup) -> None:
        self._heard = time.monotonic()
        while not self._over:
            self._changed = anyio.Event()
            self._start(handlers)
            await self._ask()
            with anyio.move_on_after(_HEARTBEAT_S):
                await self._changed.wait()
            if self._outstanding and time.monotonic() - self._heard > _SILENCE_S:
                log.warning("bus.pull_silent", durable=self._config.durable)
                return

    async def _watch_lost(self) -> None:
        await self._connection.lost()
        self._end()

    def _end(self) -> None:
        self._over = True
        self._changed.set()

    @property
    def _free(self) -> int:
        taken = len(self._running) + len(self._arrived) + self._outstanding
        return self._config.slots - taken

    @property
    def _should_ask(self) -> bool:
        """Small requests are put off while a larger one is still open."""
        return self._free >= (self._refill if self._outstanding else 1)

    async def _ask(self) -> None:
        if not self._should_ask:
            return
        batch = self._free
        if not self._outstanding:
            self._heard = time.monotonic()
        reply = f"{self._inbox}.{len(self._asked)}"
        self._asked[reply] = batch
        self._outstanding += batch
        request = {
            "batch": batch,
            "expires": _EXPIRES_S * _NS,
            "idle_heartbeat": int(_HEARTBEAT_S * _NS),
        }
        try:
            await self._connection.publish(self._subject, msgspec.json.encode(request), reply=reply)
        except (BusClosedError, BusBusyError):
            self._end()

    def _receive(self, handlers: asyncio.TaskGroup) -> Handler:
        def receive(message: Message) -> None:
            self._heard = time.monotonic()
            if message.status != _MISSING:
                self._tell()
            if message.status:
                self._hear(message)
                return
            self._missing = 0
            self._outstanding = max(0, self._outstanding - 1)
            self._arrived.append(Delivery(self._connection, message))
            self._start(handlers)
            if self._should_ask:
                self._changed.set()

        return receive

    def _hear(self, message: Message) -> None:
        """What the server says about a request; whatever is not a heartbeat ends it."""
        if message.status == _HEARTBEAT:
            self._missing = 0
            return
        batch = self._asked.pop(message.subject, 0)
        unsent = int(message.headers.get(PENDING_MESSAGES, batch))
        self._outstanding = max(0, self._outstanding - unsent)
        self._changed.set()
        if message.status != _EXPIRED:
            self._missing += message.status == _MISSING
            log.info("bus.pull_ended", durable=self._config.durable, status=message.status)
            self._end()

    def _start(self, handlers: asyncio.TaskGroup) -> None:
        while self._arrived and len(self._running) < self._config.slots:
            delivery = self._arrived.pop(0)
            self._running.add(delivery)
            handlers.create_task(self._work(delivery))

    async def _work(self, delivery: Delivery) -> None:
        try:
            await self._handle(delivery)
            if not delivery.settled:
                await delivery.nak()
        finally:
            self._running.discard(delivery)
            self._tell()
            if not delivery.settled:
                self._unsettled.append(delivery)
            if self._arrived or self._should_ask:
                self._changed.set()
