"""LOG is sound, or it is made so from the journal; never the other way round.

Sound means: no number is missing, it starts at 1, and its last message is the journal's row. A
short tail is appended by the relay. A LOG that knows more than the journal is never deleted: then
the ledger is an older copy, which folds the rest of LOG before anything else at its next start.
Source: DESIGN section 3.6; facts/relay, section 4.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import structlog

from pmcl.bus import LOG, Connection, StreamState, recreate_log, stored_message, stream_state
from pmcl.contracts import LedgerError, headers
from pmcl.outbox import journal
from pmcl.store import Reader

__all__ = ["DivergedError", "JournalBehindError", "OpenAdmin", "settle_log"]

log = structlog.get_logger()

OpenAdmin = Callable[[], AbstractAsyncContextManager[Connection]]
"""Opens a connection of the one identity that may create and delete streams."""


class JournalBehindError(LedgerError):
    """LOG holds rows that this ledger does not have: the ledger is an older copy of itself."""

    def __init__(self, log_last: int, journal_last: int) -> None:
        self.log_last = log_last
        self.journal_last = journal_last
        super().__init__(
            f"LOG goes to row {log_last}, the ledger's journal to {journal_last}: this ledger is "
            f"an older copy; start `pmcl up` again, it takes the rest from LOG first"
        )


class DivergedError(LedgerError):
    """LOG and journal hold different rows at the same number: each went on without the other.

    Attributes:
        sequence: a row that differs.
        agree: the last row that is the same, where that is known.
    """

    def __init__(self, sequence: int, agree: int | None = None) -> None:
        self.sequence = sequence
        self.agree = agree
        same = "" if agree is None else f", the last one that is the same is {agree}"
        super().__init__(
            f"row {sequence} of LOG is another one than the ledger's{same}: one of them is not "
            f"the copy that belongs here; put the right one back (docs/ops/runbook.md)"
        )


async def settle_log(
    connection: Connection,
    reader: Reader,
    open_admin: OpenAdmin,
) -> int:
    """Return the last sequence of a sound LOG; an unsound one was emptied, to be appended anew.

    Raises:
        JournalBehindError: LOG goes on behind the ledger's last row; nothing was touched.
        DivergedError: LOG's last row is not the ledger's; nothing was touched.
        BusError: no answer.
    """
    state = await stream_state(connection, LOG)
    # Read after LOG, the journal can only be further: rows are committed before they are sent.
    head = await journal.last(reader)
    if state is not None:
        ends_right = await _ends_right(connection, reader, state, head)
        if ends_right and _is_whole(state):
            return state.last
    log.warning(
        "relay.log_rebuilt", found=None if state is None else state.last, rows=head.sequence
    )
    async with open_admin() as admin:
        await recreate_log(admin, 1)
    return 0


def _is_whole(state: StreamState) -> bool:
    if state.messages == 0:
        return state.last == 0
    return state.first == 1 and state.messages == state.last


async def _ends_right(
    connection: Connection, reader: Reader, state: StreamState, head: journal.Head
) -> bool:
    if state.last > head.sequence:
        raise JournalBehindError(state.last, head.sequence)
    if state.messages == 0:
        return True
    message = await stored_message(connection, LOG, state.last)
    if message is None:
        return False
    if message.headers.get(headers.CHAIN_HASH) != await journal.hash_of(reader, state.last):
        raise DivergedError(state.last)
    return True
