"""An operator sees which actions have verified runs, and which lessons are mature."""

from typing import Any

import anyio
import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    ExpectedReceipt,
    LessonDemoted,
    LessonSupported,
    OutcomeLinked,
    Premortem,
    Receipt,
    Resource,
    TrustLabel,
    sha256,
)
from pmcl.hosts import Host, Proposal, Verdict
from pmcl.ops.console import console
from pmcl.ops.lessons import LessonView, list_lessons, show_lessons
from pmcl.ops.record.erase import ask_erasure, wait_erasure
from tests.integration.sidecar.plain import open_plain
from tests.integration.sidecar.room import WITHIN_S, Room, proposal

pytestmark = pytest.mark.anyio

ODD = Resource(kind="path", value="/project/\x1b[2J.txt", argument="path")


async def _ask(host: Host, **changes: Any) -> tuple[Verdict, Proposal]:
    """Propose the one action that is learned here, with fresh evidence about its target."""
    seen = await host.observe(source="ls", summary="there", resources=(ODD,))
    looked = Premortem(
        failure_mode="wrong_target", likelihood=0.1, mitigation="looked", evidence_ids=(seen,)
    )
    fields: dict[str, Any] = {"premortem": looked, "expected_receipt": ExpectedReceipt(kind="file")}
    asked = proposal("write_file", resources=(ODD,), **fields | changes)
    verdict = await host.check(asked)
    assert verdict.status == "passed", verdict.reasons
    return verdict, asked


async def _run(
    host: Host, text: str, end: str = "succeeded", trust: TrustLabel = "tool_output", **changes: Any
) -> None:
    """Run it to an end of some kind; what it left behind is observed."""
    verdict, asked = await _ask(host, **changes)
    async with host.dispatch(verdict, asked) as dispatched:
        match end:
            case "succeeded":
                dispatched.succeeded(Receipt(kind="file", digest=sha256(text.encode())))
            case "no receipt":
                dispatched.succeeded()
            case "failed":
                dispatched.failed("disk_full")
            case "cancelled":
                dispatched.cancelled()
            case _:
                dispatched.unknown()
    await host.observe(source="cat", summary="as written", detail=text, trust=trust)


async def _listed(room: Room, scope: str, runs: int, **wanted: Any) -> LessonView:
    await room.event(scope, LessonSupported, runs)
    (lesson,) = (await list_lessons(room.settings, scope=scope, **wanted))["lessons"]
    assert isinstance(lesson, LessonView)
    assert len(lesson.runs) == runs
    return lesson


async def test_a_lesson_is_listed_with_its_runs_until_it_is_mature(room: Room) -> None:
    config = room.config()
    scope = config.credentials.scope
    nothing = await list_lessons(room.settings, scope=scope)
    assert nothing == {"lessons": [], "more": False}
    with console.capture() as printed:
        show_lessons(nothing)
    assert printed.get() == "No verified run has taught anything yet.\n"
    async with Host.connect(config) as host:
        for number in range(2):
            await _run(host, f"version {number}")
        lesson = await _listed(room, scope, 2, state="gathering")
        assert (lesson.server, lesson.tool, lesson.effect) == ("files", "write_file", "mutation")
        assert lesson.resources == (ODD,)
        await _run(host, "version 2")
        lesson = await _listed(room, scope, 3, state="mature")
        assert len({run.evidence_id for run in lesson.runs}) == 3
    with console.capture() as printed:
        show_lessons(await list_lessons(room.settings, scope=scope))
    assert "3 of 3" in printed.get()
    assert "\x1b" not in printed.get()


async def _lesson(room: Room, scope: str) -> dict[str, Any]:
    (row,) = await room.rows("SELECT state, reason, runs FROM lessons WHERE scope = :s", s=scope)
    return row


async def test_no_copy_of_a_run_and_no_run_of_another_kind_counts(room: Room) -> None:
    config = room.config()
    scope = config.credentials.scope
    async with Host.connect(config) as host:
        await _run(host, "the same")
        await room.event(scope, LessonSupported)
        (linked,) = await room.events(scope, OutcomeLinked)
        async with open_plain(config.credentials) as again:
            seen = again.observation(generation=host.generation, detail="the same")
            for number in range(100):
                fresh = number % 2 == 1
                outcome = linked.outcome
                if fresh:
                    outcome = msgspec.structs.replace(outcome, outcome_id=ulid_now())
                    seen = msgspec.structs.replace(seen, key=ulid_now(), evidence_id=ulid_now())
                await again.tell("outcome", outcome)
                await again.tell("observation", seen)
            await _through(room, scope, again.epoch, 200)
        others: tuple[tuple[str, dict[str, Any]], ...] = (
            ("no receipt", {}),
            ("cancelled", {}),
            ("unknown", {}),
            ("succeeded", {"trust": "model"}),
            ("succeeded", {"expected_receipt": None}),
            ("succeeded", {"expected_receipt": ExpectedReceipt(kind="row")}),
        )
        for number, (end, changes) in enumerate(others):
            await _run(host, f"unlike {number}", end, **changes)
        await room.event(scope, OutcomeLinked, 1 + len(others))
        assert (await host.check(proposal())).passed, "all that was observed is in the ledger"
        assert (await _lesson(room, scope)) == {"state": "gathering", "reason": None, "runs": 1}


async def _through(room: Room, scope: str, epoch: str, number: int) -> None:
    """Return once the ledger has all that was sent up to this number."""
    has = (
        "SELECT through FROM inbox_watermarks WHERE scope = :scope AND epoch = :epoch"
        " AND through >= :number"
    )
    with anyio.fail_after(WITHIN_S):
        while not await room.rows(has, scope=scope, epoch=epoch, number=number):  # noqa: ASYNC110
            await anyio.sleep(0.005)


async def test_a_failed_run_demotes_what_was_mature(room: Room) -> None:
    config = room.config()
    scope = config.credentials.scope
    async with Host.connect(config) as host:
        for number in range(3):
            await _run(host, f"version {number}")
        await _listed(room, scope, 3, state="mature")
        await _run(host, "torn", "failed")
        demoted = await room.event(scope, LessonDemoted)
        assert demoted.reason == "failed_run"
        assert await _lesson(room, scope) == {"state": "demoted", "reason": "failed_run", "runs": 0}
        await _run(host, "version 3")
        await room.event(scope, LessonSupported, 4)
        assert (await _lesson(room, scope))["state"] == "gathering"


async def test_a_lesson_whose_evidence_is_erased_is_demoted(room: Room) -> None:
    config = room.config()
    scope = config.credentials.scope
    async with Host.connect(config) as host:
        for number in range(3):
            await _run(host, f"version {number}")
        lesson = await _listed(room, scope, 3, state="mature")
        lost = lesson.runs[0].evidence_id
        erasure = await ask_erasure(room.settings, scope, None, (lost,), dry_run=False)
        await wait_erasure(room.settings, erasure)
        demoted = await room.event(scope, LessonDemoted)
        assert (demoted.reason, demoted.by) == ("lost_support", lost)
        demoted_to = {"state": "demoted", "reason": "lost_support", "runs": 2}
        assert await _lesson(room, scope) == demoted_to
        await _run(host, "version 3")
        await room.event(scope, LessonSupported, 4)
        assert (await _lesson(room, scope))["state"] == "mature"
