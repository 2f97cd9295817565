"""Plans and recommendations through the real workers and a real ledger."""

from typing import Any

import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    PLAN_TOOL,
    RECOMMENDATION_TOOL,
    CallIdConflictError,
    CheckpointRequest,
    ContractError,
    Evaluated,
    ExpectedReceipt,
    HashMismatchError,
    OutcomeListed,
    PlanStep,
    Resource,
    Tool,
    TooLargeError,
    ToolDefinition,
    UnknownEvidenceError,
    UnknownPlanError,
    limits,
    proposal_hash,
)
from pmcl.judgement import EffectRules, ToolRule
from pmcl.workers import CheckpointWorker
from tests.unit.workers.desk import NOTES, PLANS, Desk, Ledger, premortem

pytestmark = pytest.mark.anyio

_SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def step(tool: str = "read_file", **fields: Any) -> PlanStep:
    return PlanStep(tool=Tool(server="files", name=tool, definition_hash="d" * 64), **fields)


WRITE = step("write_file", arguments={"path": NOTES.value}, resources=(NOTES,))


def plan(desk: Desk, *steps: PlanStep, **changes: Any) -> CheckpointRequest:
    return _whole(
        desk, {"kind": "plan", "tool": PLAN_TOOL, "arguments": {}, "steps": steps} | changes
    )


def text(desk: Desk, said: str = "look at the notes first", **changes: Any) -> CheckpointRequest:
    fields = {"kind": "recommendation", "tool": RECOMMENDATION_TOOL, "arguments": {"text": said}}
    return _whole(desk, fields | changes)


def _whole(desk: Desk, fields: dict[str, Any]) -> CheckpointRequest:
    request = msgspec.structs.replace(desk.request("any", resources=()), **fields)
    hashed = proposal_hash(desk.scope, desk.host, request)
    return msgspec.structs.replace(request, proposal_hash=hashed)


async def test_a_passed_plan_owes_no_outcome_and_covers_no_call(ledger: Ledger, desk: Desk) -> None:
    asked = plan(desk, step(resources=(NOTES,)), WRITE)
    passed = await desk.check(asked)
    assert passed.checkpoint_status == "passed"
    (row,) = await ledger.rows("SELECT kind, open FROM evaluations")
    assert (row["kind"], row["open"]) == ("plan", 0)
    call = await desk.check(desk.request(plan_call_id=asked.call_id))
    assert call.reasons == ("plan.unmitigated",)
    await desk.report(desk.outcome(passed))
    (listed,) = await ledger.events(OutcomeListed)
    assert listed.reason == "not_a_call"


async def test_a_held_plan_holds_the_calls_that_name_it(desk: Desk) -> None:
    held = plan(desk, step(), step("format_disk"))
    evaluation = await desk.check(held)
    assert evaluation.reasons == ("authority.tool_prohibited@$.steps[1]",)
    call = await desk.check(desk.request("read_file", plan_call_id=held.call_id))
    assert call.reasons == ("plan.held",)
    seen = await desk.observe(resources=(NOTES,))
    call = await desk.check(desk.request(plan_call_id=held.call_id, premortem=premortem(seen)))
    assert call.reasons == ("plan.held",)
    revised = plan(desk, step())
    assert (await desk.check(revised)).checkpoint_status == "passed"
    call = await desk.check(desk.request("read_file", plan_call_id=revised.call_id))
    assert call.checkpoint_status == "passed"


async def test_a_call_names_a_plan_of_its_own_host(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    foreign = plan(other, step())
    await other.check(foreign)
    call = desk.request("read_file")
    await desk.check(call)
    for named in (foreign.call_id, call.call_id, "never-asked"):
        with pytest.raises(UnknownPlanError) as refused:
            await desk.check(desk.request("read_file", plan_call_id=named))
        assert (refused.value.field, refused.value.value) == ("$.plan_call_id", named)


async def test_a_plan_meets_the_holds_of_what_its_steps_touch(desk: Desk) -> None:
    await desk.check(desk.request())
    held = await desk.check(plan(desk, step(resources=(NOTES,)), WRITE))
    assert held.reasons == ("hold.prior@$.steps[1]",)
    other = step("write_file", resources=(PLANS,))
    assert (await desk.check(plan(desk, other))).checkpoint_status == "passed"
    by_shell = step("bash", arguments={"command": "rm notes.txt"}, resources=(NOTES,))
    assert "hold.prior@$.steps[0]" in (await desk.check(plan(desk, by_shell))).reasons


async def test_the_same_plan_again_is_the_same_evaluation(ledger: Ledger, desk: Desk) -> None:
    asked = plan(desk, WRITE)
    first = await desk.check(asked)
    assert (await desk.check(asked)).evaluation_id == first.evaluation_id
    other = plan(desk, WRITE, step(), call_id=asked.call_id)
    with pytest.raises(CallIdConflictError):
        await desk.check(other)
    assert len(await ledger.events(Evaluated)) == 1


async def test_failures_of_a_step_are_known_to_the_next_plan(desk: Desk) -> None:
    done = await desk.passed()
    await desk.report(desk.outcome(done, status="failed", failure_mode="disk_full"))
    evaluation = await desk.check(plan(desk, step(), WRITE))
    assert evaluation.plan_check.forecast.mode == "disk_full"


async def test_operators_rules_count_for_steps(ledger: Ledger, desk: Desk) -> None:
    rule = ToolRule(effect="inspect_local")
    desk.checkpoint = CheckpointWorker(ledger.key, EffectRules(tools={"files/zzz": rule}))
    evaluation = await desk.check(plan(desk, step(), step("zzz")))
    assert evaluation.execution_check.effect == "inspect_local"


async def test_an_approved_plan_approves_no_call(ledger: Ledger, desk: Desk) -> None:
    rename = step("rename_file", arguments={"path": NOTES.value}, resources=(NOTES,))
    held = await desk.check(plan(desk, rename))
    assert held.reasons == ("authority.approval_required@$.steps[0]",)
    await desk.grant(held)
    passed = plan(desk, rename)
    assert (await desk.check(passed)).checkpoint_status == "passed"
    call = await desk.asked(plan_call_id=passed.call_id)
    assert call.reasons == ("authority.approval_required",)


async def test_no_step_is_kept_with_its_secret_or_shown_in_the_journal(
    ledger: Ledger, desk: Desk
) -> None:
    secret = step(
        arguments={"token": _SECRET},
        resources=(Resource(kind="other", value=f"key {_SECRET}"),),
        expected_outcome=f"{_SECRET} works",
    )
    await desk.check(plan(desk, secret))
    await desk.check(text(desk, f"use {_SECRET}"))
    assert _SECRET not in repr(await ledger.tables())
    bodies = b"".join(body for _, body in await ledger.journal())
    assert b"works" not in bodies


async def test_a_text_passes_without_a_grant_and_owes_nothing(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    evaluation = await desk.check(text(desk, evidence_ids=(seen,)))
    assert evaluation.checkpoint_status == "passed"
    assert evaluation.execution_check.effect == "inspect_local"
    (row,) = await ledger.rows("SELECT kind, open FROM evaluations")
    assert (row["kind"], row["open"]) == ("recommendation", 0)


async def test_a_text_cites_known_evidence_only(desk: Desk) -> None:
    with pytest.raises(UnknownEvidenceError):
        await desk.check(text(desk, evidence_ids=(ulid_now(),)))


# --- shape

_BAD_PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "no steps": ({"steps": ()}, "$.steps"),
    "another tool": ({"tool": RECOMMENDATION_TOOL}, "$.tool"),
    "arguments": ({"arguments": {"a": 1}}, "$.arguments"),
    "a claim": ({"effect": "mutation"}, "$.effect"),
    "resources": ({"resources": (NOTES,)}, "$.resources"),
    "a plan": ({"plan_call_id": "plan-1"}, "$.plan_call_id"),
    "a receipt": ({"expected_receipt": ExpectedReceipt(kind="file")}, "$.expected_receipt"),
    "a definition": ({"definition": ToolDefinition()}, "$.definition"),
    "many resources": ({"steps": (step(resources=(NOTES,) * 33),) * 2}, "$.steps"),
    "large": ({"steps": (step(arguments={"a": "x" * 33_000}),) * 2}, "$.steps"),
}


@pytest.mark.parametrize(("changes", "field"), _BAD_PLANS.values(), ids=_BAD_PLANS.keys())
async def test_a_plan_of_another_shape_is_refused(
    ledger: Ledger, desk: Desk, changes: dict[str, Any], field: str
) -> None:
    await _refused(ledger, desk, plan(desk, **({"steps": (step(),)} | changes)), field)


_BAD_TEXTS: dict[str, tuple[dict[str, Any], str]] = {
    "another tool": ({"tool": PLAN_TOOL}, "$.tool"),
    "no text": ({"arguments": {}}, "$.arguments"),
    "more than a text": ({"arguments": {"text": "a", "path": "b"}}, "$.arguments"),
    "no string": ({"arguments": {"text": 1}}, "$.arguments"),
    "empty": ({"arguments": {"text": ""}}, "$.arguments.text"),
    "long": ({"arguments": {"text": "x" * 4_097}}, "$.arguments.text"),
    "steps": ({"steps": (step(),)}, "$.steps"),
    "an effect": ({"effect": "mutation"}, "$.effect"),
    "resources": ({"resources": (NOTES,)}, "$.resources"),
}


@pytest.mark.parametrize(("changes", "field"), _BAD_TEXTS.values(), ids=_BAD_TEXTS.keys())
async def test_a_text_of_another_shape_is_refused(
    ledger: Ledger, desk: Desk, changes: dict[str, Any], field: str
) -> None:
    await _refused(ledger, desk, text(desk, **changes), field)


async def test_a_call_has_no_steps(ledger: Ledger, desk: Desk) -> None:
    await _refused(ledger, desk, _whole(desk, {"steps": (step(),)}), "$.steps")


async def test_the_largest_plan_is_judged(desk: Desk) -> None:
    steps = (step(resources=(NOTES, PLANS)),) * limits.PLAN_STEPS_MAX
    assert (await desk.check(plan(desk, *steps))).checkpoint_status == "passed"


async def test_a_plan_that_is_not_what_was_hashed_is_refused(ledger: Ledger, desk: Desk) -> None:
    asked = msgspec.structs.replace(plan(desk, step()), steps=(step("format_disk"),))
    before = await ledger.tables()
    with pytest.raises(HashMismatchError):
        await desk.check(asked)
    assert await ledger.tables() == before


async def _refused(ledger: Ledger, desk: Desk, request: CheckpointRequest, field: str) -> None:
    before = await ledger.tables()
    with pytest.raises((ContractError, TooLargeError)) as refused:
        await desk.check(request)
    assert refused.value.field == field
    assert await ledger.tables() == before
