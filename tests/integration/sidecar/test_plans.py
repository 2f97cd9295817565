"""A plan and a recommendation, from the host's client to the ledger and back."""

import pytest

from pmcl.contracts import OutcomeLinked, PlanStep, Tool
from pmcl.hosts import DispatchRefusedError, Host, Proposal
from tests.integration.sidecar.room import Room, proposal
from tests.unit.workers.desk import NOTES

pytestmark = pytest.mark.anyio


def step(name: str) -> PlanStep:
    tool = Tool(server="files", name=name, definition_hash="d" * 64)
    return PlanStep(tool=tool, arguments={"path": NOTES.value}, resources=(NOTES,))


async def test_a_plan_is_checked_and_never_dispatched(room: Room) -> None:
    config = room.config()
    asked = Proposal.plan("tidy the notes", [step("read_file"), step("write_file")])
    async with Host.connect(config) as host:
        verdict = await host.check(asked)
        assert verdict.status == "passed"
        with pytest.raises(DispatchRefusedError, match="not_a_call"):
            async with host.dispatch(verdict, asked):
                pytest.fail("a plan ran")
        call = proposal("write_file", plan_call_id=asked.call_id)
        assert (await host.check(call)).reasons == ("plan.unmitigated",)
    rows = await room.rows("SELECT open FROM evaluations WHERE call_id = :call", call=asked.call_id)
    assert [row["open"] for row in rows] == [0]
    assert await room.events(config.credentials.scope, OutcomeLinked) == []


async def test_a_held_plan_holds_its_calls(room: Room) -> None:
    asked = Proposal.plan("start anew", [step("read_file"), step("format_disk")])
    async with Host.connect(room.config()) as host:
        held = await host.check(asked)
        assert held.reasons == ("authority.tool_prohibited@$.steps[1]",)
        call = await host.check(proposal(plan_call_id=asked.call_id))
    assert (call.status, call.reasons) == ("held", ("plan.held",))
    assert call.revision_request is not None


async def test_a_recommendation_is_a_text_that_passes(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        asked = Proposal.recommendation("help", "read the notes before you write them")
        verdict = await host.check(asked)
        assert verdict.status == "passed"
        with pytest.raises(DispatchRefusedError, match="not_a_call"):
            async with host.dispatch(verdict, asked):
                pytest.fail("a text ran")
