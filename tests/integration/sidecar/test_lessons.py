"""An operator sees which actions have verified runs, and which lessons are mature."""

from typing import Any

import pytest

from pmcl.contracts import ExpectedReceipt, LessonSupported, Premortem, Receipt, Resource, sha256
from pmcl.hosts import Host
from pmcl.ops.console import console
from pmcl.ops.lessons import LessonView, list_lessons, show_lessons
from tests.integration.sidecar.room import Room, proposal

pytestmark = pytest.mark.anyio

ODD = Resource(kind="path", value="/project/\x1b[2J.txt", argument="path")


async def _run(host: Host, text: str) -> None:
    seen = await host.observe(source="ls", summary="there", resources=(ODD,))
    looked = Premortem(
        failure_mode="wrong_target", likelihood=0.1, mitigation="looked", evidence_ids=(seen,)
    )
    expected = ExpectedReceipt(kind="file")
    asked = proposal("write_file", resources=(ODD,), premortem=looked, expected_receipt=expected)
    verdict = await host.check(asked)
    assert verdict.status == "passed", verdict.reasons
    async with host.dispatch(verdict, asked) as dispatched:
        dispatched.succeeded(Receipt(kind="file", digest=sha256(text.encode())))
    await host.observe(source="cat", summary="as written", detail=text)


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
