from typing import Any

import pytest

from pmcl.contracts import Resource
from pmcl.contracts.limits import APPROVALS_WAITING_MAX
from pmcl.judgement import ApprovalRecord, Judgement, OpenHold, judge
from pmcl.judgement.approval import check_approval

NOW_MS = 1_000_000
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"
REQUIRED = "authority.approval_required"
DENIED = "authority.approval_denied"


def _record(**changes: Any) -> ApprovalRecord:
    fields: dict[str, Any] = {
        "approval_id": ULID + "9",
        "state": "granted",
        "proposal_hash": "a" * 64,
        "generation": 3,
        "effect": "mutation",
        "expires_at": NOW_MS + 1,
    }
    return ApprovalRecord(**(fields | changes))


@pytest.fixture
def judged(
    make_request: Any,
    make_inputs: Any,
    make_evidence: Any,
    make_premortem: Any,
    make_authority: Any,
) -> Any:
    """Judge a mitigated write that the snapshot wants approved."""

    def run(approval: ApprovalRecord | None, **changes: Any) -> Judgement:
        request = make_request(premortem=make_premortem("A"), **changes.pop("request", {}))
        authority = make_authority(**({"tools": {"*": "approve"}} | changes.pop("authority", {})))
        fields = {"evidence": (make_evidence("A"),), "authority": authority, "approval": approval}
        return judge(make_inputs(request, **(fields | changes)))

    return run


def test_without_an_approval_an_operator_is_asked(judged: Any) -> None:
    judgement = judged(None)
    evaluation = judgement.evaluation
    assert evaluation.reasons == (REQUIRED,)
    assert judgement.requests_approval
    assert judgement.asks_approval
    assert evaluation.approval_id == evaluation.evaluation_id
    assert evaluation.evaluation_id in evaluation.revision_request
    assert "new call id" in evaluation.revision_request


def test_a_granted_one_lets_the_call_pass_and_is_used_up(judged: Any) -> None:
    judgement = judged(_record())
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.uses_approval == judgement.evaluation.approval_id == ULID + "9"
    assert not judgement.requests_approval


def test_a_pending_one_is_named_and_not_asked_for_again(judged: Any) -> None:
    judgement = judged(_record(state="pending", expires_at=None))
    assert judgement.evaluation.reasons == (REQUIRED,)
    assert judgement.evaluation.approval_id == ULID + "9"
    assert ULID + "9" in judgement.evaluation.revision_request
    assert not judgement.requests_approval


def test_a_denied_one_holds_for_good(judged: Any) -> None:
    judgement = judged(_record(state="denied", expires_at=None))
    assert judgement.evaluation.reasons == (DENIED,)
    assert judgement.evaluation.revision_request is None
    assert not judgement.requests_approval


@pytest.mark.parametrize(
    "other",
    [
        {"proposal_hash": "b" * 64},
        {"generation": 2},
        {"effect": "communication"},
        {"expires_at": NOW_MS},
        {"expires_at": None},
        {"state": "used"},
        {"state": "expired"},
    ],
    ids=str,
)
def test_any_other_one_counts_for_nothing(judged: Any, other: dict[str, Any]) -> None:
    judgement = judged(_record(**other))
    assert judgement.evaluation.reasons == (REQUIRED,)
    assert judgement.uses_approval is None
    assert judgement.requests_approval


def test_a_denial_of_something_else_denies_nothing(judged: Any) -> None:
    judgement = judged(_record(state="denied", proposal_hash="b" * 64))
    assert judgement.evaluation.reasons == (REQUIRED,)


_OTHERWISE_HELD: dict[str, tuple[dict[str, Any], str]] = {
    "tool": ({"authority": {"tools": {"*": "prohibit"}}}, "authority.tool_prohibited"),
    "effect": ({"authority": {"effects": {}}}, "authority.effect_prohibited"),
    "roots": ({"authority": {"roots": ("/other",)}}, "authority.path_outside_roots"),
    "hosts": (
        {
            "authority": {"hosts": ()},
            "request": {"resources": (Resource(kind="host", value="api.example"),)},
        },
        "authority.host_not_allowed",
    ),
    "lease": ({"lease_expires_at": NOW_MS}, "authority.lease_expired"),
    "hold": (
        {
            "holds": (
                OpenHold(
                    hold_id=ULID + "7",
                    effect="mutation",
                    resource_keys=("key-notes",),
                    reason="plan.unmitigated",
                    cited=(ULID + "A",),
                ),
            )
        },
        "hold.prior",
    ),
    "plan": ({"evidence": ()}, "plan.unmitigated"),
}


@pytest.mark.parametrize(
    ("changes", "reason"), _OTHERWISE_HELD.values(), ids=_OTHERWISE_HELD.keys()
)
def test_an_approval_overrides_nothing_else_and_is_kept(
    judged: Any, changes: dict[str, Any], reason: str
) -> None:
    judgement = judged(_record(), **changes)
    assert judgement.evaluation.checkpoint_status == "held"
    assert reason in judgement.evaluation.reasons
    assert judgement.uses_approval is None
    assert judgement.released == ()


@pytest.mark.parametrize("case", ["effect", "roots", "hosts", "lease"])
def test_nobody_is_asked_for_what_no_approval_would_let_pass(judged: Any, case: str) -> None:
    changes, _ = _OTHERWISE_HELD[case]
    judgement = judged(None, **changes)
    assert not judgement.requests_approval
    assert judgement.evaluation.approval_id is None
    assert judgement.evaluation.revision_request is None


@pytest.mark.parametrize("case", ["hold", "plan"])
def test_what_evidence_can_still_lift_is_asked_for_beside_it(judged: Any, case: str) -> None:
    changes, _ = _OTHERWISE_HELD[case]
    judgement = judged(None, **changes)
    assert judgement.requests_approval
    assert "an operator approves" in judgement.evaluation.revision_request
    assert "observation" in judgement.evaluation.revision_request


def test_no_more_is_asked_than_an_operator_can_look_at(judged: Any) -> None:
    judgement = judged(None, approvals_waiting=APPROVALS_WAITING_MAX)
    assert not judgement.requests_approval
    assert judgement.evaluation.approval_id is None
    assert str(APPROVALS_WAITING_MAX) in judgement.evaluation.revision_request
    judgement = judged(None, approvals_waiting=APPROVALS_WAITING_MAX - 1)
    assert judgement.requests_approval


@pytest.mark.parametrize("wish", ["authority.approval_required", "plan.approval_required"])
def test_either_wish_is_answered_and_the_rest_stays(
    wish: str, make_request: Any, make_inputs: Any
) -> None:
    inputs = make_inputs(make_request(), approval=_record())
    answered = check_approval(inputs, "mutation", (wish, "grounding.any", "hold.prior"))
    assert answered.reasons == ("grounding.any", "hold.prior")
    assert answered.uses is None
    assert check_approval(inputs, "mutation", (wish,)).uses == ULID + "9"
    denied = make_inputs(make_request(), approval=_record(state="denied"))
    assert check_approval(denied, "mutation", (wish,)).reasons == (DENIED,)


def test_where_none_is_wanted_none_is_read_or_used(judged: Any) -> None:
    for record in (None, _record(), _record(state="denied")):
        judgement = judged(record, authority={"tools": {"*": "grant"}})
        assert judgement.evaluation.checkpoint_status == "passed"
        assert judgement.evaluation.approval_id is None
        assert not judgement.asks_approval
        assert judgement.uses_approval is None


def test_a_pass_that_was_approved_is_within_authority(judged: Any) -> None:
    claimed = {"request": {"effect": "mutation"}}
    assert judged(_record(), **claimed).evaluation.execution_check.least_privilege
    assert not judged(None, **claimed).evaluation.execution_check.least_privilege
