"""An online copy of a file is its state at one moment, whoever writes meanwhile."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from pmcl.store.errors import translate

__all__ = ["copy_store"]

_PAGES = 256

Told = Callable[[int, int], None]
"""Is told how many pages are left, and of how many; what it raises ends the copy."""


def copy_store(source: Path, target: Path, told: Told) -> None:
    """The target holds what was committed when this began, in one file; blocks.

    Raises:
        StoreUnavailableError: the source cannot be read, or the target not be written.
    """
    try:
        uri = f"file:{quote(str(source))}?mode=ro"
        with (
            closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as reading,
            closing(sqlite3.connect(target, isolation_level=None)) as writing,
        ):
            # Without a transaction of its own it would start anew after each commit of others.
            reading.execute("BEGIN")
            reading.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            reading.backup(writing, pages=_PAGES, progress=lambda _, left, all_: told(left, all_))
            reading.execute("ROLLBACK")
            writing.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        raise translate(target, error) from error
