"""A connection comes back by itself, for ever, with its subscriptions, and never pretends to be up.

Every loss ends all waits at once. A lost client is replaced by a fresh one, so that nothing
half-sent is repeated. A watchdog asks itself a question through the server, since a client can
look connected and be deaf.

Source: DESIGN sections 2 and 3; facts/reliability, hazards 7 to 10, 16 and 17.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from secrets import token_hex

import anyio
import nats.errors
import structlog
from nats.aio.msg import Msg

from pmcl.bus.client import SturdyClient, close_client, connect_client, own_cancellation
from pmcl.bus.config import ConnectionConfig
from pmcl.bus.errors import BusBusyError, BusClosedError, BusTimeoutError, NoRespondersError
from pmcl.bus.message import Message, check_reply, check_subject, frame
from pmcl.bus.subscription import Handler, Subscription, hand_over, read_message
from pmcl.bus.tasks import background_tasks

__all__ = ["Connection", "open_connection"]

log = structlog.get_logger()

_PROBE_MISSES = 2
_NO_RESPONDERS = "503"


class Connection:
    """One identity's way to the bus; made by `open_connection`."""

    def __init__(self, config: ConnectionConfig) -> None:
        self._config = config
        self._client: SturdyClient | None = None
        self._mux = ""
        self._closing = False
        self._accepted = False
        self._refused = False
        self._refused_since: float | None = None
        self._asked = 0
        self._waiting: dict[str, tuple[str, asyncio.Future[Message]]] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._on_ready: list[Callable[[], None]] = []
        self._on_refused: list[Callable[[], None]] = []
        self._up = anyio.Event()
        self._down = anyio.Event()

    @property
    def ready(self) -> bool:
        """Whether the connection is up and all subscriptions are in place."""
        return self._up.is_set() and self._client is not None and self._client.is_connected

    @property
    def refused(self) -> bool:
        """Whether the server does not accept the key: that is no outage.

        One that was accepted before is believed to be removed at once, a new one after `refusal_s`.
        """
        return self._refused

    @property
    def name(self) -> str:
        """The connection's name in logs."""
        return self._config.name

    async def wait_ready(self, timeout_s: float) -> None:
        """The connection is up.

        Raises:
            BusTimeoutError: it was not within `timeout_s`.
        """
        with anyio.move_on_after(timeout_s):
            await self._up.wait()
            return
        raise BusTimeoutError(self._config.url, timeout_s)

    async def lost(self) -> None:
        """The connection went down, or is down already."""
        if self.ready:
            await self._down.wait()

    def on_ready(self, callback: Callable[[], None]) -> None:
        """`callback` is called each time the connection has come up, on the event loop."""
        self._on_ready.append(callback)

    def on_refused(self, callback: Callable[[], None]) -> None:
        """`callback` is called when the connection comes to be `refused`, on the event loop."""
        self._on_refused.append(callback)

    def new_inbox(self) -> str:
        """Return a subject under the identity's own prefix that nobody else can guess."""
        return f"{self._config.inbox_prefix}.{token_hex(11)}"

    async def publish(
        self,
        subject: str,
        data: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        reply: str = "",
    ) -> None:
        """The message is on its way; whether it arrives is not known. Does not wait.

        Raises:
            BusClosedError: the connection is down.
            BusBusyError: `max_pending_bytes` wait already.
            MessageTooLargeError, HeaderError, ContractError: it may not be sent.
        """
        check_subject(subject)
        check_reply(reply)
        client = self._client
        if client is None or not self.ready:
            raise BusClosedError(subject, sent=False)
        framed = frame(subject, data, headers, reply, client.max_payload)
        pending = client.waiting_bytes
        if pending + len(framed) > self._config.max_pending_bytes:
            raise BusBusyError(pending, self._config.max_pending_bytes)
        client.send(framed)

    async def send_request(
        self,
        subject: str,
        data: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> asyncio.Future[Message]:
        """The request is on its way; the future ends within `timeout_s`, with the first reply.

        Raises:
            As `publish`; the future as `request`.
        """
        reply, future = self._expect(subject, timeout_s)
        try:
            await self.publish(subject, data, headers=headers, reply=reply)
        except BaseException:
            future.cancel()
            raise
        return future

    async def request(
        self,
        subject: str,
        data: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> Message:
        """Return the first reply.

        Raises:
            BusTimeoutError: none within `timeout_s`.
            NoRespondersError: nobody listens.
            BusClosedError: the connection is down, or went down meanwhile (`sent`).
            BusBusyError, MessageTooLargeError, HeaderError, ContractError: it was not sent.
        """
        return await (await self.send_request(subject, data, headers=headers, timeout_s=timeout_s))

    async def subscribe(self, subject: str, handler: Handler, *, queue: str = "") -> Subscription:
        """`handler` gets every message from now on, one after another, through every reconnect.

        The server knows of it on return, while the connection is up.

        It should only hand over. A plain function is called at once, and nothing is read while it
        runs. While a coroutine waits, nothing else of this subscription is handled, and when the
        connection breaks it is cancelled.
        """
        subscription = Subscription(self._forget, subject, queue, handler)
        self._subscriptions[id(subscription)] = subscription
        if self._client is not None:
            try:
                await subscription.attach(self._client)
                await self._settled(self._client)
            except (nats.errors.ConnectionClosedError, OSError):
                log.debug("bus.subscribe_later", subject=subject)  # the next client attaches it
        return subscription

    def _forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(id(subscription), None)

    async def _run(self) -> None:
        while True:
            client = await connect_client(self._config, self._lose, self._refuse)
            if client is None:
                await anyio.sleep(self._config.retry_s)
                continue
            self._accept()
            try:
                with own_cancellation():
                    await self._serve(client)
            except (nats.errors.Error, OSError) as error:
                log.debug("bus.client_failed", name=self.name, error=repr(error))
            finally:
                self._lose()
                self._client = None
                await close_client(client, self._config.close_timeout_s)

    async def _serve(self, client: SturdyClient) -> None:
        self._down = anyio.Event()
        self._client = client
        self._mux = self.new_inbox()
        await client.subscribe(f"{self._mux}.*", future=hand_over(self._resolve))
        while missing := [s for s in self._subscriptions.values() if not s.attached_to(client)]:
            for subscription in missing:
                await subscription.attach(client)
        if not await self._settled(client) or self._down.is_set():
            return
        self._up.set()
        log.info("bus.ready", name=self.name)
        for callback in self._on_ready:
            callback()
        await self._watch(client)

    async def _settled(self, client: SturdyClient) -> bool:
        """Return whether the server has taken in all that was sent before, as it takes it in order.

        A subscription is only sent when nats-py's call returns, and another connection may be read
        first: whoever was told that we listen would find nobody.
        """
        subject, future = self._expect("settling", self._config.probe_timeout_s)
        client.send(frame(subject, b"", None, "", client.max_payload))
        try:
            await future
        except (BusTimeoutError, BusClosedError):
            return False
        finally:
            future.cancel()
        return True

    async def _watch(self, client: SturdyClient) -> None:
        """Return when the client is closed, broken or deaf."""
        misses = 0
        while misses < _PROBE_MISSES:
            with anyio.move_on_after(self._config.probe_interval_s):
                await self._down.wait()
            if self._down.is_set() or not client.is_connected:
                return
            misses = 0 if await self._probe() else misses + 1
        log.warning("bus.deaf", name=self.name)

    async def _probe(self) -> bool:
        subject, future = self._expect("watchdog", self._config.probe_timeout_s)
        try:
            await self.publish(subject, b"")
            await future
        except (BusTimeoutError, BusClosedError):
            return False
        except BusBusyError:
            # The server does not read: the bytes ahead of the probe would have to go first.
            future.cancel()
            await anyio.sleep(self._config.probe_timeout_s)
            return False
        finally:
            future.cancel()
        return True

    def _lose(self) -> None:
        """End every wait: the connection is down."""
        if self._up.is_set():
            self._up = anyio.Event()
            if not self._closing:
                log.warning("bus.lost", name=self.name)
        self._down.set()
        for what, future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(BusClosedError(what, sent=True))

    def _accept(self) -> None:
        self._accepted = True
        self._refused = False
        self._refused_since = None

    def _refuse(self) -> None:
        now_s = anyio.current_time()
        if self._refused_since is None:
            self._refused_since = now_s
        waits = not self._accepted and now_s - self._refused_since < self._config.refusal_s
        if self._refused or waits:
            return
        self._refused = True
        log.warning("bus.refused", name=self.name)
        for callback in self._on_refused:
            callback()

    def _expect(self, what: str, timeout_s: float) -> tuple[str, asyncio.Future[Message]]:
        """Return a fresh reply subject and what will come there."""
        self._asked += 1
        token = str(self._asked)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Message] = loop.create_future()
        timer = loop.call_later(timeout_s, _expire, future, what, timeout_s)
        self._waiting[token] = (what, future)

        def done(_: asyncio.Future[Message]) -> None:
            self._waiting.pop(token, None)
            timer.cancel()
            if not future.cancelled():
                future.exception()  # else one that nobody looks at is reported as lost

        future.add_done_callback(done)
        return f"{self._mux}.{token}", future

    def _resolve(self, received: Msg) -> None:
        what, future = self._waiting.get(received.subject.rpartition(".")[2], ("", None))
        if future is None or future.done():
            return
        message = read_message(received)
        if message.status == _NO_RESPONDERS:
            future.set_exception(NoRespondersError(what))
        else:
            future.set_result(message)


@asynccontextmanager
async def open_connection(config: ConnectionConfig) -> AsyncIterator[Connection]:
    """Yield a connection at once; it connects in the background and closes with the block."""
    connection = Connection(config)
    async with background_tasks() as tasks:
        tasks.start_soon(connection._run)
        try:
            yield connection
        finally:
            connection._closing = True


def _expire(future: asyncio.Future[Message], what: str, timeout_s: float) -> None:
    if not future.done():
        future.set_exception(BusTimeoutError(what, timeout_s))
