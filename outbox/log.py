"""LOG, read as rows of the journal; what is read is not yet believed."""

from pmcl.bus import LOG, Connection, Message, stored_messages
from pmcl.contracts import headers
from pmcl.outbox.journal import JournalRow

__all__ = ["read_log"]


async def read_log(connection: Connection, first: int, last: int) -> list[JournalRow | None]:
    """Return the rows from `first` to `last` as LOG has them, None for each that it lacks.

    All are held at once, so the caller bounds the range.

    Raises:
        BusError: no answer.
    """
    found = await stored_messages(connection, LOG, first, last)
    return [
        None if message is None else _row(sequence, message)
        for sequence, message in enumerate(found, start=first)
    ]


def _row(sequence: int, message: Message) -> JournalRow:
    chained = message.headers.get(headers.CHAIN_HASH, "")
    return JournalRow(sequence, message.subject, message.data, chained)
