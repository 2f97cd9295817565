"""Folding: a row of LOG becomes part of a ledger that lacks it, by the very `apply` of live work.

What was done because of a host's message marks that message, so that it stays a no-op for ever.
"""

from pmcl.contracts import EVENTS, LedgerError, RefusedError, decode, event_subject
from pmcl.ledger.record import apply
from pmcl.outbox import inbox, journal
from pmcl.outbox.journal import JournalRow
from pmcl.store import Transaction

__all__ = ["FoldError", "fold"]


class FoldError(LedgerError):
    """A row cannot be folded; the ledger holds all before it, and nothing of it."""

    def __init__(self, sequence: int, reason: str) -> None:
        self.sequence = sequence
        self.reason = reason
        super().__init__(f"row {sequence} of the record: {reason}")


def fold(tx: Transaction, row: JournalRow) -> None:
    """The row's event is applied and journalled at its number, its message is marked as seen.

    Raises:
        FoldError: it does not continue the chain, or is no event that this version knows.
    """
    try:
        event = decode(row.body, *EVENTS)
    except RefusedError as refused:
        raise FoldError(row.sequence, f"no event of this version ({refused.field})") from refused
    if event_subject(event) != row.subject:
        raise FoldError(row.sequence, "its subject is not that of its event")
    if journal.append(tx, row.subject, row.body) != row:
        raise FoldError(row.sequence, "it does not continue the chain of the rows before it")
    apply(tx, event)
    if event.cause is not None:
        inbox.mark(tx, event.scope, event.host, event.cause.epoch, event.cause.number)
