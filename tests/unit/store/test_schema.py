import os
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import msgspec
import pytest

from pmcl.store import (
    StatementError,
    StoreConfig,
    StoreUnavailableError,
    StoreVersionError,
    open_writer,
)
from pmcl.store.schema import open_connection

pytestmark = pytest.mark.anyio


@contextmanager
def opened(config: StoreConfig) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(config.path)
    try:
        yield connection
    finally:
        connection.close()


def write(config: StoreConfig, *statements: str) -> bytes:
    with opened(config) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return config.path.read_bytes()


async def open_once(config: StoreConfig) -> None:
    async with open_writer(config) as writer:
        await writer.run(lambda tx: tx.all("SELECT * FROM notes"))


async def test_a_fresh_file_gets_schema_identity_and_version(config: StoreConfig) -> None:
    await open_once(config)
    with opened(config) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (0x504D,)
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await open_once(config)


async def test_a_schema_that_fails_leaves_the_file_fresh(config: StoreConfig) -> None:
    broken = (*config.schemas, "CREATE TABLE notes (id INTEGER) STRICT;")
    with pytest.raises(StatementError, match="already exists"):
        await open_once(msgspec.structs.replace(config, schemas=broken))
    with opened(config) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    await open_once(config)


async def test_schema_text_may_hold_triggers_and_semicolons(config: StoreConfig) -> None:
    trigger = """
    CREATE TABLE gone (id INTEGER, why TEXT DEFAULT 'a;b') STRICT; -- one; two
    CREATE TRIGGER keep AFTER DELETE ON notes BEGIN
        INSERT INTO gone (id) VALUES (old.id); SELECT 1;
    END;
    """
    both = msgspec.structs.replace(config, schemas=(*config.schemas, trigger))
    async with open_writer(both) as writer:
        await writer.run(lambda tx: tx.run("INSERT INTO notes VALUES (1, 'x')"))
        await writer.run(lambda tx: tx.run("DELETE FROM notes"))
        row = await writer.run(lambda tx: tx.one("SELECT id, why FROM gone"))
    assert row is not None
    assert tuple(row) == (1, "a;b")


@pytest.mark.parametrize("version", [2, 4])
async def test_another_version_is_refused_untouched(config: StoreConfig, version: int) -> None:
    await open_once(config)
    before = write(config, f"PRAGMA user_version = {version}")
    with pytest.raises(StoreVersionError) as caught:
        await open_once(config)
    assert str(config.path) in str(caught.value)
    assert f"version {version}" in caught.value.found
    assert "version 3" in caught.value.known
    assert config.path.read_bytes() == before


@pytest.mark.parametrize(
    "statement", ["PRAGMA application_id = 7", "CREATE TABLE other (id INTEGER)"]
)
async def test_a_foreign_file_is_refused_untouched(config: StoreConfig, statement: str) -> None:
    before = write(config, statement)
    with pytest.raises(StoreVersionError, match="application id 0x504d"):
        await open_once(config)
    assert config.path.read_bytes() == before


async def test_what_is_no_database_is_refused_untouched(config: StoreConfig) -> None:
    config.path.write_bytes(b"no database at all, but long enough to look at" * 100)
    before = config.path.read_bytes()
    with pytest.raises(StoreVersionError, match="no SQLite file"):
        await open_once(config)
    assert config.path.read_bytes() == before


async def test_a_missing_directory_is_unavailable(config: StoreConfig) -> None:
    elsewhere = msgspec.structs.replace(config, path=config.path.parent / "no" / "ledger.sqlite")
    with pytest.raises(StoreUnavailableError, match=r"ledger\.sqlite: SQLITE_CANTOPEN"):
        await open_once(elsewhere)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_file_is_unavailable(config: StoreConfig) -> None:
    await open_once(config)
    config.path.chmod(0)
    with pytest.raises(StoreUnavailableError, match="SQLITE_CANTOPEN"):
        await open_once(config)


def test_who_is_refused_at_once_asks_again(
    config: StoreConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        other.execute("COMMIT")

    monkeypatch.setattr(time, "sleep", wait)
    with opened(config) as other:
        other.execute("BEGIN IMMEDIATE")
        connection = open_connection(config)
    connection.close()
    assert len(waits) == 1


def test_who_is_refused_for_too_long_is_told(
    config: StoreConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it asks again"))
    impatient = msgspec.structs.replace(config, busy_timeout_ms=0)
    with opened(config) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="SQLITE_BUSY"):
            open_connection(impatient)


def test_a_file_created_by_several_at_once_is_created_once(config: StoreConfig) -> None:
    start = Barrier(6)

    def create(_: int) -> int:
        start.wait(10)
        connection = open_connection(config)
        try:
            return len(connection.execute("SELECT name FROM sqlite_schema").fetchall())
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(create, range(6))) == [1] * 6
