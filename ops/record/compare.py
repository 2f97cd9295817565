"""Two ledgers hold the same when the digests of these tables agree; what differs is told by place.

All tables but these are compared: `ledger` holds the epoch, which is another one for each copy,
`restored_from` what a copy has not made an event of yet, and the index of words what triggers write
whenever `payloads`, which is compared, changes.
"""

import hashlib
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec

from pmcl.ops.progress import Advance
from pmcl.store import Row, load_queries, scan

__all__ = ["COMPARED", "NOT_COMPARED", "TableReport", "compare_ledgers"]

_queries = load_queries("pmcl.ops.record", "compare")
COMPARED: Final = tuple(sorted(_queries.texts))
NOT_COMPARED: Final = (
    "ledger",
    "payload_words",
    "payload_words_config",
    "payload_words_data",
    "payload_words_idx",
    "restored_from",
)

_encode = msgspec.msgpack.Encoder().encode


class TableReport(msgspec.Struct, frozen=True, kw_only=True):
    """How one table compares.

    Attributes:
        old, new: SHA-256 over all rows.
        first: where they differ first: the row by number and the columns by name, never a value.
    """

    table: str
    rows: int
    old: str
    new: str
    first: dict[str, Any] | None

    @property
    def same(self) -> bool:
        """Whether the tables hold the same rows."""
        return self.old == self.new


async def compare_ledgers(old: Path, new: Path, advance: Advance) -> list[TableReport]:
    """Return how each table compares; nobody writes either file meanwhile.

    Raises:
        LedgerError: a file cannot be read.
    """
    reports = []
    for table in COMPARED:
        reports.append(await anyio.to_thread.run_sync(_compare, table, old, new))
        advance(1)
    return reports


def _compare(table: str, old: Path, new: Path) -> TableReport:
    text = _queries.texts[table]
    digests = hashlib.sha256(), hashlib.sha256()
    first: dict[str, Any] | None = None
    number = 0
    with scan(old, text) as ours, scan(new, text) as theirs:
        for number, pair in enumerate(zip_longest(ours, theirs), start=1):
            for digest, row in zip(digests, pair, strict=True):
                digest.update(b"" if row is None else _encode(tuple(row)))
            if first is None and tuple(pair[0] or ()) != tuple(pair[1] or ()):
                first = {"row": number, "columns": _differing(*pair)}
    one, other = (digest.hexdigest() for digest in digests)
    return TableReport(table=table, rows=number, old=one, new=other, first=first)


def _differing(ours: Row | None, theirs: Row | None) -> list[str]:
    """Return the columns that differ; all of them where a row is on one side only."""
    there = ours if ours is not None else theirs
    assert there is not None
    names = list(there.keys())
    if ours is None or theirs is None:
        return names
    return [name for name in names if ours[name] != theirs[name]]
