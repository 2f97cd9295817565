import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ulid_transform import ulid_now

from pmcl.contracts import (
    AuditReceipt,
    HostError,
    LedgerError,
    Outcome,
    Received,
    Void,
    decode,
    limits,
)
from pmcl.outbox import host_file, host_units
from pmcl.outbox.host_file import Claim, HostFile, message_id, open_host_file
from pmcl.outbox.host_units import HostFileFullError
from pmcl.store import Writer

pytestmark = pytest.mark.anyio

HASH = "0" * 64
FAR = 2**50
LEDGER = ulid_now()


def claim_of(name: str, kind: Any = "outcome", cause: str = "") -> Claim:
    return Claim(
        id=name, kind=kind, proposal_hash=HASH, call_id="call-1", cause=cause, expires_at=FAR
    )


def outcome_of(evaluation_id: str, status: Any = "succeeded") -> Outcome:
    return Outcome(
        outcome_id=ulid_now(),
        evaluation_id=evaluation_id,
        proposal_hash=HASH,
        status=status,
        finished_at=1,
    )


def received(through: int, *beyond: int, epoch: str = LEDGER) -> Received:
    return Received(ledger_epoch=epoch, through=through, beyond=beyond)


async def numbers(file: HostFile, sent_before_ms: int = FAR) -> list[int]:
    rows = await file.pending(after=0, sent_before_ms=sent_before_ms, limit=1000)
    return [row.number for row in rows]


@asynccontextmanager
async def open_at(tmp_path: Path) -> AsyncIterator[HostFile]:
    async with open_host_file(tmp_path / "hosts" / "s.h.sqlite", lambda: 1_000_000) as file:
        yield file


async def test_epoch_and_numbers_outlive_the_process(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        epoch = file.epoch
        assert await file.reserve(2, FAR) == 1
        assert await file.acknowledged([1, 2]) == {1, 2}
    async with open_at(tmp_path) as file:
        assert file.epoch == epoch
        assert file.watermark == 2
        assert await file.reserve(1, FAR) == 3


async def test_files_are_private(tmp_path: Path) -> None:
    async with open_at(tmp_path):
        directory = tmp_path / "hosts"
        assert directory.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}


async def test_claim_is_single(tmp_path: Path) -> None:
    async with open_at(tmp_path) as one, open_at(tmp_path) as other:
        assert await one.claim(claim_of("a"))
        assert not await other.claim(claim_of("a"))
        assert not await one.claim(claim_of("a"))


async def test_second_outcome_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        evaluation = ulid_now()
        await file.claim(claim_of(evaluation))
        assert (await file.finish(outcome_of(evaluation))).number == 1
        with pytest.raises(HostError, match=evaluation):
            await file.finish(outcome_of(evaluation, "failed"))
        assert await numbers(file) == [1]
        assert await file.reserve(1, FAR) == 2


async def test_outcome_of_another_proposal_is_an_error(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        evaluation = ulid_now()
        await file.claim(claim_of(evaluation).__replace__(proposal_hash="1" * 64))
        with pytest.raises(HostError):
            await file.finish(outcome_of(evaluation))


async def test_late_reservation_becomes_a_void_and_its_ack_comes_too_late(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.reserve(1, deadline_ms=999_999)
        await file.reserve(1, deadline_ms=1_000_001)
        assert (await file.sweep()).voids == 1
        (row,) = await file.pending(after=0, sent_before_ms=FAR, limit=10)
        assert (row.number, row.kind, decode(row.body, Void)) == (1, "void", Void())
        assert await file.acknowledged([1, 2]) == {2}


async def test_unused_does_not_touch_a_claimed_verdict(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        used, unused = ulid_now(), ulid_now()
        await file.claim(claim_of(used))
        closing = [(claim_of(name), outcome_of(name, "unused")) for name in (used, unused)]
        assert await file.close_unused(closing) == 1
        (row,) = await file.pending(after=0, sent_before_ms=FAR, limit=10)
        assert decode(row.body, Outcome).evaluation_id == unused
        assert not await file.claim(claim_of(unused))


async def test_rows_go_by_receipt_only(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        for name in "abcd":
            await file.claim(claim_of(name))
            await file.finish(outcome_of(name))
        await file.sent([1, 2, 3, 4])
        assert await numbers(file) == [1, 2, 3, 4]
        assert await numbers(file, sent_before_ms=1_000_000) == []
        await file.receipted(received(1, 3))
        assert await numbers(file) == [2, 4]
        await file.receipted(received(5))
        assert await numbers(file) == [2, 4], "nobody was given number 5"


async def test_new_ledger_gets_everything_again(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        for name in "ab":
            await file.claim(claim_of(name))
            await file.finish(outcome_of(name))
        await file.sent([1, 2])
        assert not await file.receipted(received(1))
        assert not await file.receipted(received(1))
        assert await file.receipted(received(0, epoch=ulid_now()))
        assert await numbers(file, sent_before_ms=1) == [2]


async def test_room_counts_open_claims_and_outstanding_verdicts(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.claim(claim_of("a"))
        await file.claim(claim_of("b"))
        await file.finish(outcome_of("a"))
        room = limits.HOST_OUTBOX_MAX_ROWS
        assert not file.is_full(outstanding=room - 3)
        assert file.is_full(outstanding=room - 2)
        await file.receipted(received(1))
        assert not file.is_full(outstanding=room - 2)


async def test_full_file_takes_some_audits_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HOST_OUTBOX_MAX_ROWS", 1)
    monkeypatch.setattr(host_units, "AUDIT_ROWS", 1)
    async with open_at(tmp_path) as file:
        assert await file.claim(claim_of("a", "audit", "timeout"))
        assert file.is_full()
        with pytest.raises(HostFileFullError):
            await file.reserve(1, FAR)
        assert await file.claim(claim_of("b", "audit", "timeout"))
        with pytest.raises(HostFileFullError):
            await file.claim(claim_of("c", "audit", "timeout"))


def test_message_id_differs_by_number_and_content() -> None:
    ids = {message_id(LEDGER, n, body) for n in (1, 11) for body in (b"1/x", b"/x", b"x")}
    assert len(ids) == 6


steps = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(1, 3)),
        st.tuples(st.sampled_from(["ack", "void", "receipt"]), st.integers(1, 30)),
        st.tuples(
            st.sampled_from(["claim", "finish", "finish_reserving", "unused"]),
            st.sampled_from("abc"),
        ),
        st.tuples(st.just("reopen"), st.none()),
    ),
    max_size=30,
)


class Model:
    """The host file as sets."""

    def __init__(self) -> None:
        self.next = 1
        self.reserved: set[int] = set()
        self.outbox: set[int] = set()
        self.open: set[str] = set()
        self.closed: set[str] = set()
        self.acknowledged = 0

    def post(self) -> None:
        self.outbox.add(self.next)
        self.next += 1

    def die(self) -> None:
        """What the sweep after a clean end of the only owner does."""
        self.outbox |= self.reserved
        self.reserved = set()
        for name in sorted(self.open):
            self.post()
            self.closed.add(name)
        self.open = set()


async def take(model: Model, file: HostFile, step: str, arg: Any) -> None:
    if step == "reserve":
        assert await file.reserve(arg, FAR) == model.next
        model.reserved |= set(range(model.next, model.next + arg))
        model.next += arg
    elif step == "ack":
        kept = await file.acknowledged([arg])
        assert kept == model.reserved & {arg}
        model.reserved -= kept
        model.acknowledged = max([model.acknowledged, *kept])
    elif step == "void":
        assert await file.void([arg]) == len(model.reserved & {arg})
        model.outbox |= model.reserved & {arg}
        model.reserved -= {arg}
    elif step == "receipt":
        await file.receipted(received(arg))
        if arg < model.next:
            model.outbox = {number for number in model.outbox if number > arg}
    else:
        await take_claim(model, file, step, arg)


async def take_claim(model: Model, file: HostFile, step: str, name: str) -> None:
    known = name in model.open | model.closed
    if step == "claim":
        assert await file.claim(claim_of(name)) is not known
        model.open |= set() if known else {name}
    elif step == "unused":
        assert await file.close_unused([(claim_of(name), outcome_of(name))]) == (not known)
        if not known:
            model.closed.add(name)
            model.post()
    elif name in model.open:
        if step == "finish_reserving":
            first, message = await file.finish_reserving(outcome_of(name), 2, FAR)
            assert (first, message.number) == (model.next, model.next + 2)
            model.reserved |= {first, first + 1}
            model.next += 2
        else:
            await file.finish(outcome_of(name))
        model.open.remove(name)
        model.closed.add(name)
        model.post()
    else:
        finish = partial(file.finish_reserving, count=1, deadline_ms=FAR)
        with pytest.raises(HostError):
            await (finish if step == "finish_reserving" else file.finish)(outcome_of(name))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(plan=steps)
async def test_file_equals_its_model(tmp_path: Path, plan: list[tuple[str, Any]]) -> None:
    directory = tmp_path / ulid_now()
    model = Model()
    remaining = list(plan)
    while True:
        async with open_at(directory) as file:
            assert (await file.sweep()).orphans == len(model.open)
            model.die()
            while remaining and remaining[0][0] != "reopen":
                await take(model, file, *remaining.pop(0))
            assert set(await numbers(file)) == model.outbox
            room = limits.HOST_OUTBOX_MAX_ROWS - len(model.outbox) - len(model.open)
            assert file.watermark == model.acknowledged
            assert file.is_full(outstanding=room)
            assert not file.is_full(outstanding=room - 1)
        if not remaining:
            return
        remaining.pop(0)


def owners_of(path: Path) -> list[Path]:
    return list(path.parent.glob("*.owner"))


def child(path: Path, *arguments: str) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("host_file_child.py")
    return subprocess.Popen(
        [sys.executable, str(script), str(path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_share_numbers_and_claims(tmp_path: Path) -> None:
    names = [f"e{index}" for index in range(30)]
    with child(tmp_path / "f", "race", *names) as one, child(tmp_path / "f", "race", *names) as two:
        processes = (one, two)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        results = [json.loads(process.communicate("go\n", timeout=60)[0]) for process in processes]
    firsts = [first for result in results for first in result["firsts"]]
    assert sorted(firsts) == list(range(1, 180, 3))
    assert sorted(name for result in results for name in result["won"]) == sorted(names)
    assert results[0]["epoch"] == results[1]["epoch"]


async def test_killed_owner_is_closed_exactly_once(tmp_path: Path) -> None:
    path, evaluation = tmp_path / "f", ulid_now()
    with child(path, "hold", evaluation) as process:
        assert process.stdout is not None
        number = int(await anyio.to_thread.run_sync(process.stdout.readline))
        async with open_host_file(path) as one, open_host_file(path) as two:
            swept = await one.sweep()
            assert (swept.orphans, swept.voids) == (0, 0), "it still lives"
            process.kill()
            await anyio.to_thread.run_sync(process.wait)
            found = []

            async def sweep(file: HostFile) -> None:
                found.append(await file.sweep())

            async with anyio.create_task_group() as group:
                for file in (one, two, one):
                    group.start_soon(sweep, file)
            assert sum(each.orphans for each in found) == 1
            assert sum(each.voids for each in found) == 1
            rows = await two.pending(after=0, sent_before_ms=FAR, limit=10)
            assert {(row.number, row.kind) for row in rows} == {(number, "void"), (2, "outcome")}
            outcome = decode(rows[1].body, Outcome)
            assert (outcome.status, outcome.evaluation_id) == ("unknown", evaluation)
            with pytest.raises(HostError):
                await one.finish(outcome_of(evaluation))
    assert owners_of(path) == []


class Disk:
    """What a loss of power leaves of a host file: what was there after its last sync."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.left = path.with_name("left")
        self.synced = 0
        run = Writer.run

        async def copied(writer: Writer, unit: Any, *, durable: bool = True) -> Any:
            result = await run(writer, unit, durable=durable)
            if durable and writer._config.path == path:
                self.keep()
            return result

        monkeypatch.setattr(Writer, "run", copied)

    def keep(self) -> None:
        self.synced += 1
        for ending in ("", "-wal"):  # drops SQLite's locks, which nobody else asks for here
            shutil.copy(f"{self.path}{ending}", f"{self.left}{ending}")


async def test_a_loss_of_power_takes_no_number_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path / "f", monkeypatch)
    monkeypatch.setattr(host_file, "boot_id", lambda: "first")
    async with open_host_file(disk.path) as file:
        await file.claim(claim_of(ulid_now()))
        given = [await file.reserve(1, FAR) for _ in range(150)]
        await file.acknowledged(given[:10])
        await file.receipted(received(10))
    assert disk.synced < 10
    monkeypatch.setattr(host_file, "boot_id", lambda: "second")
    async with open_host_file(disk.left) as file:
        assert file.watermark >= given[-1]
        assert (await file.sweep()).orphans == 1
        closed = await numbers(file)
        assert set(given) < set(closed), "what was acknowledged may be closed twice"
        assert closed == [*range(1, len(closed) + 1)]
        assert await file.reserve(1, FAR) == len(closed) + 1
        outcome = (await file.pending(after=len(closed) - 1, sent_before_ms=FAR, limit=1))[0]
        assert decode(outcome.body, Outcome).status == "unknown"


async def test_a_loss_of_power_makes_a_result_unknown_that_nothing_durable_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path / "f", monkeypatch)
    monkeypatch.setattr(host_file, "boot_id", lambda: "first")
    names = (ulid_now(), ulid_now())
    given = 0
    async with open_host_file(disk.path) as file:
        for name in names:  # the second claim takes the first result to the disk with it
            await file.claim(claim_of(name))
            first, result = await file.finish_reserving(outcome_of(name), 1, FAR)
            assert result.number == first + 1
            given = result.number
            await file.acknowledged([first])
    assert disk.synced == 3
    monkeypatch.setattr(host_file, "boot_id", lambda: "second")
    async with open_host_file(disk.left) as file:
        assert (await file.sweep()).orphans == 1
        left = await file.pending(after=0, sent_before_ms=FAR, limit=1000)
        told = [decode(each.body, Outcome) for each in left if each.kind == "outcome"]
        assert [(each.evaluation_id, each.status) for each in told] == [
            (names[0], "succeeded"),
            (names[1], "unknown"),
        ]
        assert left[-1].number > given, "a number that was given is not given again"


@pytest.mark.parametrize("given", [1, 2])
async def test_results_beside_reservations_stay_within_what_was_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: int
) -> None:
    monkeypatch.setattr(host_file, "boot_id", lambda: "first")
    names = [f"e{number}" for number in range(100)]
    path = tmp_path / "f"
    async with open_host_file(path) as file:
        for name in names:
            await file.claim(claim_of(name))
        await file.reserve(given, FAR)
        with closing(sqlite3.connect(path)) as reading:
            for name in names:
                _, last = await file.finish_reserving(outcome_of(name), 1, FAR)
                (promised,) = reading.execute("SELECT promised FROM file").fetchone()
                assert last.number <= promised


async def test_a_new_start_of_the_same_machine_run_closes_nothing(tmp_path: Path) -> None:
    for first in (1, 2):
        async with open_at(tmp_path) as file:
            await file.claim(claim_of(f"a{first}"))
            assert await file.reserve(1, FAR) == first
            assert await file.acknowledged([first]) == {first}
            assert file.watermark == first
            assert await numbers(file) == []


async def test_all_is_on_disk_where_nobody_tells_of_a_new_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path / "f", monkeypatch)
    monkeypatch.setattr(host_file, "boot_id", lambda: None)
    async with open_host_file(disk.path) as file:
        await file.claim(claim_of("a"))
        await file.reserve(2, FAR)
        await file.acknowledged([1, 2])
    async with open_host_file(disk.left) as file:
        assert file.watermark == 2
        assert await numbers(file) == []


async def test_orphaned_inspection_becomes_an_unknown_audit(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        audit = ulid_now()
        await file.claim(claim_of(audit, "audit", "timeout"))
    async with open_at(tmp_path) as file:
        assert (await file.sweep()).orphans == 1
        (row,) = await file.pending(after=0, sent_before_ms=FAR, limit=10)
        receipt = decode(row.body, AuditReceipt)
        assert (receipt.audit_id, receipt.cause, receipt.status) == (audit, "timeout", "unknown")


async def test_only_a_number_without_message_is_lost(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        await file.reserve(3, FAR)
        await file.acknowledged([1, 3])  # the second may still be under way
        await file.claim(claim_of("a"))
        await file.finish(outcome_of("a"))
        assert await file.lost([1, 2, 4, 5]) == 1
        rows = await file.pending(after=0, sent_before_ms=FAR, limit=10)
        assert [(row.number, row.kind) for row in rows] == [(1, "void"), (4, "outcome")]
        assert decode(rows[0].body, Void).lost
        assert await file.lost([1]) == 0
        await file.receipted(received(1))
        assert await numbers(file) == [4]


async def test_alone_until_another_process_opens_the_file(tmp_path: Path) -> None:
    async with open_at(tmp_path) as file:
        assert file.is_alone()
        async with open_at(tmp_path) as other:
            assert not file.is_alone()
            assert not other.is_alone()
        assert file.is_alone()


async def test_a_mark_that_does_not_fit_on_the_disk_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mapped over a hole instead, the first write to it would kill the process."""

    def full(descriptor: int, data: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(LedgerError, match="No space left on device"):
        async with open_host_file(tmp_path / "s.a.sqlite"):
            pass
