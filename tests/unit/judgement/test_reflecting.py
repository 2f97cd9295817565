"""The built-in reflector as a pure function of what it looks back on. Source: SPEC E3."""

from typing import Any

import msgspec
import pytest

from pmcl.contracts import LessonProposed, MemoryProposed
from pmcl.judgement import (
    Admitted,
    Contradicting,
    HeldCall,
    Known,
    OpenIntention,
    Support,
    admit,
    findings_of,
    reflection_of,
)
from tests.retrospects import NOTES, SEEN, looking_back, run

MODEL = msgspec.structs.replace(SEEN, evidence_id="01HF0000000000000000000001", trust="model")
FAILED = run(2, status="failed", failure_mode="wrong_target")


def rules(**changes: Any) -> list[str]:
    return [finding.code.split(":")[0] for finding in findings_of(looking_back(**changes))]


def test_nothing_is_said_about_nothing() -> None:
    assert rules() == []
    assert rules(runs=(run(),)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"runs": (FAILED, FAILED)}, ["failed_again"]),
        ({"runs": (FAILED,)}, []),
        ({"runs": (FAILED, run(), FAILED)}, []),
        ({"runs": (run(), FAILED, FAILED)}, []),
        ({"runs": (run(status="unknown"),)}, ["unseen_end"]),
        ({"runs": (run(expected=True),)}, ["unshown_receipt"]),
        ({"runs": (run(expected=True, verified=True),)}, []),
        ({"runs": (run(status="failed", failure_mode="disk_full"),)}, ["unforeseen"]),
        ({"runs": (run(1, verified=True), run(0, verified=True))}, ["lesson"]),
        ({"runs": (run(1, verified=True), FAILED)}, []),
        ({"runs": tuple(map(run, range(8))), "granted": ("files/search",)}, ["unused"]),
        ({"runs": tuple(map(run, range(8))), "granted": ("files/write_file",)}, []),
        ({"runs": tuple(map(run, range(7))), "granted": ("files/search",)}, []),
    ],
)
def test_each_rule_speaks_where_it_must(changes: dict[str, Any], expected: list[str]) -> None:
    assert rules(**changes) == expected


def test_a_call_that_is_held_again_and_never_ran() -> None:
    held = HeldCall(
        evaluation_id="e",
        server="files",
        tool="delete_file",
        fingerprint="d" * 64,
        reasons=("plan.unmitigated",),
        evidence_ids=(),
        resource_keys=(NOTES,),
    )
    assert rules(held=(held,) * 3) == ["held_again"]
    assert rules(held=(held,) * 2) == []
    assert rules(held=(held,) * 3, runs=(run(fingerprint="d" * 64),)) == []


def test_contradictions_and_stale_intentions_rest_on_their_own_evidence() -> None:
    ids = (SEEN.evidence_id,)
    pair = Contradicting(item_id="one", other_id="two", evidence_ids=ids)
    waiting = OpenIntention(item_id="three", evidence_ids=ids, stale=True)
    assert rules(contradictions=(pair,), intentions=(waiting,)) == [
        "contradiction",
        "stale_intention",
    ]
    assert rules(intentions=(msgspec.structs.replace(waiting, stale=False),)) == []


def test_nothing_is_said_without_evidence() -> None:
    runs = (FAILED, FAILED, run(3, status="unknown"))
    assert rules(runs=runs, evidence=()) == []
    other = msgspec.structs.replace(SEEN, resource_keys=("o" * 64,))
    assert rules(runs=runs, evidence=(other,)) == []
    cited = tuple(msgspec.structs.replace(one, evidence_ids=(SEEN.evidence_id,)) for one in runs)
    assert rules(runs=cited, evidence=(other,)) == ["failed_again", "unseen_end"]


def test_a_models_word_alone_makes_no_memory_and_no_lesson() -> None:
    unforeseen = run(status="failed", failure_mode="disk_full")
    verified = (run(1, verified=True), run(0, verified=True))
    assert rules(runs=(unforeseen,), evidence=(MODEL,)) == []
    assert rules(runs=verified, evidence=(MODEL,)) == []
    (memory,) = findings_of(looking_back(runs=(unforeseen,), evidence=(MODEL, SEEN)))
    assert isinstance(memory.proposed, MemoryProposed)
    assert memory.proposed.evidence_ids == (SEEN.evidence_id, MODEL.evidence_id)
    (lesson,) = findings_of(looking_back(runs=verified))
    assert isinstance(lesson.proposed, LessonProposed)


def test_what_was_spoken_about_is_not_said_again() -> None:
    (finding,) = findings_of(looking_back(runs=(FAILED, FAILED)))
    again = looking_back(runs=(FAILED, FAILED), spoken=(finding.code,))
    assert findings_of(again) == ()
    # A third failure of the same run of failures is the same finding.
    newer = msgspec.structs.replace(FAILED, outcome_id="newer")
    assert findings_of(looking_back(runs=(newer, FAILED, FAILED), spoken=(finding.code,))) == ()


def test_what_is_said_fits_the_contract() -> None:
    many = tuple(
        run(number, status="unknown", fingerprint=f"{number:064}", server="s" * 256, tool="t" * 256)
        for number in range(40)
    )
    reflection = reflection_of(findings_of(looking_back(runs=many)))
    assert len(reflection.proposals) == 16
    again = msgspec.json.decode(msgspec.json.encode(reflection), type=type(reflection))
    assert again == reflection


def test_the_mark_changes_with_what_there_is_to_reflect_on_alone() -> None:
    first = looking_back(runs=(FAILED,))
    same = msgspec.structs.replace(first, cycle_id="d", claim=2, now_ms=10, spoken=("x",))
    assert same.mark == first.mark
    verified = looking_back(runs=(msgspec.structs.replace(FAILED, verified=True),))
    assert len({first.mark, verified.mark, looking_back().mark}) == 3


def test_what_the_rules_say_breaks_no_rule_of_admission() -> None:
    ids = (SEEN.evidence_id,)
    held = HeldCall(
        evaluation_id="e",
        server="files",
        tool="delete_file",
        fingerprint="d" * 64,
        reasons=("plan.unmitigated",),
        evidence_ids=ids,
    )
    other = {"fingerprint": "a" * 64}
    runs = (
        *(FAILED, msgspec.structs.replace(FAILED, failure_mode="disk_full")),
        run(3, status="unknown"),
        run(4, expected=True),
        *(run(5, verified=True, **other), run(6, verified=True, **other)),
        run(7, status="failed", failure_mode="disk_full", fingerprint="b" * 64),
        run(8),
    )
    found = findings_of(
        looking_back(
            runs=runs,
            held=(held,) * 3,
            intentions=(OpenIntention(item_id="three", evidence_ids=ids, stale=True),),
            contradictions=(Contradicting(item_id="one", other_id="two", evidence_ids=ids),),
            granted=("files/search",),
        )
    )
    assert {finding.code.split(":")[0] for finding in found} == {
        "contradiction",
        "failed_again",
        "held_again",
        "lesson",
        "stale_intention",
        "unforeseen",
        "unseen_end",
        "unshown_receipt",
        "unused",
    }
    known = Known(
        evidence={
            SEEN.evidence_id: Support(
                evidence_id=SEEN.evidence_id, trust="tool_output", visibility="local_only"
            )
        }
    )
    assert [admit(finding.proposed, known) for finding in found] == [Admitted()] * len(found)
