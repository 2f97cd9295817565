"""What was deleted is in no byte of the file nor of its write-ahead log."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pmcl.store import StoreConfig, StoreUnavailableError, Transaction, open_writer

pytestmark = pytest.mark.anyio


def config_of(folder: Path, schema: str) -> StoreConfig:
    return StoreConfig(path=folder / "t.sqlite", schemas=(schema,), application_id=1, version=1)


def insert(n: int, text: str) -> Callable[[Transaction], int]:
    return lambda tx: tx.run("INSERT INTO texts VALUES (:n, :text)", n=n, text=text)


async def test_truncating_empties_the_log_and_leaves_no_deleted_byte(tmp_path: Path) -> None:
    config = config_of(
        tmp_path, "CREATE TABLE texts (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"
    )
    log = config.path.with_name("t.sqlite-wal")
    async with open_writer(config) as writer:
        for n in range(50):
            await writer.run(insert(n, f"needle-{n} " * (1 + 40 * n)))
        await writer.run(lambda tx: tx.run("DELETE FROM texts WHERE n % 2 = 1"))
        assert log.stat().st_size > 0

        assert await writer.truncate()

        assert log.stat().st_size == 0
        content = config.path.read_bytes()
        assert [n for n in range(1, 50, 2) if f"needle-{n} ".encode() in content] == []
        assert b"needle-48 " in content


async def test_a_reader_that_holds_the_log_back_is_not_waited_for(tmp_path: Path) -> None:
    config = config_of(tmp_path, "CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT;")
    async with open_writer(config) as writer:
        await writer.run(lambda tx: tx.run("INSERT INTO numbers VALUES (1)"))
        with closing(sqlite3.connect(config.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM numbers").fetchall()
            await writer.run(lambda tx: tx.run("INSERT INTO numbers VALUES (2)"))
            assert not await writer.truncate()
            assert await writer.run(lambda tx: len(tx.all("SELECT * FROM numbers"))) == 2
        assert await writer.truncate()


async def test_a_closed_writer_says_so(tmp_path: Path) -> None:
    config = config_of(tmp_path, "CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT;")
    async with open_writer(config) as writer:
        pass
    with pytest.raises(StoreUnavailableError):
        await writer.truncate()
