"""What is true of a ledger and of LOG, asked until it is, under a deadline."""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio

from pmcl.bus import LOG, Connection, stored_message, stream_state
from pmcl.contracts import headers
from pmcl.outbox import journal
from pmcl.store import Row, open_reader

__all__ = ["count", "digests", "log_is_the_journal", "rows", "until"]

T = TypeVar("T")

_POLL_S = 0.02
_AT_ONCE = 200


async def until(ask: Callable[[], Awaitable[T | None]], *, within_s: float = 20.0) -> T:
    """Return the first true answer; for facts of other processes, which tell nobody."""
    with anyio.fail_after(within_s):
        while not (answer := await ask()):  # noqa: ASYNC110
            await anyio.sleep(_POLL_S)
    return answer


async def rows(path: Path, sql: str, **params: Any) -> list[Row]:
    async with open_reader(path) as reader:
        return await reader.all(sql, **params)


async def count(path: Path, table: str) -> int:
    (row,) = await rows(path, f"SELECT count(*) AS n FROM {table}")
    return int(row["n"])


async def digests(ledger: Path) -> dict[str, str]:
    """Return a digest of all rows of every table."""
    found = {}
    async with open_reader(ledger) as reader:
        tables = await reader.all("SELECT name FROM sqlite_master WHERE type = 'table'")
        for name in sorted(row["name"] for row in tables):
            content = hashlib.sha256()
            for row in await reader.all(f"SELECT * FROM {name}"):
                content.update(repr(tuple(row)).encode())
            found[name] = content.hexdigest()
    return found


async def log_is_the_journal(ledger: Path, admin: Connection) -> int:
    """Return the last sequence; LOG is the journal row for row, and the chain verifies."""
    async with open_reader(ledger) as reader:
        head = await journal.verify(reader)
        await until(lambda: _reaches(admin, head.sequence))
        state = await stream_state(admin, LOG)
        assert state is not None
        assert (state.first, state.messages) == (1, state.last)
        after = 0
        while wanted := await journal.read(reader, after, max_rows=_AT_ONCE):
            stored = await _stored(admin, [row.sequence for row in wanted])
            assert stored == [(row.sequence, row.subject, row.body, row.hash) for row in wanted]
            after = wanted[-1].sequence
    return head.sequence


async def _reaches(admin: Connection, sequence: int) -> bool:
    state = await stream_state(admin, LOG)
    return state is not None and state.last >= sequence and state.messages == state.last


async def _stored(admin: Connection, sequences: list[int]) -> list[tuple[int, str, bytes, str]]:
    found: dict[int, tuple[int, str, bytes, str]] = {}

    async def get(sequence: int) -> None:
        message = await stored_message(admin, LOG, sequence)
        assert message is not None, f"LOG has no row {sequence}"
        chained = message.headers[headers.CHAIN_HASH]
        found[sequence] = (sequence, message.subject, message.data, chained)

    async with anyio.create_task_group() as tasks:
        for sequence in sequences:
            tasks.start_soon(get, sequence)
    return [found[sequence] for sequence in sequences]
