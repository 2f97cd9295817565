"""Reads outside the writer's transaction: committed state only, and no way to write.

Every read fetches all its rows at once, so no open statement holds the write-ahead log back.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import aiosqlite
import anyio
import anyio.to_thread

from pmcl.store.errors import translate
from pmcl.store.transaction import Row

__all__ = ["Reader", "open_reader"]

_BUSY_TIMEOUT_S = 5.0
_CLOSE_TIMEOUT_S = 10.0
_CHUNK_ROWS = 64


class Reader:
    """One read-only connection with a thread of its own; calls are answered one by one."""

    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    async def one(self, sql: str, /, **params: Any) -> Row | None:
        """Return the first row, or `None`.

        Raises:
            StatementError: the statement is wrong, or would write.
            StoreUnavailableError: the file cannot be read now.
        """
        rows = await self.all(sql, **params)
        return rows[0] if rows else None

    async def all(self, sql: str, /, **params: Any) -> list[Row]:
        """Return all rows. Raises as `one`."""
        try:
            return cast("list[Row]", await self._connection.execute_fetchall(sql, params))
        except sqlite3.Error as error:
            raise translate(self._path, error) from error


@asynccontextmanager
async def open_reader(path: Path) -> AsyncIterator[Reader]:
    """Yield a reader of the file; it must be closed before the file's writer.

    Raises:
        StoreUnavailableError: the file is not there or cannot be read.
    """
    # Opened here and not by aiosqlite, which leaves a thread behind when it cannot open a file.
    try:
        opened = await anyio.to_thread.run_sync(_open, path)
    except sqlite3.Error as error:
        raise translate(path, error) from error
    connection = await aiosqlite.Connection(lambda: opened, _CHUNK_ROWS)
    try:
        connection.row_factory = sqlite3.Row
        await connection.execute("PRAGMA wal_autocheckpoint = 0")
        yield Reader(connection, path)
    finally:
        with anyio.move_on_after(_CLOSE_TIMEOUT_S, shield=True):
            await connection.close()


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro",
        uri=True,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        cached_statements=256,
        check_same_thread=False,  # aiosqlite's own thread is the only one to use it
    )
