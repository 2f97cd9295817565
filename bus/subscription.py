"""A subscription belongs to the connection and not to a client, so it outlives every client.

Source: facts/reliability, hazards 14 and 17.
"""

from collections.abc import Awaitable, Callable

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription

from pmcl.bus.message import Message, known_headers

__all__ = ["Handler", "Subscription", "read_message"]

log = structlog.get_logger()

Handler = Callable[[Message], Awaitable[None]]

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
            cb=self._receive,
            pending_msgs_limit=_MAX_MESSAGES,
            pending_bytes_limit=_MAX_BYTES,
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

    async def _receive(self, received: Msg) -> None:
        await self.handler(read_message(received))


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
