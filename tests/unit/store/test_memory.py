"""What units recall is what the file holds, whatever became of those that remembered it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from pmcl.store import StoreConfig, Transaction
from pmcl.store.committer import Committer, Job
from pmcl.store.memory import Memory

KEY = ("notes.last",)

Unit = Callable[[Transaction], Any]


class File:
    def __init__(self, config: StoreConfig) -> None:
        self.committer = Committer(config)
        self.reads = 0

    def run(self, *units: Unit) -> list[Any]:
        done = self.committer.commit([Job(unit, cast("Any", None)) for unit in units])
        return [each.value if each.error is None else each.error for each in done]

    def last(self, tx: Transaction) -> int:
        """Return the highest id, as it is known."""
        return tx.recall(KEY, lambda: self._read(tx))

    def held(self, tx: Transaction) -> int:
        """Return the highest id, as it is in the file."""
        row = tx.one("SELECT coalesce(max(id), 0) AS last FROM notes")
        assert row is not None
        return int(row["last"])

    def add(self, tx: Transaction, size: int = 1) -> int:
        identity = self.last(tx) + 1
        tx.run("INSERT INTO notes VALUES (:id, :text)", id=identity, text="x" * size)
        tx.remember(KEY, identity)
        return identity

    def add_and_raise(self, tx: Transaction) -> None:
        self.add(tx)
        raise KeyError

    def _read(self, tx: Transaction) -> int:
        self.reads += 1
        return self.held(tx)


@pytest.fixture
def file(config: StoreConfig) -> File:
    return File(config)


def test_a_fact_is_read_once(file: File) -> None:
    assert file.run(file.add, file.add) == [1, 2]
    assert file.run(file.add) == [3]
    assert file.reads == 1


def test_a_unit_that_raises_and_wrote_nothing_takes_nothing_away(file: File) -> None:
    def looks_and_raises(tx: Transaction) -> None:
        raise KeyError(file.last(tx))

    file.run(file.add)
    file.run(looks_and_raises)
    file.run(looks_and_raises, looks_and_raises)
    assert file.run(file.add) == [2]
    assert file.reads == 1


def test_a_forgotten_fact_is_read_again(file: File) -> None:
    file.run(file.add)
    file.run(lambda tx: tx.run("DELETE FROM notes"), lambda tx: tx.forget(KEY))
    assert file.run(file.last) == [0]


def test_none_is_a_fact(file: File) -> None:
    def recalled(tx: Transaction) -> None:
        def read() -> None:
            file.reads += 1

        return tx.recall(KEY, read)

    assert file.run(recalled, recalled) == [None, None]
    assert file.reads == 1


@pytest.mark.parametrize("others", [0, 1])
def test_what_an_undone_unit_remembered_is_forgotten(file: File, others: int) -> None:
    file.run(file.add)
    results = file.run(file.add_and_raise, *[file.add] * others)
    assert results[1:] == [2] * others
    assert file.run(file.last) == file.run(file.held)


def test_what_a_lost_group_remembered_is_forgotten(file: File) -> None:
    def limit(tx: Transaction) -> None:
        (pages,) = tuple(tx.all("PRAGMA page_count")[0])
        tx.one(f"PRAGMA max_page_count = {pages + 2}")

    file.run(file.add)
    file.run(limit)
    results = file.run(file.add, lambda tx: file.add(tx, 100_000), file.add)
    assert (results[0], results[2]) == (2, 3)
    assert isinstance(results[1], Exception)
    assert file.run(file.last) == file.run(file.held) == [3]


def test_a_failed_commit_is_forgotten(file: File) -> None:
    def unsatisfied(tx: Transaction) -> None:
        tx.run("CREATE TABLE child (note INTEGER REFERENCES notes DEFERRABLE INITIALLY DEFERRED)")
        tx.run("INSERT INTO child VALUES (77)")
        file.add(tx)

    file.run(file.add)
    assert isinstance(file.run(unsatisfied)[0], Exception)
    assert file.run(file.last) == file.run(file.held) == [1]


def test_a_file_with_several_writers_is_read_in_each_transaction(config: StoreConfig) -> None:
    shared = msgspec.structs.replace(config, shared=True)
    one, other = File(shared), File(shared)
    assert one.run(one.add) == [1]
    assert other.run(other.add) == [2]
    assert one.run(one.add) == [3]


def test_the_memory_is_bounded(tmp_path: Path) -> None:
    memory = Memory()
    for number in range(10_000):
        memory.put((str(number),), number)
        assert memory.get((str(number),)) == number
    assert len(memory) <= 4096
