from typing import Any

import pytest

from pmcl.contracts import Evaluation, PlanStep, Tool
from pmcl.judgement import Critique, Judgement, OpenHold, StepKnown, judge

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"
VETO = Critique(verdict="veto", failure_mode="data_loss")
FINE = Critique(verdict="none")
AWAY = Critique(verdict="unavailable", reason="timeout")


@pytest.fixture
def judged(make_request: Any, make_inputs: Any, make_evidence: Any, make_premortem: Any) -> Any:
    """Judge a call that evidence lets pass, beside what a critic says."""

    def judged(tool: str = "write_file", **changes: Any) -> Judgement:
        request = make_request(tool, premortem=make_premortem("A"))
        return judge(make_inputs(request, **{"evidence": (make_evidence("A"),), **changes}))

    return judged


def _without_critic(evaluation: Evaluation) -> Any:
    items = evaluation.state_check.items
    return [item for item in items if item.name != "critic"], evaluation.reasons


def test_veto_holds_what_would_have_passed(judged: Any) -> None:
    assert judged().evaluation.checkpoint_status == "passed"
    vetoed = judged(critique=VETO)
    assert vetoed.evaluation.reasons == ("plan.critic_veto",)
    assert (vetoed.hold_reason, vetoed.hold_keys) == ("plan.critic_veto", ("key-notes",))
    assert "data_loss" in vetoed.evaluation.revision_request
    assert "/project/notes.md" in vetoed.evaluation.revision_request


@pytest.mark.parametrize("critique", [FINE, AWAY], ids=["fine", "away"])
@pytest.mark.parametrize("evidence", [True, False], ids=["passing", "held"])
def test_nothing_else_that_an_optional_critic_says_changes_a_verdict(
    judged: Any, critique: Critique, *, evidence: bool
) -> None:
    changes: dict[str, Any] = {} if evidence else {"evidence": ()}
    alone, beside = judged(**changes), judged(**changes, critique=critique)
    assert _without_critic(beside.evaluation) == _without_critic(alone.evaluation)
    assert (beside.hold_reason, beside.released) == (alone.hold_reason, alone.released)


def test_answer_of_a_critic_is_told_in_the_state_check(judged: Any) -> None:
    said = {}
    for critique in (FINE, AWAY, VETO):
        item = judged(critique=critique).evaluation.state_check.items[-1]
        said[critique.verdict] = (item.name, item.freshness, item.note)
    assert said == {
        "none": ("critic", "fresh", "none"),
        "unavailable": ("critic", "unavailable", "optional, timeout"),
        "veto": ("critic", "fresh", "veto"),
    }


def test_required_critic_that_is_away_holds_without_a_hold(judged: Any) -> None:
    held = judged(critique=AWAY, critic_required=True)
    assert held.evaluation.reasons == ("degraded.critic_unavailable",)
    assert (held.hold_reason, held.evaluation.checkpoint_status) == (None, "held")
    assert judged(critique=FINE, critic_required=True).evaluation.reasons == ()


def test_local_inspection_needs_no_critic(judged: Any) -> None:
    for critique in (VETO, AWAY):
        passed = judged("read_file", critique=critique, critic_required=True).evaluation
        assert passed.checkpoint_status == "passed"


def test_veto_releases_no_hold_and_new_evidence_releases_the_vetos_own(judged: Any) -> None:
    hold = OpenHold(
        hold_id="h", effect="mutation", resource_keys=("key-notes",), reason="plan.critic_veto"
    )
    assert judged(holds=(hold,), critique=VETO).released == ()
    seen = OpenHold(
        hold_id="h",
        effect="mutation",
        resource_keys=("key-notes",),
        reason="plan.critic_veto",
        cited=(ULID + "A",),
    )
    assert judged(holds=(seen,), critique=FINE).evaluation.reasons == ("hold.prior",)
    (release,) = judged(holds=(hold,), critique=FINE).released
    assert release.hold_id == "h"


def test_words_of_a_critic_lift_no_other_reason(judged: Any, make_authority: Any) -> None:
    prohibited = make_authority(tools={"*": "prohibit"})
    for critique in (FINE, VETO, AWAY):
        evaluation = judged(authority=prohibited, critique=critique).evaluation
        assert evaluation.reasons[0].startswith("authority.")


def test_vetoed_plan_is_held_and_places_no_hold(make_request: Any, make_inputs: Any) -> None:
    tool = Tool(server="files", name="write_file", definition_hash="d" * 64)
    request = make_request(kind="plan", steps=(PlanStep(tool=tool),))
    known = {"steps": (StepKnown(resource_keys=("key-notes",)),)}
    assert judge(make_inputs(request, **known)).evaluation.reasons == ()
    vetoed = judge(make_inputs(request, **known, critique=VETO))
    assert (vetoed.evaluation.reasons, vetoed.hold_reason) == (("plan.critic_veto",), None)
    away = judge(make_inputs(request, **known, critique=AWAY, critic_required=True))
    assert away.evaluation.reasons == ("degraded.critic_unavailable",)
