"""Whatever happens inside a group, it is committed as a whole or not at all.

A unit that raises is undone by its savepoint. SQLite itself may roll the whole transaction back (a
full disk, an interrupt); then no unit of the group counts and each runs again in a transaction of
its own, so that one unit cannot take the others with it. Where several in a row are lost alone as
well, the rest are refused untried: a full disk must not keep the writer busy with what fails.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

import structlog

from pmcl.contracts import LedgerError
from pmcl.store.config import StoreConfig
from pmcl.store.errors import StoreUnavailableError, translate
from pmcl.store.memory import Memory
from pmcl.store.schema import open_connection
from pmcl.store.transaction import Transaction
from pmcl.store.turns import Turns

__all__ = ["Committer", "Done", "Job"]

log = structlog.get_logger()

_LOST_MAX = 3
"""So many units alone, one after the other, and it is not the units: the disk takes none."""


class Job(NamedTuple):
    """A unit and who waits for it, and whether it must outlive a loss of power."""

    unit: Callable[[Transaction], Any]
    future: "asyncio.Future[Any]"
    durable: bool = True


class Done(NamedTuple):
    """What came of a job: committed with `value`, or undone because of `error`."""

    future: "asyncio.Future[Any]"
    value: Any
    error: BaseException | None


class _GroupLostError(Exception):
    """The transaction of a whole group is gone."""


class Committer:
    """Owns the writing connection; made, used and closed on the writer's thread.

    Attributes:
        changed: whether the last `commit` changed anything.
    """

    def __init__(self, config: StoreConfig) -> None:
        self._config = config
        self._turns = Turns(config)
        self._connection: sqlite3.Connection | None = None
        self._synced = True
        self._memory = Memory()
        self.changed = False
        try:
            with self._turns:
                self._open()
        except BaseException:
            self._turns.close()
            raise

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it by its last writer."""
        try:
            with self._turns:
                self._drop()
        except StoreUnavailableError:
            self._drop()  # whoever has the turn has the file open, so this folds nothing
        self._turns.close()

    def truncate(self) -> bool:
        """Return whether the write-ahead log is empty now; a reader may hold it back.

        What was deleted is then in no byte of the file, nor of the log.

        Raises:
            StoreUnavailableError: the disk does not answer.
        """
        try:
            with self._turns:
                connection = self._open()
                # Units wait behind this one, so it waits for no reader.
                connection.execute("PRAGMA busy_timeout = 0").fetchall()
                row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                connection.execute(f"PRAGMA busy_timeout = {self._config.busy_timeout_ms}")
        except sqlite3.Error as error:
            raise translate(self._config.path, error) from error
        return bool(row[0] == 0)

    def commit(self, jobs: list[Job]) -> list[Done]:
        """Return what came of each job, in order; none of it is still uncertain."""
        self.changed = False
        try:
            with self._turns:
                return self._commit(jobs)
        except _GroupLostError as lost:
            if len(jobs) == 1:
                return self._refused(jobs, lost)
        except (LedgerError, sqlite3.Error) as error:
            # No transaction could begin, and so none could for each job alone.
            return self._refused(jobs, error)
        return self._commit_each(jobs)

    def _commit_each(self, jobs: list[Job]) -> list[Done]:
        """Commit each alone; where one after the other is lost, the rest would be as well."""
        done: list[Done] = []
        lost = 0
        for job in jobs:
            try:
                with self._turns:
                    done += self._commit([job])
                lost = 0
            except (_GroupLostError, LedgerError, sqlite3.Error) as error:
                lost += 1
                if lost == _LOST_MAX:
                    return done + self._refused(jobs[len(done) :], error)
                done += self._refused([job], error)
        return done

    def _refused(self, jobs: list[Job], error: Exception) -> list[Done]:
        path, reason = self._config.path, str(error.__cause__ or error)
        log.warning("store.commit_failed", path=str(path), reason=reason, units=len(jobs))
        return [Done(job.future, None, StoreUnavailableError(path, reason)) for job in jobs]

    def _commit(self, jobs: list[Job]) -> list[Done]:
        connection = self._open()
        self._sync(connection, durable=any(job.durable for job in jobs))
        memory, self._memory = self._memory, Memory()  # given back by a COMMIT only
        connection.execute("BEGIN IMMEDIATE")
        try:
            before = connection.total_changes
            alone = len(jobs) == 1
            done = [self._run(connection, job, memory, alone=alone) for job in jobs]
            if connection.in_transaction:  # else the only unit was undone
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _GroupLostError from error
        finally:
            self._leave(connection)
        self.changed = self.changed or connection.total_changes != before
        if not self._config.shared:
            self._memory = memory
        return done

    def _run(
        self, connection: sqlite3.Connection, job: Job, memory: Memory, *, alone: bool
    ) -> Done:
        """Run one unit; where others share the transaction, a savepoint keeps them apart."""
        if not alone:
            connection.execute("SAVEPOINT unit")
        before = connection.total_changes
        value: Any = None
        failure: BaseException | None = None
        try:
            value = job.unit(Transaction(connection, self._config.path, memory))
        except StopIteration as error:  # a future cannot carry it
            failure = RuntimeError("the unit raised StopIteration")
            failure.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - handed to whoever awaits the unit
            failure = error
        if not connection.in_transaction:
            raise _GroupLostError from failure
        if failure is not None:
            if connection.total_changes != before:  # else all that it read stands as it was
                memory.clear()
            connection.execute("ROLLBACK" if alone else "ROLLBACK TO unit")
        if not alone:
            connection.execute("RELEASE unit")
        return Done(job.future, value, failure)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_connection(self._config)
            self._synced = True
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _sync(self, connection: sqlite3.Connection, *, durable: bool) -> None:
        """Have the next COMMIT wait for the disk, and all that came before it, or not."""
        if durable != self._synced:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._synced = durable

    def _leave(self, connection: sqlite3.Connection) -> None:
        """Leave no transaction open; a connection that cannot is replaced."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            log.warning("store.reopened", path=str(self._config.path), reason=str(error))
            self._drop()
