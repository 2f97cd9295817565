"""A file is either wholly ours and of our version, or it is refused and left as it was."""

import sqlite3
import time
from collections.abc import Iterator

from pmcl.store.config import StoreConfig
from pmcl.store.errors import StoreVersionError, translate

__all__ = ["open_connection"]

# Text of a statement is the key of this cache; all queries of a ledger fit several times over.
_CACHED_STATEMENTS = 1024
_CACHE_KIB = 64 * 1024
# A checkpoint costs two syncs in the middle of somebody's commit; pages that many commits touch are
# copied once for all of them. 16 MiB of log are read back in well under a second after a crash.
_CHECKPOINT_PAGES = 4000
_ASK_AGAIN_S = 0.005


def open_connection(config: StoreConfig) -> sqlite3.Connection:
    """Return a connection to the file, created with its schemas when it was empty.

    Raises:
        StoreVersionError: no SQLite file, a foreign one, or one of another version.
        StoreUnavailableError: it cannot be opened, read or written.
    """
    try:
        connection = sqlite3.connect(
            config.path,
            timeout=config.busy_timeout_ms / 1000,
            isolation_level=None,
            cached_statements=_CACHED_STATEMENTS,
        )
    except sqlite3.Error as error:
        raise translate(config.path, error) from error
    try:
        return _prepared(connection, config)
    except sqlite3.Error as error:
        connection.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise StoreVersionError(config.path, "no SQLite file", _known(config)) from error
        raise translate(config.path, error) from error
    except BaseException:
        connection.close()
        raise


def _prepared(connection: sqlite3.Connection, config: StoreConfig) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    connection.execute("BEGIN")  # one snapshot: another process may be creating the file
    fresh = _is_fresh(connection, config)
    connection.execute("COMMIT")
    _write_ahead(connection, config)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: its fsync alone does not reach the disk
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    if fresh:
        _create(connection, config)
    return connection


def _write_ahead(connection: sqlite3.Connection, config: StoreConfig) -> None:
    """The file is written ahead.

    Of connections that ask for it at once SQLite refuses some without waiting, for each has a lock
    that the other needs; the refused one gives its own back, so it need only ask again.
    """
    ends_s = time.monotonic() + config.busy_timeout_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= ends_s:
                raise
            time.sleep(_ASK_AGAIN_S)
        else:
            return


def _is_fresh(connection: sqlite3.Connection, config: StoreConfig) -> bool:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if (application_id, version, tables) == (0, 0, 0):
        return True
    if (application_id, version) != (config.application_id, config.version):
        found = f"application id {application_id:#x}, version {version}"
        raise StoreVersionError(config.path, found, _known(config))
    return False


def _create(connection: sqlite3.Connection, config: StoreConfig) -> None:
    connection.execute("BEGIN IMMEDIATE")
    # Looked at again under the lock: another process may have created the file meanwhile.
    if _is_fresh(connection, config):
        for statement in _statements("\n".join(config.schemas)):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {config.application_id:d}")
        connection.execute(f"PRAGMA user_version = {config.version:d}")
    connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    # `executescript` would commit first, and so end the transaction that makes this all or nothing.
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _known(config: StoreConfig) -> str:
    return f"application id {config.application_id:#x}, version {config.version}"
