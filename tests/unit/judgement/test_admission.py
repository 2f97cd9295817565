"""What is proposed is admitted by fixed rules, and a rejection names the first one it breaks."""

from typing import Any

import msgspec
import pytest

from pmcl.contracts import (
    BeliefProposed,
    IntentionProposed,
    LessonProposed,
    MemoryProposed,
    Proposed,
    RecommendationProposed,
    SelfModelProposed,
    WorkingStateProposed,
)
from pmcl.judgement import Admitted, Known, KnownItem, Rejected, Support, admit

SEEN, TOLD, MODEL, SHARED, GONE = (letter * 26 for letter in "ABCDE")
BELIEF, INTENTION, DONE = (letter * 26 for letter in "FGH")
KNOWN = Known(
    evidence={
        SEEN: Support(evidence_id=SEEN, trust="tool_output", visibility="local_only"),
        TOLD: Support(evidence_id=TOLD, trust="user", visibility="local_only"),
        MODEL: Support(evidence_id=MODEL, trust="model", visibility="shareable"),
        SHARED: Support(evidence_id=SHARED, trust="web", visibility="shareable"),
        GONE: Support(evidence_id=GONE, trust="user", visibility="local_only", erased=True),
    },
    items={
        BELIEF: KnownItem(item_id=BELIEF, kind="belief"),
        INTENTION: KnownItem(item_id=INTENTION, kind="intention"),
        DONE: KnownItem(item_id=DONE, kind="intention", open=False),
    },
)
TEXT = "the build needs the network"
EACH: list[Proposed] = [
    BeliefProposed(text=TEXT, about="build", evidence_ids=(SEEN,)),
    IntentionProposed(text=TEXT, evidence_ids=(SEEN,)),
    LessonProposed(text=TEXT, evidence_ids=(SEEN,), fingerprint="f" * 64),
    MemoryProposed(text=TEXT, evidence_ids=(SEEN,)),
    RecommendationProposed(text=TEXT, evidence_ids=(SEEN,)),
    SelfModelProposed(text=TEXT, evidence_ids=(SEEN,), part="limitations"),
    WorkingStateProposed(text=TEXT, evidence_ids=(SEEN,)),
]


def kind_of(proposed: Proposed) -> str:
    return str(type(proposed).__struct_config__.tag)


def changed(proposed: Proposed, **changes: Any) -> Proposed:
    return msgspec.structs.replace(proposed, **changes)


def rejected(proposed: Proposed) -> tuple[str, str]:
    verdict = admit(proposed, KNOWN)
    assert isinstance(verdict, Rejected), proposed
    assert verdict.limit
    return verdict.code, verdict.field


@pytest.mark.parametrize("proposed", EACH, ids=kind_of)
def test_each_kind_is_admitted_on_evidence_of_its_scope(proposed: Proposed) -> None:
    assert admit(proposed, KNOWN) == Admitted()
    assert admit(changed(proposed, evidence_ids=(MODEL, TOLD)), KNOWN) == Admitted()


@pytest.mark.parametrize("proposed", EACH, ids=kind_of)
@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"evidence_ids": ()}, "no_evidence", "$.evidence_ids"),
        ({"evidence_ids": (SEEN, "Z" * 26)}, "unknown_evidence", "$.evidence_ids[1]"),
        ({"evidence_ids": (GONE, SEEN)}, "erased_evidence", "$.evidence_ids[0]"),
        ({"evidence_ids": (SEEN,) * 65}, "too_large", "$.evidence_ids"),
        ({"text": "x" * 1025}, "too_large", "$.text"),
        ({"text": " \n"}, "too_large", "$.text"),
        ({"visibility": "shareable"}, "visibility", "$.visibility"),
        ({"text": "I feel sad about the build"}, "claims_experience", "$.text"),
        ({"text": "deleting is permitted"}, "sets_authority", "$.text"),
    ],
)
def test_each_rule_holds_for_each_kind(
    proposed: Proposed, changes: dict[str, Any], code: str, field: str
) -> None:
    assert rejected(changed(proposed, **changes)) == (code, field)


@pytest.mark.parametrize("proposed", EACH, ids=kind_of)
def test_a_models_word_alone_supports_nothing_about_the_world(proposed: Proposed) -> None:
    alone = changed(proposed, evidence_ids=(MODEL,))
    if kind_of(proposed) in ("intention", "recommendation", "working_state"):
        assert admit(alone, KNOWN) == Admitted()
    else:
        assert rejected(alone) == ("model_word", "$.evidence_ids")


@pytest.mark.parametrize("proposed", EACH, ids=kind_of)
def test_what_is_simulated_becomes_no_memory(proposed: Proposed) -> None:
    simulated = changed(proposed, simulated=True)
    if kind_of(proposed) in ("recommendation", "self_model"):
        assert admit(simulated, KNOWN) == Admitted()
    else:
        assert rejected(simulated) == ("simulated", "$.simulated")


def test_what_rests_on_shareable_evidence_alone_may_be_shareable() -> None:
    shared = MemoryProposed(text=TEXT, evidence_ids=(SHARED,), visibility="shareable")
    assert admit(shared, KNOWN) == Admitted()
    against = BeliefProposed(
        text=TEXT,
        about="build",
        evidence_ids=(SHARED,),
        counterevidence_ids=(SEEN,),
        visibility="shareable",
    )
    assert rejected(against) == ("visibility", "$.visibility")


def test_counterevidence_is_of_the_scope_as_well() -> None:
    belief = BeliefProposed(text=TEXT, about="build", evidence_ids=(SEEN,))
    for ids, code in ((("Z" * 26,), "unknown_evidence"), ((GONE,), "erased_evidence")):
        against = changed(belief, counterevidence_ids=ids)
        assert rejected(against) == (code, "$.counterevidence_ids[0]")
    model = changed(belief, evidence_ids=(MODEL,), counterevidence_ids=(SEEN,))
    assert rejected(model) == ("model_word", "$.evidence_ids")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"replaces": INTENTION}, "$.replaces"),
        ({"replaces": "Z" * 26}, "$.replaces"),
        ({"contradicts": (BELIEF, "Z" * 26)}, "$.contradicts[1]"),
        ({"replaces": BELIEF, "contradicts": (BELIEF,)}, "$.contradicts"),
    ],
)
def test_a_belief_revises_live_beliefs_only(changes: dict[str, Any], field: str) -> None:
    belief = BeliefProposed(text=TEXT, about="build", evidence_ids=(SEEN,))
    for fine in ({"replaces": BELIEF}, {"contradicts": (BELIEF,)}):
        assert admit(changed(belief, **fine), KNOWN) == Admitted()
    assert rejected(changed(belief, **changes)) == ("not_live", field)


def test_what_an_operator_took_back_is_not_admitted_again() -> None:
    memory = MemoryProposed(text=TEXT, evidence_ids=(SEEN,))
    known = msgspec.structs.replace(KNOWN, retracted=True)
    refused = admit(memory, known)
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.field) == ("retracted", "$.text")


def test_an_intention_is_resolved_once() -> None:
    end = IntentionProposed(text="it is done", evidence_ids=(SEEN,), resolves=INTENTION)
    assert admit(end, KNOWN) == Admitted()
    for other in (DONE, BELIEF, "Z" * 26):
        assert rejected(changed(end, resolves=other)) == ("not_live", "$.resolves")


def test_what_a_belief_is_about_is_read_as_well() -> None:
    belief = BeliefProposed(text=TEXT, about="what I feel", evidence_ids=(SEEN,))
    assert rejected(belief) == ("claims_experience", "$.about")
