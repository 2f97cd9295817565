"""Only verified runs teach, each by evidence of its own; a failure and an erasure unteach."""

from functools import partial
from typing import Any

import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    EraseContent,
    Evaluation,
    ExpectedReceipt,
    LessonDemoted,
    LessonMatured,
    LessonSupported,
    Outcome,
    Receipt,
    Subject,
    Tool,
    proposal_hash,
    sha256,
)
from pmcl.judgement import LESSON_RUNS_MAX
from pmcl.ledger import erasures
from pmcl.workers import Incoming, erase_payloads
from tests.unit.workers.desk import NOTES, PLANS, Desk, Ledger, premortem

pytestmark = pytest.mark.anyio

_EXPECTED = ExpectedReceipt(kind="file")


def _receipt(text: str) -> Receipt:
    return Receipt(kind="file", digest=sha256(text.encode()))


async def _dispatched(desk: Desk, **changes: Any) -> Evaluation:
    desk.ledger.clock.now_ms += 1
    return await desk.passed(**{"expected_receipt": _EXPECTED, **changes})


async def _run(desk: Desk, text: str, **changes: Any) -> Outcome:
    """A run that counts: it succeeded, and what it left behind was observed."""
    outcome = desk.outcome(await _dispatched(desk, **changes), receipt=_receipt(text))
    await desk.report(outcome)
    await desk.observe(detail=text)
    return outcome


async def _runs(desk: Desk, count: int) -> list[Outcome]:
    return [await _run(desk, f"version {number} of {ulid_now()}") for number in range(count)]


async def _lesson(ledger: Ledger) -> dict[str, Any]:
    (row,) = await ledger.rows("SELECT * FROM lessons")
    return row


async def _erase(desk: Desk, *ids: str) -> None:
    asked = EraseContent(scope=desk.scope, evidence_ids=(), label="ann")
    await desk.say_as_operator("erase", asked)
    erasure = await desk.ledger.writer.run(erasures.first_open)
    assert erasure is not None
    await desk.ledger.units.tell(partial(erase_payloads, erasure, ids))


async def test_the_third_verified_run_of_an_action_matures_its_lesson(
    ledger: Ledger, desk: Desk
) -> None:
    outcomes = await _runs(desk, 2)
    assert await ledger.events(LessonMatured) == []
    assert (await _lesson(ledger))["state"] == "gathering"
    outcomes += await _runs(desk, 1)
    (matured,) = await ledger.events(LessonMatured)
    assert set(matured.outcome_ids) == {outcome.outcome_id for outcome in outcomes}
    lesson = await _lesson(ledger)
    assert (lesson["state"], lesson["runs"], lesson["tool"]) == ("mature", 3, "write_file")
    await _runs(desk, 1)
    assert len(await ledger.events(LessonMatured)) == 1
    assert (await _lesson(ledger))["runs"] == 4


async def test_a_receipt_that_is_observed_before_its_outcome_counts_as_well(
    ledger: Ledger, desk: Desk
) -> None:
    for number in range(3):
        run = await _dispatched(desk)
        seen = await desk.observe(detail=f"version {number}")
        await desk.report(desk.outcome(run, receipt=_receipt(f"version {number}")))
        supported = (await ledger.events(LessonSupported))[-1]
        assert (supported.evidence_id, supported.evaluation_id) == (seen, run.evaluation_id)
    assert (await _lesson(ledger))["state"] == "mature"


_NEVER: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "cancelled": ({}, {"status": "cancelled"}, {}),
    "unknown": ({}, {"status": "unknown"}, {}),
    "unused": ({}, {"status": "unused"}, {}),
    "no receipt": ({}, {"receipt": None}, {}),
    "a receipt of another kind": ({"expected_receipt": ExpectedReceipt(kind="row")}, {}, {}),
    "no receipt was expected": ({"expected_receipt": None}, {}, {}),
    "a model says so": ({}, {}, {"trust": "model"}),
    "something else was seen": ({}, {}, {"detail": "something else"}),
    "nothing was seen": ({}, {}, {"detail": None}),
}


@pytest.mark.parametrize(("asked", "ended", "seen"), _NEVER.values(), ids=_NEVER.keys())
async def test_no_other_run_ever_counts(
    ledger: Ledger, desk: Desk, asked: Any, ended: Any, seen: Any
) -> None:
    await _runs(desk, 2)
    for number in range(3):
        text = f"unlike {number}"
        run = await _dispatched(desk, **asked)
        await desk.report(desk.outcome(run, **{"receipt": _receipt(text), **ended}))
        await desk.observe(**{"detail": text, **seen})
    assert await ledger.events(LessonMatured) == []
    assert (await _lesson(ledger))["runs"] == 2


async def test_a_hundred_copies_of_one_run_count_once(ledger: Ledger, desk: Desk) -> None:
    outcome = await _run(desk, "the same")
    for _ in range(100):
        await desk.report(outcome)
        await desk.report(msgspec.structs.replace(outcome, outcome_id=ulid_now()))
    observed = desk.observation(detail="once more")
    for _ in range(3):
        await desk.tell(desk.observer, observed)
    assert (await _lesson(ledger))["runs"] == 1


async def test_evidence_stands_for_one_run_however_many_receipts_are_alike(
    ledger: Ledger, desk: Desk
) -> None:
    runs = [await _dispatched(desk) for _ in range(5)]
    await desk.observe(detail="the same")
    for run in runs:
        await desk.report(desk.outcome(run, receipt=_receipt("the same")))
    rows = await ledger.rows("SELECT verified FROM outcomes")
    assert [row["verified"] for row in rows] == [1] * 5
    assert (await _lesson(ledger))["runs"] == 1
    await desk.observe(detail="the same")
    assert await ledger.events(LessonMatured) == []
    await desk.observe(detail="the same")
    assert len(await ledger.events(LessonMatured)) == 1


async def test_evidence_that_verifies_many_at_once_stands_for_one(
    ledger: Ledger, desk: Desk
) -> None:
    runs = [await _dispatched(desk) for _ in range(5)]
    for run in runs:
        await desk.report(desk.outcome(run, receipt=_receipt("the same")))
    await desk.observe(detail="the same")
    (supported,) = await ledger.events(LessonSupported)
    assert supported.evaluation_id == runs[-1].evaluation_id, "the latest that it can show"


async def test_evidence_stands_for_one_action_only(ledger: Ledger, desk: Desk) -> None:
    await _runs(desk, 1)
    run = await _dispatched(desk)
    other = await _dispatched(desk, tool="append_file")
    await desk.observe(detail="the same")
    for each in (other, run):
        await desk.report(desk.outcome(each, receipt=_receipt("the same")))
    rows = await ledger.rows("SELECT tool, runs FROM lessons ORDER BY tool")
    assert [(row["tool"], row["runs"]) for row in rows] == [("append_file", 1), ("write_file", 1)]


async def test_what_was_seen_before_the_verdict_shows_no_run(ledger: Ledger, desk: Desk) -> None:
    texts = [f"version {number}" for number in range(3)]
    for text in texts:
        await desk.observe(detail=text)
    for text in texts:
        run = await _dispatched(desk)
        await desk.report(desk.outcome(run, receipt=_receipt(text)))
    assert await ledger.events(LessonSupported) == []


async def test_scopes_learn_apart(ledger: Ledger, desk: Desk) -> None:
    elsewhere = Desk(ledger, scope="elsewhere")
    await elsewhere.begin()
    await _runs(desk, 2)
    await _runs(elsewhere, 2)
    assert await ledger.events(LessonMatured) == []


async def test_hosts_of_a_scope_learn_together(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    await _runs(desk, 2)
    await _runs(other, 1)
    assert len(await ledger.events(LessonMatured)) == 1


async def test_a_failed_run_demotes_and_nothing_before_it_counts_again(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 3)
    late = desk.outcome(await _dispatched(desk), receipt=_receipt("late"))
    failed = desk.outcome(await _dispatched(desk), status="failed", failure_mode="disk_full")
    await desk.report(failed)
    (demoted,) = await ledger.events(LessonDemoted)
    assert (demoted.reason, demoted.outcome_id) == ("failed_run", None)
    assert demoted.by == failed.outcome_id
    await desk.report(late)
    await desk.observe(detail="late")
    lesson = await _lesson(ledger)
    assert (lesson["state"], lesson["runs"], lesson["reason"]) == ("demoted", 0, "failed_run")
    await _runs(desk, 2)
    assert (await _lesson(ledger))["state"] == "gathering"
    await _runs(desk, 1)
    assert (await _lesson(ledger))["state"] == "mature"


async def test_a_failure_makes_a_lesson_start_anew_before_it_is_mature(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 2)
    await desk.report(desk.outcome(await _dispatched(desk), status="failed"))
    await _runs(desk, 2)
    assert await ledger.events(LessonMatured) == []


async def test_a_failure_of_an_action_without_a_lesson_says_nothing(
    ledger: Ledger, desk: Desk
) -> None:
    await desk.report(desk.outcome(await _dispatched(desk), status="failed"))
    assert await ledger.events(LessonDemoted) == []


@pytest.mark.parametrize("of", ["evidence_id", "evaluation_id"])
async def test_a_run_whose_evidence_or_proposal_is_erased_counts_no_more(
    ledger: Ledger, desk: Desk, of: str
) -> None:
    await _runs(desk, 3)
    run = (await ledger.events(LessonSupported))[0]
    await _erase(desk, getattr(run, of))
    (demoted,) = await ledger.events(LessonDemoted)
    assert (demoted.reason, demoted.outcome_id) == ("lost_support", run.outcome_id)
    assert demoted.by == getattr(run, of)
    lesson = await _lesson(ledger)
    assert (lesson["state"], lesson["runs"]) == ("demoted", 2)
    assert len(await ledger.events(LessonMatured)) == 1
    await _runs(desk, 1)
    assert (await _lesson(ledger))["state"] == "mature"


async def test_a_lesson_with_more_runs_than_it_needs_outlives_the_loss_of_one(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 4)
    lost = (await ledger.events(LessonSupported))[-1]
    await _erase(desk, lost.evidence_id)
    lesson = await _lesson(ledger)
    assert (lesson["state"], lesson["runs"]) == ("mature", 3)
    again = (await ledger.events(LessonMatured))[-1]
    assert lost.outcome_id not in again.outcome_ids


async def test_a_run_that_other_evidence_shows_as_well_counts_on(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 2)
    await _run(desk, "the same")
    spare = await desk.observe(detail="the same")
    lost = (await ledger.events(LessonSupported))[-1]
    await _erase(desk, lost.evidence_id)
    again = (await ledger.events(LessonSupported))[-1]
    assert (again.outcome_id, again.evidence_id) == (lost.outcome_id, spare)
    assert (await _lesson(ledger))["state"] == "mature"


async def test_a_tool_that_describes_itself_otherwise_starts_anew(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 3)
    seen = await desk.observe(resources=(NOTES,))
    request = msgspec.structs.replace(
        desk.request(premortem=premortem(seen), expected_receipt=_EXPECTED),
        tool=Tool(server="files", name="write_file", definition_hash="e" * 64),
    )
    hashed = proposal_hash(desk.scope, desk.host, request)
    run = await desk.check(msgspec.structs.replace(request, proposal_hash=hashed))
    outcome = desk.outcome(run, receipt=_receipt("as redefined"))
    await desk.report(outcome)
    await desk.observe(detail="as redefined")
    (demoted,) = await ledger.events(LessonDemoted)
    assert (demoted.reason, demoted.by) == ("redefined_tool", outcome.outcome_id)
    lesson = await _lesson(ledger)
    assert (lesson["state"], lesson["runs"]) == ("gathering", 1)
    assert lesson["definition_hash"] == "e" * 64


async def test_a_parked_outcome_teaches_when_it_is_linked(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe(resources=(NOTES,))
    request = desk.request(premortem=premortem(seen), expected_receipt=_EXPECTED)
    subject = Subject("checkpoint", desk.scope, desk.host, "tool")
    incoming = Incoming(subject=subject, body=request, epoch=desk.epoch)
    prepared = await desk.checkpoint.prepare(incoming)
    told = await desk.check(desk.request("format_disk"))
    foreseen = msgspec.structs.replace(
        told, evaluation_id=prepared.evaluation_id, proposal_hash=request.proposal_hash
    )
    await desk.report(desk.outcome(foreseen, receipt=_receipt("early")))
    await ledger.units.answer(desk.checkpoint, incoming, prepared)
    await desk.observe(detail="early")
    assert await ledger.events(LessonSupported) == []
    while await ledger.sweep():
        pass
    (supported,) = await ledger.events(LessonSupported)
    assert supported.evaluation_id == prepared.evaluation_id


async def test_a_mature_lesson_lets_what_can_be_undone_pass_until_it_fails(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 5)
    learned = await desk.check(desk.request(expected_receipt=_EXPECTED))
    forecast = learned.plan_check.forecast
    assert (learned.checkpoint_status, forecast.verified_runs) == ("passed", 5)
    assert forecast.lesson == (await _lesson(ledger))["fingerprint"]
    elsewhere = await desk.check(desk.request(resources=(PLANS,)))
    assert elsewhere.reasons == ("plan.unmitigated",)
    await desk.report(desk.outcome(learned, status="failed"))
    ledger.clock.now_ms += 1
    again = await desk.check(desk.request())
    assert (again.reasons, again.plan_check.forecast.lesson) == (("plan.unmitigated",), None)


async def test_a_request_for_revision_names_what_a_verified_run_cited(
    ledger: Ledger, desk: Desk
) -> None:
    await _runs(desk, 3)
    (cited,) = msgspec.json.decode(
        (await ledger.rows("SELECT cited FROM evaluations ORDER BY evaluation_id DESC"))[0]["cited"]
    )
    held = await desk.check(desk.request())
    assert held.revision_request is not None
    assert f"Verified runs of this action cited {cited} from read_file." in held.revision_request
    await _erase(desk, cited)
    again = await desk.check(desk.request())
    assert again.revision_request is not None
    assert cited not in again.revision_request


async def test_no_more_runs_are_counted_than_a_lesson_can_use(ledger: Ledger, desk: Desk) -> None:
    await _runs(desk, LESSON_RUNS_MAX + 2)
    assert (await _lesson(ledger))["runs"] == LESSON_RUNS_MAX
    assert len(await ledger.rows("SELECT * FROM lesson_runs")) == LESSON_RUNS_MAX
