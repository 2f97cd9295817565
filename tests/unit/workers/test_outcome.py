from typing import Any

import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    AuditReceipt,
    AuditRecorded,
    DisableLease,
    Evaluation,
    ExpectedReceipt,
    NumberClosed,
    OutcomeLinked,
    OutcomeListed,
    OutcomeParked,
    OutcomeVerified,
    Receipt,
    Subject,
    sha256,
)
from pmcl.workers import Incoming, OutcomeWorker
from tests.unit.workers.desk import NOTES, PLANS, TTL_MS, Desk, Ledger, premortem

pytestmark = pytest.mark.anyio

_TEXT = "the notes, as they are now"
_DIGEST = sha256(_TEXT.encode())
_EXPECTED = ExpectedReceipt(kind="file")
_RECEIPT = Receipt(kind="file", digest=_DIGEST)


async def _outcomes(ledger: Ledger) -> list[dict[str, Any]]:
    return await ledger.rows("SELECT * FROM outcomes ORDER BY outcome_id")


async def _open(ledger: Ledger) -> int:
    rows = await ledger.rows("SELECT count(*) AS n FROM evaluations WHERE open = 1")
    return int(rows[0]["n"])


async def test_an_outcome_is_linked_once_and_closes_its_evaluation(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation = await desk.passed()
    assert await _open(ledger) == 1
    outcome = desk.outcome(evaluation, duration_ms=12)
    await desk.report(outcome)
    await desk.report(outcome)
    (linked,) = await ledger.events(OutcomeLinked)
    assert (linked.outcome, linked.reported_by, linked.corrects) == (outcome, "host", None)
    assert linked.verified is False
    (closed,) = await ledger.events(NumberClosed)
    assert closed.reason == "repeat"
    assert len(await _outcomes(ledger)) == 1
    assert await _open(ledger) == 0


async def test_a_second_outcome_is_listed_and_the_first_stands(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.passed()
    first, second = desk.outcome(evaluation), desk.outcome(evaluation, status="failed")
    await desk.report(first)
    await desk.report(second)
    (listed,) = await ledger.events(OutcomeListed)
    assert (listed.outcome, listed.reason) == (second, "repeated")
    (row,) = await _outcomes(ledger)
    assert (row["outcome_id"], row["status"]) == (first.outcome_id, "succeeded")
    await desk.report(second)
    assert len(await ledger.rows("SELECT * FROM listed_outcomes")) == 1


async def test_an_outcome_of_another_proposal_is_listed(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.passed()
    await desk.report(desk.outcome(evaluation, proposal_hash="f" * 64))
    (listed,) = await ledger.events(OutcomeListed)
    assert listed.reason == "other_proposal"
    assert await _open(ledger) == 1
    await desk.report(desk.outcome(evaluation))
    assert await _open(ledger) == 0


async def test_an_outcome_of_a_held_call_is_listed(ledger: Ledger, desk: Desk) -> None:
    held = await desk.check(desk.request())
    assert held.checkpoint_status == "held"
    await desk.report(desk.outcome(held))
    (listed,) = await ledger.events(OutcomeListed)
    assert listed.reason == "not_passed"
    assert await _outcomes(ledger) == []


async def test_an_outcome_of_no_known_evaluation_is_parked_once(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.passed()
    outcome = desk.outcome(evaluation, evaluation_id=ulid_now())
    await desk.report(outcome)
    await desk.report(outcome)
    (parked,) = await ledger.events(OutcomeParked)
    assert parked.outcome == outcome
    assert len(await ledger.rows("SELECT * FROM parked_outcomes")) == 1
    assert await ledger.sweep() == 0
    assert await _open(ledger) == 1


async def test_an_outcome_of_another_hosts_evaluation_is_parked_for_ever(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation = await desk.passed()
    other = Desk(ledger, host="other")
    await other.begin()
    await other.report(other.outcome(evaluation))
    assert len(await ledger.events(OutcomeParked)) == 1
    assert await ledger.sweep() == 0
    assert await _outcomes(ledger) == []
    await desk.report(desk.outcome(evaluation))
    (row,) = await _outcomes(ledger)
    assert row["host"] == "desk"


async def _judge_later(desk: Desk) -> tuple[Evaluation, Any]:
    """The evaluation that a call will get, and what commits it."""
    seen = await desk.observe(resources=(NOTES,))
    request = desk.request(premortem=premortem(seen), expected_receipt=_EXPECTED)
    incoming = Incoming(
        subject=Subject("checkpoint", desk.scope, desk.host, "tool"), body=request, epoch=desk.epoch
    )
    prepared = await desk.checkpoint.prepare(incoming)
    told = await desk.check(desk.request("format_disk"))
    foreseen = msgspec.structs.replace(
        told, evaluation_id=prepared.evaluation_id, proposal_hash=request.proposal_hash
    )

    async def commit() -> Any:
        return await desk.ledger.units.answer(desk.checkpoint, incoming, prepared)

    return foreseen, commit


async def test_a_parked_outcome_is_linked_when_its_evaluation_comes(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation, commit = await _judge_later(desk)
    outcome = desk.outcome(evaluation, receipt=_RECEIPT)
    await desk.report(outcome)
    assert len(await ledger.events(OutcomeParked)) == 1
    assert (await commit()).evaluation_id == evaluation.evaluation_id
    assert await ledger.sweep() == 1
    assert await ledger.sweep() == 0
    (linked,) = await ledger.events(OutcomeLinked)
    assert linked.outcome == outcome
    assert await ledger.rows("SELECT * FROM parked_outcomes") == []


async def test_of_two_parked_outcomes_one_is_linked_and_one_listed(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation, commit = await _judge_later(desk)
    for status in ("succeeded", "failed"):
        await desk.report(desk.outcome(evaluation, status=status))
    await commit()
    while await ledger.sweep():
        pass
    assert len(await ledger.events(OutcomeLinked)) == 1
    (listed,) = await ledger.events(OutcomeListed)
    assert listed.reason == "repeated"
    assert await ledger.rows("SELECT * FROM parked_outcomes") == []


async def test_a_parked_outcome_and_the_end_of_its_lease_give_one_outcome(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation, commit = await _judge_later(desk)
    await desk.report(desk.outcome(evaluation))
    await commit()
    ledger.clock.now_ms += 2 * TTL_MS
    while await ledger.sweep():
        pass
    rows = await ledger.rows("SELECT * FROM outcomes WHERE corrected_by IS NULL")
    assert [(row["reported_by"], row["status"]) for row in rows] == [("host", "succeeded")]


async def test_a_parked_outcome_whose_id_was_used_elsewhere_lets_the_sweep_end(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation, commit = await _judge_later(desk)
    outcome = desk.outcome(evaluation)
    await desk.report(outcome)
    other = await desk.passed()
    await desk.report(desk.outcome(other, outcome_id=outcome.outcome_id))
    await commit()
    swept = [await ledger.sweep() for _ in range(3)]
    assert swept[-1] == 0


async def test_an_abandoned_verdict_becomes_unknown_and_the_true_outcome_corrects_it(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation = await desk.passed()
    await desk.say("disable", DisableLease)
    assert await ledger.sweep() == 0, "the verdict itself still lives"
    ledger.clock.now_ms = evaluation.expires_at
    assert await ledger.sweep() == 1
    assert await ledger.sweep() == 0
    (guess,) = await ledger.events(OutcomeLinked)
    assert (guess.outcome.status, guess.reported_by) == ("unknown", "sidecar")
    assert guess.outcome.proposal_hash == evaluation.proposal_hash
    true = desk.outcome(evaluation)
    await desk.report(true)
    _, correction = await ledger.events(OutcomeLinked)
    assert (correction.outcome, correction.corrects) == (true, guess.outcome.outcome_id)
    rows = await ledger.rows("SELECT outcome_id FROM outcomes WHERE corrected_by IS NULL")
    assert rows == [{"outcome_id": true.outcome_id}]
    await desk.report(desk.outcome(evaluation))
    assert len(await ledger.events(OutcomeListed)) == 1


async def test_a_verdict_of_a_living_lease_is_left_open(ledger: Ledger, desk: Desk) -> None:
    await desk.passed()
    ledger.clock.now_ms += TTL_MS - 1
    await desk.begin()
    ledger.clock.now_ms += TTL_MS - 1
    assert await ledger.sweep() == 0
    assert await _open(ledger) == 1


@pytest.mark.parametrize("evidence_first", [True, False], ids=["before", "after"])
async def test_a_receipt_is_verified_by_evidence_in_either_order(
    ledger: Ledger, desk: Desk, *, evidence_first: bool
) -> None:
    evaluation = await desk.passed(expected_receipt=_EXPECTED)
    if evidence_first:
        await desk.observe(detail=_TEXT)
    outcome = desk.outcome(evaluation, receipt=_RECEIPT)
    await desk.report(outcome)
    if not evidence_first:
        assert (await _outcomes(ledger))[0]["verified"] == 0
        seen = await desk.observe(detail=_TEXT)
        (verified,) = await ledger.events(OutcomeVerified)
        assert (verified.outcome_id, verified.evidence_id) == (outcome.outcome_id, seen)
        await desk.observe(detail=_TEXT)
    assert len(await ledger.events(OutcomeVerified)) == (0 if evidence_first else 1)
    assert [row["verified"] for row in await _outcomes(ledger)] == [1]


_UNVERIFIED: dict[str, tuple[ExpectedReceipt | None, Receipt | None, dict[str, Any]]] = {
    "a model wrote it": (_EXPECTED, _RECEIPT, {"trust": "model"}),
    "another text": (_EXPECTED, _RECEIPT, {"detail": _TEXT + "!"}),
    "no receipt": (_EXPECTED, None, {}),
    "no receipt expected": (None, _RECEIPT, {}),
    "another kind": (ExpectedReceipt(kind="row"), _RECEIPT, {}),
    "another digest expected": (ExpectedReceipt(kind="file", digest="a" * 64), _RECEIPT, {}),
    "no detail": (_EXPECTED, _RECEIPT, {"detail": None, "summary": _TEXT}),
}


@pytest.mark.parametrize("evidence_first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(
    ("expected", "receipt", "changes"), _UNVERIFIED.values(), ids=_UNVERIFIED.keys()
)
async def test_nothing_else_verifies(
    ledger: Ledger,
    desk: Desk,
    *,
    expected: ExpectedReceipt | None,
    receipt: Receipt | None,
    changes: dict[str, Any],
    evidence_first: bool,
) -> None:
    evaluation = await desk.passed(expected_receipt=expected)
    observed = {"detail": _TEXT, **changes}
    if evidence_first:
        await desk.observe(**observed)
    await desk.report(desk.outcome(evaluation, receipt=receipt))
    await desk.observe(**observed)
    assert [row["verified"] for row in await _outcomes(ledger)] == [0]
    assert await ledger.events(OutcomeVerified) == []


async def test_evidence_of_another_scope_verifies_nothing(ledger: Ledger, desk: Desk) -> None:
    foreign = Desk(ledger, scope="elsewhere")
    await foreign.begin()
    await foreign.observe(detail=_TEXT)
    evaluation = await desk.passed(expected_receipt=_EXPECTED)
    await desk.report(desk.outcome(evaluation, receipt=_RECEIPT))
    await foreign.observe(detail=_TEXT)
    assert [row["verified"] for row in await _outcomes(ledger)] == [0]


async def test_the_expected_digest_itself_verifies(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.passed(expected_receipt=ExpectedReceipt(kind="file", digest=_DIGEST))
    await desk.observe(detail=_TEXT)
    await desk.report(desk.outcome(evaluation, receipt=_RECEIPT))
    assert [row["verified"] for row in await _outcomes(ledger)] == [1]


async def test_an_audit_receipt_is_recorded_once(ledger: Ledger, desk: Desk) -> None:
    receipt = AuditReceipt(
        audit_id=ulid_now(),
        call_id="call-1",
        proposal_hash="e" * 64,
        cause="timeout",
        finished_at=ledger.clock.now_ms,
        status="succeeded",
    )
    await desk.report(receipt)
    await desk.report(receipt)
    (recorded,) = await ledger.events(AuditRecorded)
    assert recorded.receipt == receipt
    assert len(await ledger.rows("SELECT * FROM audits")) == 1
    assert len(await ledger.events(NumberClosed)) == 1


async def test_a_failed_outcome_changes_the_next_checks_of_the_same_action(
    ledger: Ledger, desk: Desk
) -> None:
    first = await desk.passed()
    assert first.plan_check.forecast.mode == "wrong_target"
    await desk.report(desk.outcome(first, status="failed", failure_mode="disk_full"))
    again = await desk.check(desk.request())
    assert again.state_check.recent_failures == ("disk_full",)
    forecast = again.plan_check.forecast
    assert (forecast.mode, forecast.failures, forecast.runs) == ("disk_full", 1, 1)
    elsewhere = await desk.check(desk.request("append_file"))
    assert elsewhere.state_check.recent_failures == ()


@pytest.mark.parametrize("status", ["cancelled", "unknown", "unused"])
async def test_other_outcomes_count_as_no_run(desk: Desk, status: str) -> None:
    first = await desk.passed()
    await desk.report(desk.outcome(first, status=status))
    again = await desk.check(desk.request())
    assert (again.plan_check.forecast.failures, again.plan_check.forecast.runs) == (0, 0)


async def test_a_corrected_unknown_counts_as_what_it_was(ledger: Ledger, desk: Desk) -> None:
    first = await desk.passed()
    ledger.clock.now_ms += 2 * TTL_MS
    while await ledger.sweep():
        pass
    await desk.report(desk.outcome(first, status="failed", failure_mode="disk_full"))
    await desk.begin()
    again = await desk.check(desk.request())
    assert (again.plan_check.forecast.failures, again.plan_check.forecast.runs) == (1, 1)


async def test_a_failure_moves_what_is_forecast_of_the_same_tool_and_effect(
    ledger: Ledger, desk: Desk
) -> None:
    failed = desk.outcome(await desk.passed(), status="failed", failure_mode="disk_full")
    await desk.report(failed)
    tables = {row["level"]: row for row in await ledger.rows("SELECT * FROM outcome_counts")}
    assert {level: (row["mode"], row["seen"]) for level, row in tables.items()} == dict.fromkeys(
        ("action", "tool", "effect"), ("disk_full", 1)
    )
    for other in (desk.request(resources=(PLANS,)), desk.request("append_file")):
        forecast = (await desk.check(other)).plan_check.forecast
        assert (forecast.mode, forecast.runs) == ("disk_full", 0)
    elsewhere = Desk(ledger, scope="elsewhere")
    await elsewhere.begin()
    untouched = (await elsewhere.check(elsewhere.request())).plan_check.forecast
    assert untouched.mode == "wrong_target"


async def test_modes_beyond_the_sixteenth_are_counted_together(ledger: Ledger, desk: Desk) -> None:
    modes = [f"mode_{number:02}" for number in range(19)]
    for mode in [*modes, modes[0]]:
        evaluation = await desk.passed()
        await desk.report(desk.outcome(evaluation, status="failed", failure_mode=mode))
    rows = await ledger.rows("SELECT mode, seen FROM outcome_counts WHERE level = 'action'")
    seen = {row["mode"]: row["seen"] for row in rows}
    assert (len(seen), seen["other"], seen[modes[0]]) == (17, 3, 2)


async def test_outcomes_need_no_living_lease(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.passed()
    await desk.begin(host_epoch=ulid_now())
    await desk.report(desk.outcome(evaluation))
    assert len(await ledger.events(OutcomeLinked)) == 1


def test_the_worker_takes_outcomes_and_audit_receipts_only() -> None:
    assert {kind.__name__ for kind in OutcomeWorker().accepts} == {"Outcome", "AuditReceipt"}
