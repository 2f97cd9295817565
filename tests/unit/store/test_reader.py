import pytest

from pmcl.store import (
    StatementError,
    StoreConfig,
    StoreUnavailableError,
    Transaction,
    open_reader,
    open_writer,
)

pytestmark = pytest.mark.anyio


async def test_reader_sees_commits_and_nothing_else(config: StoreConfig) -> None:
    def write(tx: Transaction) -> None:
        tx.run("INSERT INTO notes VALUES (:id, :text)", id=1, text="one")

    async with open_writer(config) as writer, open_reader(config.path) as reader:
        assert await reader.one("SELECT * FROM notes") is None
        await writer.run(write)
        row = await reader.one("SELECT text FROM notes WHERE id = :id", id=1)
        assert row is not None
        assert row["text"] == "one"
        assert len(await reader.all("SELECT * FROM notes")) == 1


async def test_reader_cannot_write(config: StoreConfig) -> None:
    async with open_writer(config), open_reader(config.path) as reader:
        with pytest.raises(StoreUnavailableError, match="SQLITE_READONLY"):
            await reader.all("DELETE FROM notes")


async def test_a_wrong_statement_is_named(config: StoreConfig) -> None:
    async with open_writer(config), open_reader(config.path) as reader:
        with pytest.raises(StatementError, match="no such table: nots"):
            await reader.one("SELECT * FROM nots")


async def test_a_missing_file_is_unavailable(config: StoreConfig) -> None:
    with pytest.raises(StoreUnavailableError, match="SQLITE_CANTOPEN"):
        async with open_reader(config.path):
            pass
