"""A subscription belongs to the connection and not to a client, so it outlives every client.

Source: facts/reliability, hazards 14 and 17.
"""

import inspect
from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any, cast

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription

from pmcl.bus.message import Message, known_headers

__all__ = ["Handler", "Subscription", "hand_over", "read_message"]

log = structlog.get_logger()

Handler = Callable[[Message], Awaitable[None] | None]

_MAX_MESSAGES = 65_536
_MAX_BYTES = 64 * 1024 * 1024


class Subscription:
    """Interest in a subject that outlives the client it is attached to."""

    def __init__(
        self, forget: "Callable[[Subscription], None]", subject: str, queue: str, handler: Handler
    ) -> None:
        self.subject = subject
        self.queue = queue
        self.handler = handler
        self._forget = forget
        self._attached: tuple[Client, NatsSubscription | None] | None = None

    def attached_to(self, client: Client) -> bool:
        """Return whether `client` delivers to the handler."""
        return self._attached is not None and self._attached[0] is client

    async def attach(self, client: Client) -> None:
        """`client` delivers to the handler; nothing happens when it already does."""
        if self.attached_to(client):
            return
        self._attached = (client, None)
        subscription = await client.subscribe(
            self.subject,
            queue=self.queue,
            pending_msgs_limit=_MAX_MESSAGES,
            pending_bytes_limit=_MAX_BYTES,
            **self._receiver(),
        )
        self._attached = (client, subscription)

    async def unsubscribe(self) -> None:
        """No further message is handled."""
        self._forget(self)
        attached, self._attached = self._attached, None
        if attached is None or attached[1] is None or attached[0].is_closed:
            return
        try:
            await attached[1].unsubscribe()
        except nats.errors.Error as error:
            log.debug("bus.unsubscribe_failed", subject=self.subject, error=repr(error))

    def _receiver(self) -> dict[str, Any]:
        if inspect.iscoroutinefunction(self.handler):
            return {"cb": self._receive}
        return {"future": hand_over(self._take)}

    async def _receive(self, received: Msg) -> None:
        await cast("Awaitable[None]", self.handler(read_message(received)))

    def _take(self, received: Msg) -> None:
        self.handler(read_message(received))


class _Handover:
    def __init__(self, take: Callable[[Msg], None]) -> None:
        self._take = take

    def cancelled(self) -> bool:
        return False

    def set_result(self, received: Msg) -> None:
        try:
            self._take(received)
        except Exception as error:  # noqa: BLE001 - the client would never read again
            log.error("bus.handover_failed", error=type(error).__name__)


def hand_over(take: Callable[[Msg], None]) -> "Future[Msg]":
    """Return what nats-py takes for the future of one reply: `take` is called for each message.

    It is called while the client reads, without a queue and a task's turn in between.
    """
    return cast("Future[Msg]", _Handover(take))


def read_message(received: Msg) -> Message:
    """Return what may be read of a message of nats-py's."""
    headers = received.headers
    status = ""
    if headers and not received.data and not received.reply:
        status = headers.get("Status", "")
    return Message(
        subject=received.subject,
        data=received.data,
        headers=known_headers(headers),
        reply=received.reply,
        status=status,
    )
