"""A unit of work: what it reads, writes and publishes becomes true together, or not at all."""

from typing import Final

from pmcl.contracts import Event, TooLargeError, encode, event_subject, limits
from pmcl.outbox.journal import JournalRow, append
from pmcl.store import Transaction

__all__ = ["UnitOfWork"]

_EVENT_MAX_BYTES: Final = limits.MESSAGE_MAX_BYTES


class UnitOfWork:
    """One transaction with its time and its way to the outbox.

    Attributes:
        published: what the unit has published so far, in order.
    """

    __slots__ = ("now_ms", "published", "tx")

    def __init__(self, tx: Transaction, now_ms: int) -> None:
        self.tx = tx
        self.now_ms = now_ms
        self.published: list[JournalRow] = []

    def publish(self, event: Event) -> int:
        """Append an event to the journal and return its number; the relay sends it on.

        Raises:
            TooLargeError: it could not be sent, so it does not get in.
        """
        body = encode(event)
        if len(body) > _EVENT_MAX_BYTES:
            raise TooLargeError("$", f"{len(body)} bytes", f"{_EVENT_MAX_BYTES} bytes")
        row = append(self.tx, event_subject(event), body)
        self.published.append(row)
        return row.sequence
