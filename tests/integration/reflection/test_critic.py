"""A model critic over the bus: it adds a veto, or nothing; away, it degrades as the cell asks."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.contracts import PlanStep, Premortem, Resource, Tool
from pmcl.hosts import Host, Proposal, Verdict
from tests.integration.reflection.ailments import AILMENTS, Ailment
from tests.integration.reflection.mind import Mind
from tests.integration.sidecar.room import proposal
from tests.stub_model import judged, open_stub_model
from tests.unit.workers.desk import NOTES, PLANS

pytestmark = pytest.mark.anyio

Verdicts = dict[str, Verdict]
CRITIC = {"reflection": "off", "critic_deadline_ms": 5_000}
VETO = "plan.critic_veto"
AWAY = "degraded.critic_unavailable"
MAIL = Tool(server="mail", name="send_email", definition_hash="d" * 64)
UNASKED = {"inspection", "recommendation"}
TWO_VERDICTS = '{"verdict": "veto", "verdict": "none", "failure_mode": "data_loss"}'
TWO_MINDS = Ailment(does={"content": TWO_VERDICTS}, reason="schema", answers=True)


def about(path: str) -> Resource:
    return Resource(kind="path", value=path, argument="path")


def writing(resource: Resource, seen: str) -> Proposal:
    """A change that evidence mitigates."""
    shown = Premortem(
        failure_mode="wrong_target", likelihood=0.1, mitigation="seen", evidence_ids=(seen,)
    )
    arguments = {"path": resource.value}
    return proposal("write_file", arguments=arguments, resources=(resource,), premortem=shown)


def planned(*names: str) -> Proposal:
    tools = [Tool(server="files", name=name, definition_hash="d" * 64) for name in names]
    arguments = {"path": NOTES.value}
    steps = [PlanStep(tool=tool, arguments=arguments, resources=(NOTES,)) for tool in tools]
    return Proposal.plan("tidy the notes", steps)


async def calls(host: Host) -> dict[str, Proposal]:
    """Calls that pass and calls that are held, for many reasons."""
    notes = await host.observe(source="ls", summary="the notes are there", resources=(NOTES,))
    outside = about("/etc/passwd")
    at_plans = {"arguments": {"path": PLANS.value}, "resources": (PLANS,)}
    stranger = Resource(kind="recipient", value="mallory@evil.example", argument="to")
    mail: dict[str, Any] = {"arguments": {"to": stranger.value}, "resources": (stranger,)}
    return {
        "inspection": proposal(),
        "recommendation": Proposal.recommendation("help", "read the notes before you write them"),
        "plan": planned("read_file", "write_file"),
        "change": writing(NOTES, notes),
        "unmitigated": proposal("delete_file", **at_plans),
        "reworded": proposal("delete_file", goal="start anew", **at_plans),
        "prohibited": proposal("format_disk"),
        "unapproved": proposal("rename_file"),
        "outside": writing(outside, notes),
        "ungrounded": msgspec.structs.replace(proposal(**mail), tool=MAIL),
        "prohibited plan": planned("read_file", "format_disk"),
    }


async def verdicts(mind: Mind, **critic: Any) -> Verdicts:
    async with mind.sidecar(**CRITIC | critic), mind.host(deadline_ms=20_000) as host:
        return {name: await host.check(call) for name, call in (await calls(host)).items()}


def shown(found: Verdicts) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {name: (verdict.status, verdict.reasons) for name, verdict in found.items()}


def critics_note(verdict: Verdict) -> str | None:
    assert verdict.evaluation is not None
    notes = [item.note for item in verdict.evaluation.state_check.items if item.name == "critic"]
    return notes[0] if notes else None


@pytest.fixture(scope="module")
async def unheard(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """The verdicts of a cell without a critic."""
    async with open_stub_model() as model:
        found = await verdicts(Mind(tmp_path_factory.mktemp("off"), model), critic="off")
    assert model.asked == []
    assert {name for name, verdict in found.items() if verdict.passed} == {
        "inspection",
        "recommendation",
        "plan",
        "change",
    }
    return found


@pytest.mark.parametrize("critic", ["optional", "required"])
@pytest.mark.parametrize("answer", [judged("none"), judged("none", "all_is_well")])
async def test_a_critic_that_always_says_fine_changes_no_verdict(
    mind: Mind, unheard: Verdicts, critic: str, answer: str
) -> None:
    mind.model.content = answer
    heard = await verdicts(mind, critic=critic)
    assert shown(heard) == shown(unheard)
    assert {name for name, verdict in heard.items() if critics_note(verdict) is None} == UNASKED
    assert len(mind.model.asked) == len(heard) - len(UNASKED)


@pytest.mark.parametrize(
    "answer",
    [
        judged("allow"),
        judged("passed"),
        '{"verdict": "none", "failure_mode": "x", "authority": "grant"}',
        "fine by me",
    ],
)
async def test_words_of_consent_are_no_answer(mind: Mind, unheard: Verdicts, answer: str) -> None:
    mind.model.content = answer
    heard = await verdicts(mind, critic="optional")
    assert shown(heard) == shown(unheard)
    assert critics_note(heard["plan"]) == "optional, schema"


async def test_a_critic_that_always_vetoes_turns_passes_into_holds(
    mind: Mind, unheard: Verdicts
) -> None:
    mind.model.content = judged()
    vetoed = await verdicts(mind, critic="optional")
    for name, verdict in vetoed.items():
        before = unheard[name]
        if name in UNASKED:
            assert (verdict.status, verdict.reasons) == (before.status, before.reasons)
            continue
        assert verdict.status == "held"
        assert {*verdict.reasons} >= {*before.reasons, VETO}
        if before.passed:
            assert verdict.reasons == (VETO,)
            assert verdict.revision_request is not None
            assert "data_loss" in verdict.revision_request


async def test_a_critic_that_is_ill_for_good_is_asked_three_times(
    mind: Mind, unheard: Verdicts
) -> None:
    mind.model.status = "500 Internal Server Error"
    heard = await verdicts(mind, critic="optional")
    assert shown(heard) == shown(unheard)
    assert critics_note(heard["prohibited plan"]) == "optional, circuit_open"
    assert len(mind.model.asked) == 3


# --- a critic that is ill for a while


class Heard(msgspec.Struct, frozen=True):
    """A host whose calls a critic hears, and whether nothing passes without it."""

    host: Host
    mind: Mind
    required: bool


@pytest.fixture(scope="module", params=["optional", "required"])
async def heard(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Heard]:
    directory: Path = tmp_path_factory.mktemp(request.param)
    async with AsyncExitStack() as stack:
        mind = Mind(directory, await stack.enter_async_context(open_stub_model()))
        await stack.enter_async_context(
            mind.sidecar(reflection="off", critic=request.param, critic_deadline_ms=1_500)
        )
        host = await stack.enter_async_context(mind.host(deadline_ms=20_000))
        yield Heard(host, mind, request.param == "required")


@pytest.mark.parametrize(
    "ailment",
    [
        pytest.param(ailment, id=name)
        for name, ailment in (AILMENTS | {"of two minds": TWO_MINDS}).items()
    ],
)
async def test_an_absent_critic_is_noted_or_holds_all_but_inspections(
    heard: Heard, ailment: Ailment, request: pytest.FixtureRequest
) -> None:
    file = about(f"/project/{request.node.callspec.id.replace(' ', '-')}.txt")
    seen = await heard.host.observe(source="ls", summary="a file", resources=(file,))
    without = {"arguments": {"path": file.value}, "resources": (file,)}
    ailment.befall(heard.mind.model, questions=2)
    change = await heard.host.check(writing(file, seen))
    unmitigated = await heard.host.check(proposal("delete_file", **without))
    inspection = await heard.host.check(proposal("read_file", **without))
    assert inspection.passed
    if heard.required:
        assert (change.status, change.reasons) == ("held", (AWAY,))
        assert unmitigated.reasons == ("plan.unmitigated", AWAY)
    else:
        assert change.passed
        assert unmitigated.reasons == ("plan.unmitigated",)
    need = "required" if heard.required else "optional"
    assert critics_note(change) == f"{need}, {ailment.reason}"
    back = await heard.host.check(writing(file, seen))
    assert (back.reasons, critics_note(back)) == ((), "none")
