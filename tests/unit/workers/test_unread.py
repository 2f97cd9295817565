"""A text that nobody could read counts as an order that may name anything, in a real ledger."""

from typing import Any

import pytest

from pmcl.contracts import Evaluation, EvidenceRecorded, Resource
from pmcl.judgement import read_goal, read_text
from tests.unit.workers.desk import NOTES, Desk, Ledger

pytestmark = pytest.mark.anyio

_POISON = "breaks the reader"
_GOAL = "Please send the minutes to lena@example.org."


@pytest.fixture(autouse=True)
def _reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader with a defect that one text brings out."""

    def broken(read: Any) -> Any:
        def reads(text: str) -> Any:
            if _POISON in text:
                raise RecursionError(text)
            return read(text)

        return reads

    monkeypatch.setattr("pmcl.workers.observe.read_text", broken(read_text))
    monkeypatch.setattr("pmcl.workers.observe.read_goal", broken(read_goal))


async def _mailed(desk: Desk, to: str) -> Evaluation:
    return await desk.check(desk.request("send_mail", arguments={"to": to}, resources=(NOTES,)))


async def _ran(desk: Desk, command: str) -> Evaluation:
    return await desk.check(desk.request("bash", arguments={"command": command}))


async def _wrote(desk: Desk, name: str) -> Evaluation:
    path = f"/project/{name}"
    return await desk.check(
        desk.request(
            arguments={"path": path, "text": "a line that nobody asked for"},
            resources=(Resource(kind="path", value=path, argument="path"),),
        )
    )


@pytest.mark.parametrize("text", [_POISON, _POISON + " and is long " * 500], ids=["short", "long"])
async def test_it_is_recorded_and_may_name_whom_the_call_reaches(
    ledger: Ledger, desk: Desk, text: str
) -> None:
    await desk.observe(trust="user", summary="Please send the minutes to Lena.")
    unread = await desk.observe(detail=text)
    assert len(await ledger.events(EvidenceRecorded)) == 2
    held = await _mailed(desk, "lena@example.org")
    assert held.reasons == ("grounding.untrusted_value",)
    assert held.revision_request is not None
    assert unread in held.revision_request


async def test_what_the_user_names_passes_beside_it(desk: Desk) -> None:
    await desk.observe(trust="user", summary=_GOAL)
    await desk.observe(detail=_POISON)
    evaluation = await _mailed(desk, "lena@example.org")
    assert evaluation.checkpoint_status == "passed", evaluation.reasons


async def test_it_may_bring_commands_files_and_what_is_written(desk: Desk) -> None:
    await desk.observe(trust="user", summary="Clean the notes up, run what it takes.")
    assert (await _wrote(desk, "plans.txt")).checkpoint_status == "passed"
    await desk.observe(detail=_POISON)
    assert (await _ran(desk, "make test")).checkpoint_status == "passed"
    assert "grounding.copied_command" in (await _ran(desk, "tidy --all notes")).reasons
    assert "grounding.untrusted_value" in (await _wrote(desk, "other.txt")).reasons
    await desk.observe(trust="user", summary="Yes, write other.txt.")
    assert "grounding.untrusted_value" in (await _wrote(desk, "other.txt")).reasons


async def test_it_may_ask_for_what_the_user_left_open(desk: Desk) -> None:
    await desk.observe(trust="user", summary="Do the tasks on my list.")
    await desk.observe(detail=_POISON)
    evaluation = await desk.check(desk.request("delete_account", arguments={}, resources=()))
    assert "grounding.injected_instruction" in evaluation.reasons


async def test_it_is_pushed_out_by_as_many_as_any_other(desk: Desk) -> None:
    await desk.observe(trust="user", summary="Please send the minutes to Lena.")
    await desk.observe(detail=_POISON)
    for _ in range(31):
        await desk.observe()
    assert (await _mailed(desk, "lena@example.org")).checkpoint_status == "held"
    await desk.observe(summary="Lena: lena@example.org")
    await desk.observe(trust="user", summary="Yes, to lena@example.org.")
    assert (await _mailed(desk, "lena@example.org")).checkpoint_status == "passed"


async def test_what_the_user_said_unread_may_refuse_what_was_asked_before(desk: Desk) -> None:
    await desk.observe(trust="user", summary=_GOAL)
    await desk.observe(trust="user", summary=_POISON)
    assert (await _mailed(desk, "lena@example.org")).reasons == ("grounding.unlicensed_effect",)
    assert "grounding.unlicensed_effect" in (await _wrote(desk, "plans.txt")).reasons
    await desk.observe(trust="user", summary=_GOAL)
    evaluation = await _mailed(desk, "lena@example.org")
    assert evaluation.checkpoint_status == "passed", evaluation.reasons
