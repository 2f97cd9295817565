import threading
from collections.abc import Callable
from typing import Any

import anyio
import msgspec
import pytest

from pmcl.store import (
    StatementError,
    StoreBusyError,
    StoreConfig,
    StoreUnavailableError,
    Transaction,
    Writer,
    open_reader,
    open_writer,
)

pytestmark = pytest.mark.anyio

Unit = Callable[[Transaction], Any]


def note(identity: int, text: str = "x") -> Unit:
    def unit(tx: Transaction) -> int:
        tx.run("INSERT INTO notes VALUES (:id, :text)", id=identity, text=text)
        return identity

    return unit


def ids(tx: Transaction) -> list[int]:
    return [row["id"] for row in tx.all("SELECT id FROM notes ORDER BY id")]


async def together(writer: Writer, *units: Unit) -> list[Any]:
    """Hand all units over in one turn of the loop; return each result or exception."""
    results: list[Any] = [None] * len(units)

    async def one(index: int) -> None:
        try:
            results[index] = await writer.run(units[index])
        except Exception as error:  # noqa: BLE001 - looked at by the test
            results[index] = error

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for index in range(len(units)):
                tasks.start_soon(one, index)
    return results


class Gate:
    """A unit that keeps the writer's thread until it is opened."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._open = threading.Event()

    def __call__(self, _: Transaction) -> None:
        self.entered.set()
        assert self._open.wait(10)

    def open(self) -> None:
        self._open.set()


async def test_a_result_is_seen_by_others_when_it_returns(config: StoreConfig) -> None:
    async with open_writer(config) as writer, open_reader(config.path) as reader:
        assert await writer.run(note(1)) == 1
        assert await reader.one("SELECT id FROM notes") is not None


async def test_rows_changed_are_counted(config: StoreConfig) -> None:
    async with open_writer(config) as writer:
        await together(writer, note(1), note(2))
        assert await writer.run(lambda tx: tx.run("DELETE FROM notes")) == 2
        assert await writer.run(lambda tx: tx.run("DELETE FROM notes")) == 0


async def test_units_that_arrive_together_share_a_commit(config: StoreConfig) -> None:
    commits: list[None] = []
    async with open_writer(config) as writer:
        writer.on_commit(lambda: commits.append(None))
        assert await together(writer, *map(note, range(50))) == list(range(50))
        assert len(commits) == 1


async def test_a_group_has_a_limit(config: StoreConfig) -> None:
    commits: list[None] = []
    async with open_writer(msgspec.structs.replace(config, max_group=20)) as writer:
        writer.on_commit(lambda: commits.append(None))
        await together(writer, *map(note, range(50)))
        assert len(commits) == 3


async def test_a_unit_that_raises_is_undone_alone(config: StoreConfig) -> None:
    def fails(tx: Transaction) -> None:
        note(2)(tx)
        raise KeyError("mine")

    async with open_writer(config) as writer:
        results = await together(writer, note(1), fails, note(3), note(3))
        assert results[0] == 1
        assert isinstance(results[1], KeyError)
        assert results[2] == 3
        assert isinstance(results[3], StatementError)
        assert "UNIQUE" in str(results[3])
        assert await writer.run(ids) == [1, 3]


async def test_even_stop_iteration_reaches_its_waiter(config: StoreConfig) -> None:
    async with open_writer(config) as writer:
        results = await together(writer, lambda _: next(iter(())), note(1))
        assert isinstance(results[0], RuntimeError)
        assert results[1] == 1


async def test_a_connection_beyond_use_is_replaced(config: StoreConfig) -> None:
    def breaks(tx: Transaction) -> None:
        tx._connection.close()

    async with open_writer(config) as writer:
        results = await together(writer, note(1), breaks, note(3))
        assert (results[0], results[2]) == (1, 3)
        assert isinstance(results[1], StoreUnavailableError)
        assert await writer.run(ids) == [1, 3]


async def test_nothing_changed_costs_no_commit(config: StoreConfig) -> None:
    commits: list[None] = []
    async with open_writer(config) as writer:
        await writer.run(note(1))
        writer.on_commit(lambda: commits.append(None))
        wal = config.path.with_name(config.path.name + "-wal")
        before = wal.stat()
        await together(
            writer, ids, lambda tx: tx.run("INSERT OR IGNORE INTO notes VALUES (1, 'again')")
        )
        after = wal.stat()
        assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        assert commits == []


async def test_a_cancelled_waiter_does_not_stop_its_unit(config: StoreConfig) -> None:
    gate = Gate()
    async with open_writer(config) as writer:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.run, gate)
            await anyio.to_thread.run_sync(gate.entered.wait)
            tasks.start_soon(writer.run, note(1))
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        gate.open()
        with anyio.fail_after(5):
            assert await writer.run(ids) == [1]


async def test_a_full_queue_refuses_at_once_and_takes_again(config: StoreConfig) -> None:
    gate = Gate()
    async with open_writer(msgspec.structs.replace(config, max_waiting=3)) as writer:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.run, gate)
            await anyio.to_thread.run_sync(gate.entered.wait)
            tasks.start_soon(writer.run, note(1))
            tasks.start_soon(writer.run, note(2))
            await anyio.lowlevel.checkpoint()
            with pytest.raises(StoreBusyError, match="allowed: 3"):
                await writer.run(note(3))
            gate.open()
        assert await writer.run(ids) == [1, 2]


async def test_what_was_taken_is_committed_at_the_end(config: StoreConfig) -> None:
    async with open_writer(config) as writer, anyio.create_task_group() as tasks:
        tasks.start_soon(writer.run, note(1))
        await anyio.lowlevel.checkpoint()
    with pytest.raises(StoreUnavailableError, match="closed"):
        await writer.run(note(2))
    async with open_writer(config) as writer:
        assert await writer.run(ids) == [1]


async def test_several_writers_may_write_a_shared_file(config: StoreConfig) -> None:
    shared = msgspec.structs.replace(config, shared=True)
    async with open_writer(shared) as one, open_writer(shared) as other:
        async with anyio.create_task_group() as tasks:
            for index in range(40):
                tasks.start_soon((one, other)[index % 2].run, note(index))
        assert await one.run(ids) == list(range(40))


async def test_a_locked_file_is_unavailable_and_then_is_not(config: StoreConfig) -> None:
    impatient = msgspec.structs.replace(config, busy_timeout_ms=10, shared=True)
    gate = Gate()
    async with open_writer(impatient) as one, open_writer(impatient) as other:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.run, gate)
            await anyio.to_thread.run_sync(gate.entered.wait)
            results = await together(other, note(1), note(2))
            gate.open()
        assert all(isinstance(result, StoreUnavailableError) for result in results)
        assert "locked" in str(results[0])
        assert await other.run(note(3)) == 3
        assert await one.run(ids) == [3]
