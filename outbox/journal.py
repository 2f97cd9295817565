"""The journal: every fact once, numbered without a gap, each row's hash covering all before it.

It is the outbox as well: what stands here is on its way to LOG, at the same number.
"""

import hashlib
from typing import Final

import msgspec

from pmcl.contracts import LedgerError
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = [
    "GENESIS",
    "BrokenChainError",
    "Chain",
    "Head",
    "JournalRow",
    "append",
    "hash_of",
    "head",
    "last",
    "read",
    "verify",
]

_queries = load_queries("pmcl.outbox", "journal")
SCHEMA: Final = _queries.schema

GENESIS: Final = "0" * 64
"""What the first row's hash covers instead of a row before it."""

_HEAD: Final = ("journal.head",)
_BATCH_ROWS: Final = 500
_BATCH_BYTES: Final = 1024 * 1024


class BrokenChainError(LedgerError):
    """A row of the journal is missing, out of place, or not what its hash says."""

    def __init__(self, sequence: int) -> None:
        self.sequence = sequence
        super().__init__(f"journal row {sequence}: the chain is broken here")


class Head(msgspec.Struct, frozen=True):
    """The last row; sequence 0 for an empty journal."""

    sequence: int
    hash: str


class JournalRow(msgspec.Struct, frozen=True):
    """One fact as it goes to LOG; `hash` is hex."""

    sequence: int
    subject: str
    body: bytes
    hash: str


def chain_hash(previous: str, subject: str, body: bytes) -> str:
    """Return the hash of a row: SHA-256 over the row before, the subject, NUL, and the body."""
    covered = bytes.fromhex(previous) + subject.encode() + b"\0" + body
    return hashlib.sha256(covered).hexdigest()


class Chain:
    """Walks rows; what it says of a row is about that row alone, not about one before it."""

    def __init__(self, after: Head) -> None:
        self._after = after

    def follows(self, row: JournalRow) -> bool:
        """Return whether the row stands in its place and is what its hash says."""
        before, self._after = self._after, Head(row.sequence, row.hash)
        expected = chain_hash(before.hash, row.subject, row.body)
        return row.sequence == before.sequence + 1 and row.hash == expected


def head(tx: Transaction) -> Head:
    """Return the last row's number and hash."""
    return tx.recall(_HEAD, lambda: _head(tx.one(_queries.head)))


def append(tx: Transaction, subject: str, body: bytes) -> JournalRow:
    """Append a fact and return its row."""
    last = head(tx)
    row = JournalRow(last.sequence + 1, subject, body, chain_hash(last.hash, subject, body))
    tx.run(_queries.append, sequence=row.sequence, subject=subject, body=body, hash=row.hash)
    tx.remember(_HEAD, Head(row.sequence, row.hash))
    return row


async def read(
    reader: Reader, after: int, *, max_rows: int = _BATCH_ROWS, max_bytes: int = _BATCH_BYTES
) -> list[JournalRow]:
    """Return the rows behind `after`, at least one if there is any, within both limits."""
    rows: list[JournalRow] = []
    size = 0
    for row in await reader.all(_queries.read, after=after, max_rows=max_rows):
        size += len(row["body"])
        if rows and size > max_bytes:
            break
        rows.append(_row(row))
    return rows


async def last(reader: Reader) -> Head:
    """Return the last committed row's number and hash."""
    return _head(await reader.one(_queries.head))


async def hash_of(reader: Reader, sequence: int) -> str | None:
    """Return the hash of a row, or None when there is none."""
    row = await reader.one(_queries.find, sequence=sequence)
    return None if row is None else str(row["hash"])


async def verify(reader: Reader) -> Head:
    """Return the head when every row is in place and is what its hash says.

    Raises:
        BrokenChainError: with the first row that is not.
    """
    checked = Head(0, GENESIS)
    chain = Chain(checked)
    while rows := await read(reader, checked.sequence):
        for row in rows:
            if not chain.follows(row):
                raise BrokenChainError(checked.sequence + 1)
            checked = Head(row.sequence, row.hash)
    return checked


def _head(row: Row | None) -> Head:
    return Head(0, GENESIS) if row is None else Head(row["sequence"], row["hash"])


def _row(row: Row) -> JournalRow:
    return JournalRow(row["sequence"], row["subject"], bytes(row["body"]), row["hash"])
