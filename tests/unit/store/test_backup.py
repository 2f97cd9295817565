"""A copy is one moment of a file that is written meanwhile."""

from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from pmcl.store import (
    StoreConfig,
    StoreUnavailableError,
    Transaction,
    copy_store,
    open_reader,
    open_writer,
)

pytestmark = pytest.mark.anyio

_SCHEMA = "CREATE TABLE pairs (n INTEGER PRIMARY KEY, filling BLOB NOT NULL) STRICT;"
_PAIR = "INSERT INTO pairs (n, filling) VALUES (:n, zeroblob(3000))"


def pair(tx: Transaction) -> None:
    """Rows come in twos, so that half a transaction shows."""
    (row,) = tx.all("SELECT coalesce(max(n), 0) AS n FROM pairs")
    for n in (row["n"] + 1, row["n"] + 2):
        tx.run(_PAIR, n=n)


async def test_a_copy_is_one_moment_while_others_write(tmp_path: Path) -> None:
    path, copy = tmp_path / "pairs.sqlite", tmp_path / "copy.sqlite"
    config = StoreConfig(path=path, schemas=(_SCHEMA,), application_id=1, version=1)
    async with open_writer(config) as writer:
        for _ in range(300):
            await writer.run(pair)
        steps = 0

        def told(left: int, pages: int) -> None:
            nonlocal steps
            steps += 1
            assert 0 <= left <= pages
            anyio.from_thread.run(writer.run, pair)

        await anyio.to_thread.run_sync(copy_store, path, copy, told)
        (now,) = await writer.run(lambda tx: tx.all("SELECT count(*) AS n FROM pairs"))
    async with open_reader(copy) as reader:
        (row,) = await reader.all("SELECT count(*) AS n, max(n) AS last FROM pairs")
        (mode,) = await reader.all("PRAGMA journal_mode")
    assert (row["n"], row["last"]) == (600, 600)
    assert now["n"] == 600 + 2 * steps
    assert steps >= 2
    assert mode["journal_mode"] == "delete"
    assert not any(copy.with_name(copy.name + suffix).exists() for suffix in ("-wal", "-shm"))


async def test_what_cannot_be_copied_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError):
        copy_store(tmp_path / "none.sqlite", tmp_path / "copy.sqlite", lambda *_: None)
