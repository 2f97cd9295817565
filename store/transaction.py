"""What a unit may do: run statements, inside a transaction that it neither opens nor ends.

Once SQLite has rolled the transaction back by itself (a full disk does that), no statement runs any
more: it would commit on its own.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from pmcl.store.errors import StoreUnavailableError, translate
from pmcl.store.memory import Memory

__all__ = ["Row", "Transaction"]

Row = sqlite3.Row
T = TypeVar("T")


class Transaction:
    """The statements of one group of units; lives on the writer's thread only."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, memory: Memory | None = None
    ) -> None:
        self._connection = connection
        self._path = path
        self._memory = Memory() if memory is None else memory
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

    def recall(self, key: tuple[str, ...], read: Callable[[], T]) -> T:
        """Return what the file holds under `key`, calling `read` only where that is not known."""
        fact = self._memory.get(key)
        if fact is Memory.missing:
            fact = read()
            self._memory.put(key, fact)
        return cast("T", fact)

    def remember(self, key: tuple[str, ...], fact: object) -> None:
        """Let `recall` return this immutable fact, which the unit has just written."""
        self._memory.put(key, fact)

    def forget(self, key: tuple[str, ...]) -> None:
        """Let `recall` read anew: what it would return was just changed."""
        self._memory.drop(key)

    def forget_all(self) -> None:
        """Let every `recall` read anew: what was changed touches more than a few keys."""
        self._memory.clear()

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
