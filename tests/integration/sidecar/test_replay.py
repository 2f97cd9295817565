"""A part of INTAKE is handed to its workers again; what was done before changes no row."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import anyio
import pytest

from pmcl.bus import INTAKE
from pmcl.bus.jetstream import call
from pmcl.contracts import ContractError, EvidenceRecorded, Refused, Selection, headers
from pmcl.ops.console import console
from pmcl.ops.stream_replay import ReplayReport, Stretch, replay, show_replay
from pmcl.ops.subject_filter import selection_of
from pmcl.workers import Incoming, ObserveWorker
from tests.integration.hosts.sidecar import until
from tests.integration.sidecar.plain import PlainHost
from tests.integration.sidecar.room import Room

pytestmark = pytest.mark.anyio


@pytest.fixture
async def held_back(room: Room) -> AsyncIterator[None]:
    """What INTAKE takes meanwhile is delivered to nobody."""
    durable = f"CONSUMER.PAUSE.{INTAKE}.observe"
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    await call(room.admin, durable, {"pause_until": until})
    yield
    await call(room.admin, durable, {})


async def observed(plain: PlainHost, count: int, **changes: Any) -> list[int]:
    """The sequences of so many new observations."""
    acks = [await plain.tell("observation", plain.observation(**changes)) for _ in range(count)]
    return [ack["seq"] for ack in acks]


_YEAR_1_MS = -62_135_596_800_000
_YEAR_9999_MS = 253_370_764_800_000
"""Both are out of what the server can count in nanoseconds."""


def of(plain: PlainHost, **bounds: Any) -> Stretch:
    return Stretch(selection=Selection(scope=plain.scope), **bounds)


async def replayed(room: Room, stretch: Stretch, *, dry_run: bool = False) -> ReplayReport:
    report = ReplayReport(dry_run=dry_run)
    await replay(room.settings, stretch, report)
    assert report.is_through
    return report


async def test_what_was_done_is_a_repeat(room: Room, plain: PlainHost) -> None:
    await observed(plain, 30)
    await plain.tell("observation", b"{}")
    await room.event(plain.scope, Refused)
    await room.event(plain.scope, EvidenceRecorded, 30)
    before = await room.counts()
    report = await replayed(room, of(plain))
    assert (report.messages, report.repeats, report.done) == (31, 31, 0)
    assert (report.refused, report.left) == ({}, {})
    assert await room.counts() == before
    with console.capture() as printed:
        show_replay(report)
    assert "0 were recorded, 31 had been before" in printed.get()


async def test_a_subject_names_what_is_meant(room: Room, plain: PlainHost) -> None:
    await observed(plain, 3)
    await room.event(plain.scope, EvidenceRecorded, 3)
    meant = selection_of(f"pmcl.v1.observation.{plain.scope}.>")
    assert (await replayed(room, Stretch(selection=meant))).repeats == 3
    other = selection_of(f"pmcl.v1.outcome.{plain.scope}.>")
    assert (await replayed(room, Stretch(selection=other))).messages == 0


async def test_everything_in_intake_is_a_repeat(room: Room) -> None:
    before = await room.counts()
    report = await replayed(room, Stretch())
    assert report.messages == (await room.stream(INTAKE)).messages
    assert report.repeats == report.messages
    assert await room.counts() == before


@pytest.mark.usefixtures("held_back")
async def test_what_no_worker_has_seen_is_rehearsed_and_then_recorded(
    room: Room, plain: PlainHost
) -> None:
    await observed(plain, 3)
    await plain.tell("observation", b"{}")
    await plain.tell("observation", b"{}", **{headers.NUMBER: ""})
    before = await room.counts(plain.scope)
    dry = await replayed(room, of(plain), dry_run=True)
    assert (dry.done, dry.repeats, dry.refused) == (3, 0, {"malformed": 1, "unknown_schema": 1})
    assert await room.counts(plain.scope) == before
    real = await replayed(room, of(plain))
    assert (real.done, real.repeats, real.refused) == (3, 0, {"malformed": 1, "unknown_schema": 1})
    assert len(await room.events(plain.scope, EvidenceRecorded)) == 3
    assert len(await room.events(plain.scope, Refused)) == 2
    after = await room.counts(plain.scope)
    for dry_run in (True, False):
        again = await replayed(room, of(plain), dry_run=dry_run)
        assert (again.done, again.repeats, again.refused) == (0, 5, {})
    assert await room.counts(plain.scope) == after


@pytest.mark.usefixtures("held_back")
async def test_one_that_fails_stays_and_keeps_no_other(
    room: Room, plain: PlainHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    await observed(plain, 1, source="poison")
    await observed(plain, 2)
    prepare = ObserveWorker.prepare

    async def poisoned(worker: ObserveWorker, incoming: Incoming) -> Any:
        if incoming.body.source == "poison":
            raise ZeroDivisionError
        return await prepare(worker, incoming)

    with monkeypatch.context() as patched:
        patched.setattr(ObserveWorker, "prepare", poisoned)
        report = await replayed(room, of(plain))
    assert (report.done, report.left) == (2, {"ZeroDivisionError": 1})
    with console.capture() as printed:
        show_replay(report)
    assert "1 failed, and stay: ZeroDivisionError" in printed.get()
    cured = await replayed(room, of(plain))
    assert (cured.done, cured.repeats, cured.left) == (1, 2, {})


async def test_sequence_time_host_and_worker_bound_it(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    first = await observed(plain, 5)
    await observed(neighbour, 2)
    between_ms = await stored_ms(room, (await observed(plain, 4))[0])
    await room.event(plain.scope, EvidenceRecorded, 9)
    assert (await replayed(room, of(plain, first=first[1], last=first[3]))).messages == 3
    early = await replayed(room, of(plain, until_ms=between_ms))
    late = await replayed(room, of(plain, since_ms=between_ms))
    assert (early.messages, late.messages) == (5, 4)
    assert early.last < late.first
    for selection, found in (
        (Selection(scope=plain.scope, host=plain.host, worker="observe"), 9),
        (Selection(scope=plain.scope, worker="outcome"), 0),
        (Selection(scope=plain.scope, host="nobody"), 0),
        (Selection(scope=neighbour.scope), 2),
    ):
        report = await replayed(room, Stretch(selection=selection))
        assert (report.messages, report.repeats) == (found, found)
    for far_ms, side, messages in (
        (_YEAR_9999_MS, "since_ms", 0),
        (_YEAR_9999_MS, "until_ms", 9),
        (_YEAR_1_MS, "since_ms", 9),
        (_YEAR_1_MS, "until_ms", 0),
    ):
        report = await replayed(room, of(plain, **{side: far_ms}))
        assert report.messages == messages, (far_ms, side)
    with pytest.raises(ContractError, match="observe, outcome"):
        await replayed(room, Stretch(selection=Selection(worker="relay")))


async def stored_ms(room: Room, sequence: int) -> int:
    """When INTAKE stored a message, rounded up: what came before is earlier."""
    found = await call(room.admin, f"STREAM.MSG.GET.{INTAKE}", {"seq": sequence})
    stored = datetime.fromisoformat(found["message"]["time"][:23] + "+00:00")
    return int(stored.timestamp() * 1000)


async def test_one_that_is_broken_off_goes_on_where_it_stood(room: Room, plain: PlainHost) -> None:
    await observed(plain, 20)
    await room.event(plain.scope, EvidenceRecorded, 20)
    report = ReplayReport()

    async def begun() -> bool:
        return report.repeats > 0

    async with anyio.create_task_group() as tasks:
        slowly = partial(replay, per_second=1 / 600)  # the next page is due in ten minutes
        tasks.start_soon(slowly, room.settings, of(plain), report)
        await until(begun)
        tasks.cancel_scope.cancel()
    assert (report.repeats, report.is_through) == (1, False)
    with console.capture() as printed:
        show_replay(report)
    assert f"--from {report.next} --to {report.last} goes on" in printed.get()
    rest = await replayed(room, of(plain, first=report.next, last=report.last))
    assert (rest.messages, rest.repeats) == (19, 19)


async def test_two_at_once_share_the_turns(room: Room, plain: PlainHost) -> None:
    await observed(plain, 40)
    await room.event(plain.scope, EvidenceRecorded, 40)
    reports = [ReplayReport() for _ in range(2)]  # a third one might be told that it is busy
    async with anyio.create_task_group() as tasks:
        for report in reports:
            tasks.start_soon(replay, room.settings, of(plain), report)
    assert [report.repeats for report in reports] == [40, 40]
