from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.contracts import (
    ArbitrationTicket,
    Evaluation,
    ExpectedReceipt,
    Justification,
    decode,
    encode,
)
from pmcl.judgement import History, Inputs, OpenHold, PastFailure, Tally, judge

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NOW_MS = 1_000_000


def test_evaluation_has_every_field_of_the_contract(make_request: Any, make_inputs: Any) -> None:
    evaluation = judge(make_inputs(make_request())).evaluation
    assert set(msgspec.to_builtins(evaluation)) == {
        "schema",
        "evaluation_id",
        "call_id",
        "generation",
        "checkpoint_status",
        "state_check",
        "plan_check",
        "execution_check",
        "evidence_ids",
        "self_model_version_id",
        "proposal_hash",
        "expires_at",
        "valid_for_ms",
        "reasons",
        "revision_request",
        "approval_id",
        "ticket",
        "received",
    }
    assert decode(encode(evaluation), Evaluation) == evaluation


def test_verdict_echoes_what_the_host_compares(make_request: Any, make_inputs: Any) -> None:
    evaluation = judge(make_inputs(make_request())).evaluation
    assert evaluation.evaluation_id == ULID + "1"
    assert evaluation.call_id == "call-1"
    assert evaluation.generation == 3
    assert evaluation.proposal_hash == "a" * 64
    assert evaluation.received is None


@pytest.mark.parametrize(("tool", "status"), [("read_file", "passed"), ("write_file", "held")])
def test_ticket_holds_the_decision(
    tool: str, status: Any, make_request: Any, make_inputs: Any
) -> None:
    evaluation = judge(make_inputs(make_request(tool))).evaluation
    effect = evaluation.execution_check.effect
    assert evaluation.checkpoint_status == status
    assert evaluation.ticket == ArbitrationTicket(decision=status, effect=effect, generation=3)


@pytest.mark.parametrize(
    ("lease_left_ms", "valid_for_ms"),
    [(600_000, 60_000), (60_001, 60_000), (59_999, 59_999), (1, 1), (0, 0), (-1, 0)],
)
def test_verdict_outlives_neither_a_minute_nor_the_lease(
    lease_left_ms: int, valid_for_ms: int, make_request: Any, make_inputs: Any
) -> None:
    inputs = make_inputs(make_request("read_file"), lease_expires_at=NOW_MS + lease_left_ms)
    evaluation = judge(inputs).evaluation
    assert evaluation.valid_for_ms == valid_for_ms
    assert evaluation.expires_at == NOW_MS + min(lease_left_ms, 60_000)


def test_execution_check_repeats_the_justification(make_request: Any, make_inputs: Any) -> None:
    request = make_request(
        effect="mutation",
        justification=Justification(
            necessity="the note is asked for",
            lower_risk_alternatives=("print it: nobody would keep it",),
            residual_risks=("the old text is gone",),
        ),
        expected_receipt=ExpectedReceipt(kind="file"),
    )
    check = judge(make_inputs(request)).evaluation.execution_check
    assert check.effect == "mutation"
    assert check.reversibility == "compensable"
    assert check.necessity == "the note is asked for"
    assert check.lower_risk_alternatives == ("print it: nobody would keep it",)
    assert check.residual_risks == ("the old text is gone",)
    assert check.expected_receipt == ExpectedReceipt(kind="file")
    assert check.least_privilege


def test_missing_justification_is_explicitly_missing(make_request: Any, make_inputs: Any) -> None:
    check = judge(make_inputs(make_request())).evaluation.execution_check
    assert (check.necessity, check.expected_receipt) == (None, None)
    assert (check.lower_risk_alternatives, check.residual_risks) == ((), ())


@pytest.mark.parametrize(
    ("claim", "lease_left_ms", "least"),
    [
        ("mutation", 1, 1),
        ("execution", 1, 1),
        ("network", 1, 0),
        (None, 1, 0),
        ("mutation", 0, 0),
    ],
)
def test_least_privilege_needs_an_honest_claim_and_authority(
    claim: Any, lease_left_ms: int, least: int, make_request: Any, make_inputs: Any
) -> None:
    request = make_request(effect=claim)
    inputs = make_inputs(request, lease_expires_at=NOW_MS + lease_left_ms)
    assert judge(inputs).evaluation.execution_check.least_privilege is bool(least)


def test_evidence_ids_fit_the_contract(
    make_request: Any, make_inputs: Any, make_evidence: Any, make_premortem: Any
) -> None:
    cited = [one + other for one in "AB" for other in LETTERS]
    named = [one + other for one in "CD" for other in LETTERS]
    evidence = tuple(make_evidence(evidence_id=ULID[:-1] + letters) for letters in (*cited, *named))
    ids = tuple(item.evidence_id for item in evidence)
    premortem = msgspec.structs.replace(make_premortem(), evidence_ids=ids[64:])
    request = make_request(evidence_ids=ids[:64], premortem=premortem)
    evaluation = judge(make_inputs(request, evidence=evidence)).evaluation
    assert evaluation.evidence_ids == ids[64:]
    assert evaluation.plan_check.evidence_ids == ids[64:]
    assert decode(encode(evaluation), Evaluation) == evaluation


@given(data=st.data())
def test_judge_is_pure_and_inputs_survive_storage(
    data: st.DataObject,
    make_request: Any,
    make_inputs: Any,
    make_evidence: Any,
    make_premortem: Any,
) -> None:
    draw = data.draw
    letters = st.lists(st.sampled_from("ABCD"), unique=True)
    request = make_request(
        draw(st.sampled_from(["read_file", "write_file", "send", "zzz", "take_photo"])),
        evidence_ids=tuple(ULID + letter for letter in draw(letters)),
        premortem=draw(st.none() | st.builds(make_premortem, st.sampled_from("ABCD"))),
        effect=draw(st.sampled_from([None, "inspect_local", "execution"])),
        arguments=draw(st.dictionaries(st.text(max_size=5), st.integers(-5, 5))),
    )
    evidence = tuple(
        make_evidence(letter, generation=draw(st.integers(2, 3)), erased=draw(st.booleans()))
        for letter in draw(letters)
    )
    holds = tuple(
        OpenHold(
            hold_id=letter,
            effect="mutation",
            resource_keys=("key-notes",),
            reason="plan.unmitigated",
            cited=(ULID + letter,),
        )
        for letter in draw(letters)
    )
    failure = PastFailure(outcome_id="o", mode="timeout", at_ms=1)
    known = Tally(runs=2, failed=(("timeout", 1),))
    history = History(action=known, recent=(failure,)) if draw(st.booleans()) else History()
    inputs = make_inputs(request, evidence=evidence, holds=holds, history=history)
    stored = encode(inputs)
    first = judge(inputs)
    assert encode(inputs) == stored
    again = judge(decode(stored, Inputs))
    assert msgspec.json.encode(again) == msgspec.json.encode(first)
    passed = first.evaluation.checkpoint_status == "passed"
    assert passed == (not first.evaluation.reasons)
    assert passed or not first.released
    assert not (passed and first.hold_reason)
    if passed and first.evaluation.execution_check.effect != "inspect_local":
        assert {release.hold_id for release in first.released} == {hold.hold_id for hold in holds}
