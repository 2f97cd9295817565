"""What a unit may do: run statements, inside a transaction that it neither opens nor ends.

Once SQLite has rolled the transaction back by itself (a full disk does that), no statement runs any
more: it would commit on its own.
"""

import sqlite3
from pathlib import Path
from typing import Any

from pmcl.store.errors import StoreUnavailableError, translate

__all__ = ["Row", "Transaction"]

Row = sqlite3.Row


class Transaction:
    """The statements of one group of units; lives on the writer's thread only."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lost = False

    def run(self, sql: str, /, **params: Any) -> int:
        """Run one writing statement and return the number of rows it changed.

        Raises:
            StatementError: a constraint or the statement itself is wrong.
            StoreUnavailableError: the disk is full or does not answer.
        """
        return self._execute(sql, params).rowcount

    def one(self, sql: str, /, **params: Any) -> Row | None:
        """Return the first row, or `None`. Raises as `run`."""
        try:
            row: Row | None = self._execute(sql, params).fetchone()
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return row

    def all(self, sql: str, /, **params: Any) -> list[Row]:
        """Return all rows. Raises as `run`."""
        try:
            return self._execute(sql, params).fetchall()
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _execute(self, sql: str, params: dict[str, Any]) -> sqlite3.Cursor:
        if self._lost:
            raise StoreUnavailableError(self._path, "the transaction was rolled back by SQLite")
        try:
            return self._connection.execute(sql, params)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: sqlite3.Error) -> Exception:
        self._lost = not self._connection.in_transaction
        return translate(self._path, error)
