"""What the bus has acknowledged needs no transaction of its own, and everybody knows it at once."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import HostError
from pmcl.outbox.host_file import HostFile, open_host_file
from pmcl.store import Writer
from tests.unit.outbox.test_host_file import (
    FAR,
    child,
    claim_of,
    numbers,
    open_at,
    outcome_of,
    owners_of,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each was durable."""
    begun: list[bool] = []
    run = Writer.run

    async def counted(writer: Writer, unit: Any, *, durable: bool = True) -> Any:
        begun.append(durable)
        return await run(writer, unit, durable=durable)

    monkeypatch.setattr(Writer, "run", counted)
    return begun


async def test_acknowledgements_cost_no_transaction(
    tmp_path: Path, transactions: list[bool]
) -> None:
    async with open_at(tmp_path) as file:
        await file.claim(claim_of("a"))
        await file.reserve(1, FAR)
        before = len(transactions)
        assert await file.acknowledged([1]) == {1}
        assert file.watermark == 1
        assert len(transactions) == before
        message = await file.finish(outcome_of("a"))
        assert (await file.sweep()).voids == 0
        before = len(transactions)
        await file.sent([message.number])
        assert file.watermark == message.number
        assert len(transactions) == before
        assert await numbers(file, sent_before_ms=1_000_000) == []
        assert await numbers(file) == [message.number]


async def test_siblings_see_at_once_what_was_acknowledged(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as other:
        assert await one.reserve(2, FAR) == 1
        assert await one.acknowledged([2]) == {2}
        assert other.watermark == 2
        assert await other.reserve(1, FAR) == 3, "this one's change knows no acknowledgement"
        assert one.watermark == other.watermark == 2


async def test_an_acknowledgement_comes_too_late_where_a_sibling_has_closed_its_number(
    tmp_path: Path,
) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as other:
        await one.reserve(1, deadline_ms=999_999)
        assert (await other.sweep()).voids == 1
        assert await one.acknowledged([1]) == set()
        assert one.watermark == 0


async def test_the_file_is_told_at_the_end(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.reserve(1, FAR)
        await file.acknowledged([1])
    (tmp_path / "hosts" / "s.h.sqlite.mark").unlink()
    async with open_at(tmp_path) as file:
        assert file.watermark == 1
        assert await numbers(file) == []


async def test_what_a_killed_process_had_acknowledged_stays_known(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with child(path, "acknowledge", ulid_now()) as process:
        assert process.stdout is not None
        number = int(await anyio.to_thread.run_sync(process.stdout.readline))
        process.kill()
        await anyio.to_thread.run_sync(process.wait)
    async with open_host_file(path) as file:
        assert file.watermark == number
        assert (await file.sweep()).voids == 1, "a repeat by its number, which the ledger drops"
        assert file.watermark == number
    assert owners_of(path) == []


async def test_a_mark_of_another_file_counts_for_nothing(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.reserve(5, FAR)
        await file.acknowledged([5])
    path = tmp_path / "hosts" / "s.h.sqlite"
    path.unlink()
    async with open_at(tmp_path) as file:
        await file.reserve(9, FAR)
        assert file.watermark == 0


async def test_a_number_that_was_never_given_is_nobodys_watermark(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.reserve(1, FAR)
        file._mark.acknowledge(7)
        await file.reserve(1, FAR)
        assert file.watermark == 2


@contextmanager
def locked(file: HostFile) -> Iterator[None]:
    """Another process is at the mark."""
    with file._path.with_name(f"{file._path.name}.mark").open("rb+") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        yield


async def test_a_mark_that_is_locked_is_waited_for_beside_the_event_loop(
    tmp_path: Path, transactions: list[bool]
) -> None:
    async with open_at(tmp_path) as file:
        await file.reserve(1, FAR)
        before = len(transactions)
        acknowledged: set[int] = set()

        async def acknowledge() -> None:
            acknowledged.update(await file.acknowledged([1]))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                with locked(file):
                    tasks.start_soon(acknowledge)
                    while len(transactions) == before:  # noqa: ASYNC110 - it tells nobody
                        await anyio.sleep(0.001)
        assert acknowledged == {1}
        assert file.watermark == 1


async def test_a_change_that_fails_leaves_the_file_to_be_told(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.claim(claim_of("a"))
        await file.sent([(await file.finish(outcome_of("a"))).number])
        with pytest.raises(HostError):
            await file.finish(outcome_of("a"))
        assert await numbers(file, sent_before_ms=1_000_000) == []
