"""A scan yields rows one by one and changes nothing."""

from pathlib import Path

import pytest

from pmcl.store import StatementError, StoreConfig, StoreUnavailableError, open_writer, scan

pytestmark = pytest.mark.anyio

_SCHEMA = "CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT;"
_FILL = """
WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 1000)
INSERT INTO numbers SELECT n FROM up
"""


@pytest.fixture
async def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.sqlite"
    config = StoreConfig(path=path, schemas=(_SCHEMA,), application_id=1, version=1)
    async with open_writer(config) as writer:
        await writer.run(lambda tx: tx.run(_FILL))
    return path


async def test_all_rows_come_in_order(numbers: Path) -> None:
    with scan(numbers, "SELECT n FROM numbers ORDER BY n") as rows:
        assert [row["n"] for row in rows] == list(range(1, 1001))


async def test_a_scan_cannot_write(numbers: Path) -> None:
    with pytest.raises(StoreUnavailableError), scan(numbers, "DELETE FROM numbers") as rows:
        list(rows)
    with scan(numbers, "SELECT count(*) AS n FROM numbers") as rows:
        assert next(rows)["n"] == 1000


async def test_errors_are_the_stores_own(numbers: Path, tmp_path: Path) -> None:
    with pytest.raises(StatementError), scan(numbers, "SELECT nothing FROM numbers"):
        pass
    with pytest.raises(StoreUnavailableError), scan(tmp_path / "none.sqlite", "SELECT 1"):
        pass
