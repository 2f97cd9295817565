"""A full disk inside a group: nobody is told success who has none, and space heals everything."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmcl.contracts import LedgerError
from pmcl.store import StoreConfig, StoreUnavailableError, Transaction, open_writer
from tests.unit.store.test_writer import ids, note, together

pytestmark = pytest.mark.anyio

BIG = "x" * 200_000


def limit_pages(tx: Transaction, more: int) -> None:
    row = tx.one("PRAGMA page_count")
    assert row is not None
    tx.one(f"PRAGMA max_page_count = {row[0] + more}")


async def test_a_full_file_fails_its_unit_and_no_other(config: StoreConfig) -> None:
    runs: list[int] = []

    def counted(identity: int) -> Callable[[Transaction], Any]:
        def unit(tx: Transaction) -> int:
            runs.append(identity)
            return int(note(identity)(tx))

        return unit

    async with open_writer(config) as writer:
        await writer.run(note(0))
        await writer.run(lambda tx: limit_pages(tx, 2))
        results = await together(writer, counted(1), note(2, BIG), counted(3))
        assert results[0] == 1
        assert isinstance(results[1], StoreUnavailableError)
        assert "full" in str(results[1])
        assert results[2] == 3
        # The whole group was lost to the one that filled the file, and ran again one by one.
        assert runs == [1, 1, 3]
        assert await writer.run(ids) == [0, 1, 3]
        await writer.run(lambda tx: limit_pages(tx, 1000))
        assert await writer.run(note(2, BIG)) == 2


async def test_units_behind_several_that_were_lost_are_refused_untried(
    config: StoreConfig,
) -> None:
    runs: list[int] = []

    def big(identity: int) -> Callable[[Transaction], Any]:
        def unit(tx: Transaction) -> int:
            runs.append(identity)
            return int(note(identity, BIG)(tx))

        return unit

    async with open_writer(config) as writer:
        await writer.run(note(0))
        await writer.run(lambda tx: limit_pages(tx, 2))
        results = await together(writer, *map(big, range(1, 9)))
        assert all(isinstance(result, StoreUnavailableError) for result in results)
        assert runs == [1, 1, 2, 3]  # in the group, and then each alone
        await writer.run(lambda tx: limit_pages(tx, 10_000))
        assert await together(writer, *map(big, range(1, 9))) == list(range(1, 9))


async def test_a_unit_that_goes_on_after_a_lost_transaction_writes_nothing(
    config: StoreConfig,
) -> None:
    def stubborn(tx: Transaction) -> str:
        try:
            note(2, BIG)(tx)
        except LedgerError:
            with pytest.raises(StoreUnavailableError, match="rolled back"):
                note(3)(tx)
        return "done"

    async with open_writer(config) as writer:
        await writer.run(note(0))
        await writer.run(lambda tx: limit_pages(tx, 2))
        results = await together(writer, stubborn, note(4))
        assert isinstance(results[0], StoreUnavailableError)
        assert results[1] == 4
        assert await writer.run(ids) == [0, 4]


@pytest.mark.parametrize("shared", ["", "shared"])
def test_a_failing_commit_fails_the_group_until_space_is_back(tmp_path: Path, shared: str) -> None:
    child = [sys.executable, "-m", "tests.unit.store.full_disk_child"]
    ended = subprocess.run(
        [*child, str(tmp_path / "ledger.sqlite"), shared],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "ok"
