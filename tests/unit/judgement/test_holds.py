from typing import Any

import pytest

from pmcl.judgement import Found, Grounding, OpenHold, Release, judge

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"


def _hold(name: str = "hold-1", **changes: Any) -> OpenHold:
    fields: dict[str, Any] = {
        "hold_id": name,
        "effect": "mutation",
        "resource_keys": ("key-notes",),
        "reason": "plan.unmitigated",
    }
    return OpenHold(**(fields | changes))


@pytest.fixture(scope="session")
def mitigated(make_request: Any, make_premortem: Any) -> Any:
    return make_request(premortem=make_premortem("A"))


def test_new_evidence_lifts_a_hold_and_the_release_is_recorded(
    mitigated: Any, make_inputs: Any, make_evidence: Any
) -> None:
    judgement = judge(make_inputs(mitigated, holds=(_hold(),), evidence=(make_evidence("A"),)))
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.released == (Release(hold_id="hold-1", evidence_ids=(ULID + "A",)),)
    assert judgement.hold_reason is None


@pytest.mark.parametrize(
    "change",
    [
        {"erased": True},
        {"generation": 2},
        {"generation": 4},
        {"resource_keys": ("key-other",)},
        {"resource_keys": ()},
    ],
)
def test_unfit_evidence_lifts_no_hold(
    change: dict[str, Any], mitigated: Any, make_inputs: Any, make_evidence: Any
) -> None:
    unfit = make_evidence("A", **change)
    judgement = judge(make_inputs(mitigated, holds=(_hold(),), evidence=(unfit,)))
    assert judgement.evaluation.reasons == ("hold.prior", "plan.unmitigated")
    assert judgement.released == ()


def test_evidence_that_the_hold_has_seen_lifts_nothing(
    mitigated: Any, make_inputs: Any, make_evidence: Any
) -> None:
    seen = _hold(cited=(ULID + "A",))
    judgement = judge(make_inputs(mitigated, holds=(seen,), evidence=(make_evidence("A"),)))
    assert judgement.evaluation.reasons == ("hold.prior",)
    assert judgement.hold_reason is None
    assert judgement.released == ()
    again = judge(
        make_inputs(mitigated, holds=(seen,), evidence=(make_evidence("A"), make_evidence("B")))
    )
    assert again.released == (Release(hold_id="hold-1", evidence_ids=(ULID + "B",)),)


def test_new_words_of_the_user_that_ask_for_the_call_lift_a_hold(
    make_request: Any, make_inputs: Any
) -> None:
    asked = Grounding(licence="licensed", goal_ids=(ULID + "B", ULID + "A"))
    hold = _hold(cited=(ULID + "A",))
    judgement = judge(make_inputs(make_request(), holds=(hold,), grounding=asked))
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.released == (Release(hold_id="hold-1", evidence_ids=(ULID + "B",)),)


@pytest.mark.parametrize(
    "said",
    [
        Grounding(licence="licensed", goal_ids=(ULID + "A",)),
        Grounding(licence="unlicensed", goal_ids=(ULID + "B",)),
        Grounding(
            licence="licensed",
            goal_ids=(ULID + "B",),
            found=(Found(argument="to", kind="endpoint", place="untrusted_instruction"),),
        ),
    ],
)
def test_words_that_the_hold_has_seen_or_that_ask_for_something_else_lift_nothing(
    said: Grounding, make_request: Any, make_inputs: Any
) -> None:
    hold = _hold(cited=(ULID + "A",))
    judgement = judge(make_inputs(make_request(), holds=(hold,), grounding=said))
    assert "hold.prior" in judgement.evaluation.reasons
    assert judgement.released == ()


@pytest.mark.parametrize("tool", ["write_file", "run", "send", "fetch", "take_photo"])
def test_hold_matches_across_tools_and_effects(
    tool: str, make_request: Any, make_inputs: Any
) -> None:
    inputs = make_inputs(make_request(tool, call_id="other-words"), holds=(_hold(),))
    assert "hold.prior" in judge(inputs).evaluation.reasons


def test_inspection_is_not_held_and_releases_nothing(
    make_request: Any, make_inputs: Any, make_evidence: Any
) -> None:
    request = make_request("read_file", evidence_ids=(ULID + "A",))
    judgement = judge(make_inputs(request, holds=(_hold(),), evidence=(make_evidence("A"),)))
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.released == ()


def test_hold_on_other_resources_is_not_in_the_way(
    mitigated: Any, make_inputs: Any, make_evidence: Any
) -> None:
    other = _hold(resource_keys=("key-other",))
    judgement = judge(make_inputs(mitigated, holds=(other,), evidence=(make_evidence("A"),)))
    assert judgement.evaluation.checkpoint_status == "passed"
    assert judgement.released == ()


def test_every_hold_needs_its_own_evidence(
    mitigated: Any, make_inputs: Any, make_evidence: Any
) -> None:
    holds = (_hold(), _hold("hold-2", cited=(ULID + "A",)))
    judgement = judge(make_inputs(mitigated, holds=holds, evidence=(make_evidence("A"),)))
    assert judgement.evaluation.reasons == ("hold.prior",)
    assert judgement.released == ()


def test_evidence_of_an_effect_held_by_authority_releases_nothing(
    mitigated: Any, make_inputs: Any, make_evidence: Any
) -> None:
    inputs = make_inputs(
        mitigated, holds=(_hold(),), evidence=(make_evidence("A"),), lease_expires_at=0
    )
    judgement = judge(inputs)
    assert judgement.evaluation.reasons == ("authority.lease_expired",)
    assert judgement.released == ()


def test_evidence_outside_the_premortem_releases_nothing_while_the_plan_is_held(
    make_request: Any, make_inputs: Any, make_evidence: Any
) -> None:
    request = make_request(evidence_ids=(ULID + "A",))
    judgement = judge(make_inputs(request, holds=(_hold(),), evidence=(make_evidence("A"),)))
    assert judgement.evaluation.reasons == ("plan.unmitigated",)
    assert judgement.released == ()


@pytest.mark.parametrize(
    ("open_hold", "placed"),
    [
        (_hold(), None),
        (_hold(resource_keys=("key-notes", "key-more")), None),
        (_hold(effect="execution"), "plan.unmitigated"),
        (_hold(reason="plan.stale_assumption"), "plan.unmitigated"),
        (_hold(resource_keys=("key-other",)), "plan.unmitigated"),
    ],
)
def test_hold_is_placed_unless_an_open_one_says_the_same(
    open_hold: OpenHold, placed: str | None, make_request: Any, make_inputs: Any
) -> None:
    assert judge(make_inputs(make_request(), holds=(open_hold,))).hold_reason == placed


def test_hold_is_placed_on_what_is_not_held_yet(make_request: Any, make_inputs: Any) -> None:
    inputs = make_inputs(make_request(), holds=(_hold(),), resource_keys=("key-notes", "key-other"))
    judgement = judge(inputs)
    assert judgement.hold_keys == ("key-other",)
    assert judgement.evaluation.reasons == ("hold.prior", "plan.unmitigated")
