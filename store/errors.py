"""What can go wrong with a store: each error names the file, what was found and what is known.

Nothing of SQLite's own errors leaves this package.
"""

import sqlite3
from pathlib import Path

from pmcl.contracts import LedgerError

__all__ = [
    "StatementError",
    "StoreBusyError",
    "StoreUnavailableError",
    "StoreVersionError",
    "translate",
]

# What the machine did, not what the statement said: these may pass without any change of code.
_OUTSIDE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)


class StoreUnavailableError(LedgerError):
    """The file could not be read or written now; nothing of the unit was committed.

    After a failed sync the transaction can still come back by a crash of the machine, so the
    sender repeats and the inbox decides.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class StoreBusyError(LedgerError):
    """Too many units wait for the writer already; this one was not taken."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.limit = limit
        super().__init__(f"{path}: {limit} units wait already, allowed: {limit}")


class StoreVersionError(LedgerError):
    """The file is not one that this program may write; it was left as it was."""

    def __init__(self, path: Path, found: str, known: str) -> None:
        self.path = path
        self.found = found
        self.known = known
        super().__init__(f"{path}: found {found}, this program knows {known}")


class StatementError(LedgerError):
    """A statement was refused: a constraint, or an error in the statement itself."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def translate(path: Path, error: sqlite3.Error) -> LedgerError:
    """Return the error of this package that says what SQLite's `error` means."""
    code = getattr(error, "sqlite_errorcode", None)
    reason = f"{getattr(error, 'sqlite_errorname', type(error).__name__)}: {error}"
    if code is not None and code & 0xFF in _OUTSIDE:
        return StoreUnavailableError(path, reason)
    return StatementError(path, reason)
