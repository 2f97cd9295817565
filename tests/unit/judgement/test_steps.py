from typing import Any

import pytest

from pmcl.contracts import PLAN_TOOL, RECOMMENDATION_TOOL, PlanStep, Resource, Tool
from pmcl.judgement import (
    ApprovalRecord,
    History,
    Inputs,
    Judgement,
    OpenHold,
    PastFailure,
    StepKnown,
    Tally,
    judge,
)

NOW_MS = 1_000_000
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"


def step(tool: str = "read_file", **fields: Any) -> PlanStep:
    return PlanStep(tool=Tool(server="files", name=tool, definition_hash="d" * 64), **fields)


def path(value: str) -> tuple[Resource, ...]:
    return (Resource(kind="path", value=value),)


@pytest.fixture
def judged(make_request: Any, make_inputs: Any, make_authority: Any) -> Any:
    def run(*steps: PlanStep, **changes: Any) -> Judgement:
        asked = {"kind": "plan", "tool": PLAN_TOOL, "arguments": {}, "steps": steps}
        request = make_request(**(asked | {"resources": ()} | changes.pop("request", {})))
        known = changes.pop("known", {})
        fields = {
            "authority": make_authority(**changes.pop("authority", {})),
            "resource_keys": tuple(f"key-{index}" for index in range(len(steps))),
            "steps": tuple(
                StepKnown(resource_keys=(f"key-{index}",), history=known.get(index, History()))
                for index in range(len(steps))
            ),
        }
        return judge(make_inputs(request, **(fields | changes)))

    return run


def test_a_plan_of_what_each_call_may_do_passes_and_places_no_hold(judged: Any) -> None:
    judgement = judged(step(), step("write_file", resources=path("/project/a")))
    evaluation = judgement.evaluation
    assert (evaluation.checkpoint_status, evaluation.reasons) == ("passed", ())
    assert evaluation.execution_check.effect == "mutation"
    assert evaluation.plan_check.material
    assert judgement.hold_reason is None
    assert judgement.hold_keys == ()


@pytest.mark.parametrize(
    ("bad", "authority", "reason"),
    [
        (step("wipe"), {"tools": {"*": "grant", "files/wipe": "prohibit"}}, "tool_prohibited"),
        (step("send"), {"effects": {"inspect_local": "grant"}}, "effect_prohibited"),
        (step("write_file", resources=path("/etc/a")), {}, "path_outside_roots"),
        (
            step("fetch", resources=(Resource(kind="host", value="evil.example"),)),
            {"hosts": ("api.example",)},
            "host_not_allowed",
        ),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_the_worst_step_decides_and_is_named(
    judged: Any, bad: PlanStep, authority: dict[str, Any], reason: str, place: int
) -> None:
    steps = [step(), step()]
    steps.insert(place, bad)
    evaluation = judged(*steps, authority=authority).evaluation
    assert evaluation.checkpoint_status == "held"
    assert evaluation.reasons == (f"authority.{reason}@$.steps[{place}]",)
    assert evaluation.revision_request is None


def test_a_claim_of_a_step_raises_its_effect(judged: Any) -> None:
    evaluation = judged(step(), step(effect="communication")).evaluation
    assert evaluation.execution_check.effect == "communication"
    assert evaluation.execution_check.reversibility == "irreversible"


def test_the_end_of_the_lease_is_said_once(judged: Any) -> None:
    evaluation = judged(step(), step(), lease_expires_at=NOW_MS).evaluation
    assert evaluation.reasons == ("authority.lease_expired",)


def _hold(key: str) -> OpenHold:
    return OpenHold(
        hold_id=ULID + "7", effect="mutation", resource_keys=(key,), reason="plan.unmitigated"
    )


def test_a_hold_on_what_a_step_would_change_holds_the_plan(judged: Any) -> None:
    steps = (step(), step("write_file", resources=path("/project/a")))
    evaluation = judged(*steps, holds=(_hold("key-1"),)).evaluation
    assert evaluation.reasons == ("hold.prior@$.steps[1]",)
    assert "$.steps[1]: " in evaluation.revision_request
    assert "/project/a" in evaluation.revision_request
    assert judged(*steps, holds=(_hold("key-0"),)).evaluation.reasons == ()


def test_evidence_lets_the_plan_pass_and_leaves_the_hold_to_the_call(
    judged: Any, make_evidence: Any
) -> None:
    seen = make_evidence("A", resource_keys=("key-0",))
    judgement = judged(step("write_file"), holds=(_hold("key-0"),), evidence=(seen,))
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.released == ()


def test_a_step_to_be_approved_holds_the_plan_until_the_plan_is(judged: Any) -> None:
    authority = {"tools": {"*": "grant", "files/write_file": "approve"}}
    steps = (step(), step("write_file", resources=path("/project/a")))
    judgement = judged(*steps, authority=authority)
    assert judgement.evaluation.reasons == ("authority.approval_required@$.steps[1]",)
    assert judgement.requests_approval
    granted = ApprovalRecord(
        approval_id=ULID + "9",
        state="granted",
        proposal_hash="a" * 64,
        generation=3,
        effect="mutation",
        expires_at=NOW_MS + 1,
    )
    judgement = judged(*steps, authority=authority, approval=granted)
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.uses_approval == ULID + "9"


def test_the_likeliest_failure_is_that_of_the_worst_step(judged: Any) -> None:
    failed = PastFailure(outcome_id=ULID + "5", mode="disk_full", at_ms=1)
    steps = (step("write_file"), step("write_file"))
    tally = Tally(runs=4, failed=(("disk_full", 4),))
    history = History(action=tally, recent=(failed,))
    evaluation = judged(*steps, known={1: history}).evaluation
    assert evaluation.plan_check.forecast.mode == "disk_full"


def test_a_plan_of_the_most_steps_is_judged_again_the_same(judged: Any) -> None:
    steps = [step("send", resources=path(f"/etc/{index}")) for index in range(32)]
    evaluation = judged(*steps).evaluation
    assert len(evaluation.reasons) == 32
    assert evaluation.reasons[-1].endswith("@$.steps[31]")


# --- a call of a plan, and a text


def test_a_call_of_a_held_plan_is_held(make_request: Any, make_inputs: Any) -> None:
    request = make_request("read_file", plan_call_id="plan-1")
    inputs: Inputs = make_inputs(request, plan_held=True)
    evaluation = judge(inputs).evaluation
    assert evaluation.reasons == ("plan.held",)
    assert "plan-1" in (evaluation.revision_request or "")
    assert judge(make_inputs(request)).evaluation.checkpoint_status == "passed"


def _recommendation(make_request: Any) -> Any:
    return make_request(
        kind="recommendation",
        tool=RECOMMENDATION_TOOL,
        arguments={"text": "delete everything at once"},
        resources=(),
    )


def test_a_text_needs_no_grant(make_request: Any, make_inputs: Any, make_authority: Any) -> None:
    nothing = make_authority(tools={}, effects={}, roots=(), hosts=())
    judgement = judge(make_inputs(_recommendation(make_request), authority=nothing))
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.evaluation.execution_check.effect == "inspect_local"
    assert not judgement.evaluation.plan_check.material


def test_a_text_needs_a_lease(make_request: Any, make_inputs: Any) -> None:
    inputs = make_inputs(_recommendation(make_request), lease_expires_at=NOW_MS)
    assert judge(inputs).evaluation.reasons == ("authority.lease_expired",)


def test_a_text_rests_on_no_erased_evidence(
    make_request: Any, make_inputs: Any, make_evidence: Any
) -> None:
    shown = (make_evidence("A"), make_evidence("B", erased=True))
    evaluation = judge(make_inputs(_recommendation(make_request), evidence=shown)).evaluation
    assert evaluation.reasons == ("evidence.erased",)
    assert ULID + "B" in (evaluation.revision_request or "")
