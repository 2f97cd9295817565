"""Observations that were set aside: refused, a dead letter, or lost. A model may have seen them."""

from typing import Final

import msgspec

from pmcl.contracts import NumberClosed, Refused, Speaker
from pmcl.store import Transaction, load_queries

__all__ = ["Unread", "apply_closed", "apply_refused", "newest_unread"]

_queries = load_queries("pmcl.ledger", "unread")
SCHEMA: Final = _queries.schema


class Unread(msgspec.Struct, frozen=True):
    """The newest of a speaker's in a scope.

    Attributes:
        after: the number of the evidence that was there before it.
    """

    speaker: Speaker
    after: int


def newest_unread(tx: Transaction, scope: str) -> tuple[Unread, ...]:
    """Return the newest of each speaker."""
    return tx.recall(_key(scope), lambda: _read(tx, scope))


def _key(scope: str) -> tuple[str, ...]:
    return "unread.newest", scope


def _read(tx: Transaction, scope: str) -> tuple[Unread, ...]:
    rows = tx.all(_queries.newest, scope=scope)
    return tuple([Unread(row["speaker"], row["after"]) for row in rows])


def apply_refused(tx: Transaction, event: Refused) -> None:
    """Record an observation that was refused; of anything else a refusal changes nothing."""
    if event.speaker is not None:
        _record(tx, event.scope, event.speaker)


def apply_closed(tx: Transaction, event: NumberClosed) -> None:
    """Record a message that the stream has lost; only observations are kept nowhere else."""
    if event.reason == "lost":
        _record(tx, event.scope, "unknown")


def _record(tx: Transaction, scope: str, speaker: Speaker) -> None:
    tx.run(_queries.record, scope=scope, speaker=speaker)
    tx.forget(_key(scope))
