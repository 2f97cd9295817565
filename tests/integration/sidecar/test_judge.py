from typing import Any

import msgspec
import pytest

from pmcl.contracts import LedgerError
from pmcl.hosts import Host
from pmcl.judgement import Inputs, Judgement, judge
from pmcl.ops.console import console
from pmcl.ops.judge import judge_again, show_judgement
from tests.integration.sidecar.room import Room, proposal

pytestmark = pytest.mark.anyio


async def _evaluated(room: Room, tool: str = "write_file") -> str:
    async with Host.connect(room.config()) as host:
        verdict = await host.check(proposal(tool, goal="tidy the notes"))
    assert verdict.evaluation is not None
    return verdict.evaluation.evaluation_id


async def test_a_stored_evaluation_judged_again_is_the_same(room: Room) -> None:
    evaluation_id = await _evaluated(room)

    report = await judge_again(room.settings, evaluation_id)

    assert report["same"]
    assert report["differences"] == []
    assert report["evaluation"]["evaluation_id"] == evaluation_id
    assert report["evaluation"]["checkpoint_status"] == "held"
    assert report["request"]["goal"] == "tidy the notes"


async def test_without_an_id_the_newest_is_judged(room: Room) -> None:
    evaluation_id = await _evaluated(room)

    report = await judge_again(room.settings, None)

    assert report["evaluation"]["evaluation_id"] == evaluation_id


async def test_a_rule_that_changed_is_told_field_by_field(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stricter(inputs: Inputs) -> Judgement:
        judgement = judge(inputs)
        changed = msgspec.structs.replace(judgement.evaluation, reasons=("plan.stricter",))
        return msgspec.structs.replace(judgement, evaluation=changed)

    evaluation_id = await _evaluated(room)
    monkeypatch.setattr("pmcl.ops.judge.judge", stricter)

    report = await judge_again(room.settings, evaluation_id)

    assert not report["same"]
    (stored,) = report["evaluation"]["reasons"]
    assert report["differences"] == [
        {"field": "$.reasons[0]", "stored": stored, "again": "plan.stricter"}
    ]


async def test_an_unknown_evaluation_is_named(room: Room) -> None:
    with pytest.raises(LedgerError, match="01ARZ3NDEKTSV4RRFFQ69G5FAV"):
        await judge_again(room.settings, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


async def test_what_does_not_print_is_escaped(room: Room) -> None:
    report = await judge_again(room.settings, await _evaluated(room))
    report["request"]["goal"] = "\u202eevil\x1b[2J"
    report["request"]["tool"]["name"] = "a\x00b\x1b[2J"

    with console.capture() as printed:
        show_judgement(report)

    text = printed.get()
    assert "\\u202eevil\\x1b[2J" in text
    assert {"\u202e", "\x00", "\x1b"}.isdisjoint(text)


async def test_the_explanation_names_every_check_and_says_what_is_missing(room: Room) -> None:
    report: dict[str, Any] = await judge_again(room.settings, await _evaluated(room))

    with console.capture() as printed:
        show_judgement(report)

    text = " ".join(printed.get().split())
    for expected in ("verdict held", "state: goal fresh", "plan: mitigated false", "missing"):
        assert expected in text
    assert "the same, field for field" in text
