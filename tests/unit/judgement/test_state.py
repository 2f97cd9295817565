from typing import Any

import pytest

from pmcl.contracts import AuthoritySnapshot, StateItem
from pmcl.judgement import DerivedItems, DerivedState, History, Inputs, PastFailure, Tally, judge

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"
NOW_MS = 1_000_000
FRESH_MS = 300_000
DERIVED = ["working_state", "memories", "contradictions"]


def _items(inputs: Inputs) -> dict[str, StateItem]:
    return {item.name: item for item in judge(inputs).evaluation.state_check.items}


def test_every_input_of_the_state_check_is_there(make_request: Any, make_inputs: Any) -> None:
    assert list(_items(make_inputs(make_request()))) == [
        "host_contract",
        "goal",
        "working_state",
        "capabilities",
        "operational_state",
        "memories",
        "pending_actions",
        "contradictions",
        "limitations",
        "self_model",
        "evidence",
        "recent_outcomes",
    ]


@pytest.mark.parametrize("name", DERIVED)
def test_what_is_not_there_is_unavailable(name: str, make_request: Any, make_inputs: Any) -> None:
    item = _items(make_inputs(make_request()))[name]
    assert (item.freshness, item.lineage) == ("unavailable", ())


@pytest.mark.parametrize("name", DERIVED)
@pytest.mark.parametrize(("age_ms", "freshness"), [(FRESH_MS, "fresh"), (FRESH_MS + 1, "stale")])
def test_what_was_derived_is_told_by_its_ids_and_grows_stale(
    name: str, age_ms: int, freshness: str, make_request: Any, make_inputs: Any
) -> None:
    known = DerivedState(**{name: DerivedItems(ids=("i2", "i1"), newest_at=NOW_MS - age_ms)})
    alone, beside = make_inputs(make_request()), make_inputs(make_request(), derived=known)
    item = _items(beside)[name]
    assert (item.freshness, item.lineage) == (freshness, ("i2", "i1"))
    others = [other for other in _items(beside).items() if other[0] != name]
    assert others == [other for other in _items(alone).items() if other[0] != name]
    assert judge(beside).evaluation.reasons == judge(alone).evaluation.reasons


def test_self_model_names_version_zero(make_request: Any, make_inputs: Any) -> None:
    inputs = make_inputs(make_request())
    assert judge(inputs).evaluation.self_model_version_id == "self-model/0"
    assert _items(inputs)["self_model"].lineage == ("self-model/0",)
    later = make_inputs(make_request(), self_model_version_id="self-model/7")
    assert judge(later).evaluation.self_model_version_id == "self-model/7"
    assert _items(later)["self_model"].lineage == ("self-model/7",)


@pytest.mark.parametrize(("left_ms", "freshness"), [(1, "fresh"), (0, "stale")])
@pytest.mark.parametrize("name", ["host_contract", "capabilities", "limitations"])
def test_lease_items_are_as_fresh_as_the_lease(
    name: str, left_ms: int, freshness: str, make_request: Any, make_inputs: Any
) -> None:
    item = _items(make_inputs(make_request(), lease_expires_at=NOW_MS + left_ms))[name]
    assert (item.freshness, item.lineage) == (freshness, (ULID + "0",))


@pytest.mark.parametrize(
    ("known", "note"),
    [
        ({}, "running"),
        ({"resumed": True}, "running, resumed after a gap"),
        ({"stopped": True}, "stopped by an operator"),
    ],
)
def test_operational_state_tells_a_stop_and_a_gap(
    known: Any, note: str, make_request: Any, make_inputs: Any
) -> None:
    item = _items(make_inputs(make_request(), **known))["operational_state"]
    assert (item.freshness, item.lineage, item.note) == ("fresh", (ULID + "0",), note)


@pytest.mark.parametrize(
    ("tools", "prohibited", "by_approval"),
    [
        (
            {"*": "grant", "shell/run": "prohibit", "mail/send": "approve", "x/y": "approve"},
            ", named tools: 1",
            "mutation, named tools: 2",
        ),
        ({"files/read": "grant"}, ", other tools", "mutation"),
        ({"*": "approve"}, "", "mutation, other tools"),
    ],
)
def test_limitations_are_what_the_snapshot_does_not_grant(
    tools: Any, prohibited: str, by_approval: str, make_request: Any, make_inputs: Any
) -> None:
    authority = AuthoritySnapshot(
        tools=tools, effects={"inspect_local": "grant", "mutation": "approve", "execution": "grant"}
    )
    item = _items(make_inputs(make_request(), authority=authority))["limitations"]
    assert item.note == (
        f"prohibited: network, sensing, communication{prohibited}; by approval: {by_approval}"
    )


def test_empty_goal_is_unavailable(make_request: Any, make_inputs: Any) -> None:
    assert _items(make_inputs(make_request()))["goal"].freshness == "fresh"
    assert _items(make_inputs(make_request(goal="")))["goal"].freshness == "unavailable"


@pytest.mark.parametrize(
    ("age_ms", "freshness"),
    [
        (0, "fresh"),
        (FRESH_MS, "fresh"),
        (FRESH_MS + 1, "stale"),
        (-FRESH_MS, "fresh"),
        (-FRESH_MS - 1, "stale"),
    ],
)
def test_evidence_is_stale_after_300_seconds(
    age_ms: int, freshness: str, make_request: Any, make_inputs: Any, make_evidence: Any
) -> None:
    request = make_request("read_file", evidence_ids=(ULID + "A",))
    cited = make_evidence("A", observed_at=NOW_MS - age_ms)
    item = _items(make_inputs(request, evidence=(cited,)))["evidence"]
    assert (item.freshness, item.lineage) == (freshness, (ULID + "A",))
    newest = make_inputs(request, last_evidence_id=ULID + "Z", last_evidence_at=NOW_MS - age_ms)
    item = _items(newest)["evidence"]
    assert (item.freshness, item.lineage) == (freshness, (ULID + "Z",))


def test_one_stale_citation_makes_evidence_stale(
    make_request: Any, make_inputs: Any, make_evidence: Any
) -> None:
    for unfit in ({"observed_at": 0}, {"generation": 2}):
        evidence = (make_evidence("A"), make_evidence("B", **unfit))
        item = _items(make_inputs(make_request(), evidence=evidence))["evidence"]
        assert item.freshness == "stale"


def test_erased_evidence_is_unavailable_and_in_no_lineage(
    make_request: Any, make_inputs: Any, make_evidence: Any
) -> None:
    inputs = make_inputs(make_request(), evidence=(make_evidence("A", erased=True),))
    item = _items(inputs)["evidence"]
    assert (item.freshness, item.lineage) == ("unavailable", ())
    assert judge(inputs).evaluation.evidence_ids == ()


def test_no_evidence_is_unavailable(make_request: Any, make_inputs: Any) -> None:
    assert _items(make_inputs(make_request()))["evidence"].freshness == "unavailable"


def test_pending_actions_are_named(make_request: Any, make_inputs: Any) -> None:
    item = _items(make_inputs(make_request(), pending=("e1", "e2")))["pending_actions"]
    assert (item.lineage, item.note) == (("e1", "e2"), "2 without an outcome")


def test_failed_outcomes_change_the_state_check(make_request: Any, make_inputs: Any) -> None:
    before = _items(make_inputs(make_request()))["recent_outcomes"]
    assert (before.freshness, before.lineage) == ("unavailable", ())
    recent = (
        PastFailure(outcome_id="o2", mode="timeout", at_ms=2),
        PastFailure(outcome_id="o1", mode="disk_full", at_ms=1),
    )
    tally = Tally(runs=3, failed=(("disk_full", 1), ("timeout", 1)))
    inputs = make_inputs(make_request(), history=History(action=tally, recent=recent))
    after = _items(inputs)["recent_outcomes"]
    assert (after.freshness, after.lineage) == ("fresh", ("o2", "o1"))
    assert judge(inputs).evaluation.state_check.recent_failures == ("timeout", "disk_full")
    assert judge(inputs).evaluation.plan_check.forecast.mode in ("timeout", "disk_full")


def test_lineage_is_bounded(make_request: Any, make_inputs: Any) -> None:
    recent = tuple(PastFailure(outcome_id=f"o{n}", mode="m", at_ms=n) for n in range(500))
    inputs = make_inputs(
        make_request(),
        pending=tuple(f"e{n}" for n in range(500)),
        history=History(action=Tally(runs=500, failed=(("m", 500),)), recent=recent),
    )
    assert max(len(item.lineage) for item in _items(inputs).values()) == 64
    assert len(judge(inputs).evaluation.state_check.recent_failures) == 64
