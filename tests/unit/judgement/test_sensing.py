from collections.abc import Callable
from typing import Any

import pytest

from pmcl.contracts import CheckpointRequest, ExpectedReceipt, Justification
from pmcl.contracts.limits import FRESHNESS_MS
from pmcl.judgement import CitedEvidence, Inputs, judge

NOW_MS = 1_000_000
PURPOSE = Justification(necessity="the user asks what the door looks like")
RECEIPT = ExpectedReceipt(kind="photo")

Looks = Callable[..., Any]


@pytest.fixture(scope="session")
def looks(
    make_request: Callable[..., CheckpointRequest],
    make_inputs: Callable[..., Inputs],
    make_evidence: Callable[..., CitedEvidence],
    make_premortem: Any,
) -> Looks:
    def look(tool: str = "take_photo", observed_at: int = NOW_MS - 1, **changes: Any) -> Any:
        fields = {
            "justification": PURPOSE,
            "expected_receipt": RECEIPT,
            "premortem": make_premortem("A"),
        }
        request = make_request(tool, **(fields | changes))
        evidence = (make_evidence("A", observed_at=observed_at),)
        return judge(make_inputs(request, evidence=evidence)).evaluation

    return look


def test_sensing_with_purpose_evidence_and_receipt_passes(looks: Looks) -> None:
    evaluation = looks()
    assert evaluation.execution_check.effect == "sensing"
    assert (evaluation.checkpoint_status, evaluation.reasons) == ("passed", ())


@pytest.mark.parametrize(
    ("changes", "reason", "asked"),
    [
        ({"justification": None}, "sensing.purpose_missing", "justification.necessity"),
        (
            {"justification": Justification(necessity="  ")},
            "sensing.purpose_missing",
            "justification.necessity",
        ),
        ({"expected_receipt": None}, "sensing.receipt_missing", "expected_receipt"),
        ({"observed_at": NOW_MS - FRESHNESS_MS - 1}, "sensing.stale", "evidence_ids"),
    ],
)
def test_what_sensing_lacks_holds_and_is_asked_for(
    looks: Looks, changes: dict[str, Any], reason: str, asked: str
) -> None:
    evaluation = looks(**changes)
    assert reason in evaluation.reasons
    assert evaluation.checkpoint_status == "held"
    assert asked in evaluation.revision_request


def test_other_effects_need_none_of_it(looks: Looks) -> None:
    evaluation = looks("write_file", justification=None, expected_receipt=None)
    assert evaluation.checkpoint_status == "passed"


def test_sensing_that_moves_something_is_more_than_sensing(looks: Looks) -> None:
    assert looks("move_camera").execution_check.effect == "mutation"
    assert looks("take_photo_and_open_door").execution_check.effect == "mutation"
