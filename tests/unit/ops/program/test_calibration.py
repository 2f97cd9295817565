from typing import Any

from pmcl.ops.program.calibration import calibration_figures
from pmcl.ops.program.figure import Figure

TRIAL = {
    "seed": 1,
    "score": {"count": 10, "failures": 4, "top1": 0.75, "brier": 0.1, "ece": 0.02},
    "top1_of_best": 0.9,
    "moved": 2,
    "seen": 3,
}


def figures(recorded: dict[str, Any] | None) -> dict[str, Figure]:
    return {figure.name: figure for figure in calibration_figures(TRIAL, recorded)}


def test_scores_of_the_trial_are_told_with_their_cases() -> None:
    found = figures(None)
    top1 = found["failures in the mode that was forecast"]
    assert (top1.count, top1.n) == (3, 4)
    assert found["expected calibration error"].value == 0.02
    assert found["actions whose forecast moved after five outcomes"].count == 2
    assert found["material calls with a mitigation that failed"].unavailable == (
        "no trace file was given"
    )


def test_recordings_without_a_failure_say_nothing_of_mitigations() -> None:
    none = {"count": 5, "failures": 0}
    found = figures({"failures": 0, "mitigated": none, "unmitigated": none})
    assert found["material calls without one that failed"].unavailable == "no recorded call failed"


def test_recorded_failures_are_counted_by_mitigation() -> None:
    recorded = {
        "failures": 3,
        "mitigated": {"count": 5, "failures": 1},
        "unmitigated": {"count": 4, "failures": 2},
    }
    found = figures(recorded)
    shares = [
        (found[name].count, found[name].n)
        for name in (
            "material calls with a mitigation that failed",
            "material calls without one that failed",
        )
    ]
    assert shares == [(1, 5), (2, 4)]
    assert found["failures that a mitigation averted"].unavailable


def test_trial_without_a_failure_says_so() -> None:
    score = TRIAL["score"] | {"failures": 0, "top1": None}  # type: ignore[operator]
    found = calibration_figures({**TRIAL, "score": score, "top1_of_best": None}, None)
    assert [figure.unavailable for figure in found[:2]] == ["no such case in what was measured"] * 2
