"""A ledger file with the outbox's tables, driven without an event loop and stopped at will."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from pmcl.outbox import SCHEMAS
from pmcl.store import StoreConfig, Transaction
from pmcl.store.committer import Committer, Job
from pmcl.store.schema import open_connection

T = TypeVar("T")

NOBODY = cast("Any", None)


def ledger_config(path: Path) -> StoreConfig:
    return StoreConfig(path=path, schemas=SCHEMAS, application_id=0x504D, version=1)


class LedgerFile:
    def __init__(self, path: Path) -> None:
        self.config = ledger_config(path)
        self._committer = Committer(self.config)

    def run(self, unit: Callable[[Transaction], T]) -> T:
        (done,) = self._committer.commit([Job(unit, NOBODY)])
        if done.error is not None:
            raise done.error
        return cast("T", done.value)

    def run_group(self, *units: Callable[[Transaction], Any]) -> list[Any]:
        done = self._committer.commit([Job(unit, NOBODY) for unit in units])
        return [each.value if each.error is None else each.error for each in done]

    def restart(self) -> None:
        self.close()
        self._committer = Committer(self.config)

    def crash_within(self, unit: Callable[[Transaction], Any]) -> None:
        """The process dies after the unit and before its COMMIT."""
        self.close()
        connection = open_connection(self.config)
        connection.execute("BEGIN IMMEDIATE")
        unit(Transaction(connection, self.config.path))
        connection.close()
        self._committer = Committer(self.config)

    def tamper(self, statement: str) -> None:
        connection = sqlite3.connect(self.config.path)
        connection.execute(statement)
        connection.commit()
        connection.close()

    def close(self) -> None:
        self._committer.close()
