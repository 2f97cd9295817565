"""A walk over many rows of a file that nobody writes, without holding them all."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from pmcl.store.errors import translate
from pmcl.store.transaction import Row

__all__ = ["scan"]


@contextmanager
def scan(path: Path, sql: str) -> Iterator[Iterator[Row]]:
    """Yield the rows of a query, one after another; blocks, so it belongs into a thread.

    Raises:
        StoreUnavailableError, StatementError: the file cannot be read, or not so.
    """
    try:
        uri = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection.execute(sql)
    except sqlite3.Error as error:
        raise translate(path, error) from error
