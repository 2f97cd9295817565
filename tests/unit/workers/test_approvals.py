"""Approvals through the real workers and a real ledger."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    ApprovalDecidedError,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    Approvals,
    ApprovalUsed,
    Evaluation,
    ListApprovals,
    NotAvailableError,
    ResumeLease,
    ShowApproval,
    ShownApproval,
    Tool,
    UnknownApprovalError,
    decode,
    encode,
    proposal_hash,
)
from pmcl.contracts.limits import APPROVAL_TTL_MS, APPROVALS_WAITING_MAX
from pmcl.judgement import judge
from pmcl.ledger.evaluations import Judged
from tests.unit.workers.desk import (
    NOTES,
    PLANS,
    TTL_MS,
    Desk,
    Ledger,
    open_ledger,
    premortem,
)

pytestmark = pytest.mark.anyio

REQUIRED = ("authority.approval_required",)


async def _states(ledger: Ledger) -> list[str]:
    return [row["state"] for row in await ledger.rows("SELECT state FROM approvals")]


async def test_a_held_call_is_listed_and_shown_with_what_was_proposed(
    ledger: Ledger, desk: Desk
) -> None:
    held = await desk.asked(goal="rename the notes")
    assert held.reasons == REQUIRED
    assert held.approval_id == held.evaluation_id
    listed = await desk.say_as_operator("approvals", ListApprovals())
    assert isinstance(listed, Approvals)
    (approval,) = listed.approvals
    assert (approval.state, approval.scope, approval.host) == ("pending", "team", "desk")
    assert (approval.server, approval.tool, approval.effect) == ("files", "rename_file", "mutation")
    shown = await desk.say_as_operator("approval", ShowApproval(approval_id=held.evaluation_id))
    assert isinstance(shown, ShownApproval)
    assert shown.approval == approval
    assert shown.request is not None
    assert shown.request.goal == "rename the notes"
    assert shown.request.arguments == {"path": NOTES.value, "text": "done"}
    assert shown.reasons == REQUIRED
    bodies = b"".join(body for _, body in await ledger.journal())
    for content in (b"rename the notes", b"notes.txt", b"done"):
        assert content not in bodies


async def test_a_grant_is_used_by_the_next_call_and_by_no_other(ledger: Ledger, desk: Desk) -> None:
    held = await desk.asked()
    granted = await desk.grant(held)
    assert (granted.state, granted.approver) == ("granted", "operator/ann")
    assert granted.expires_at == ledger.clock.now_ms + APPROVAL_TTL_MS
    passed = await desk.asked()
    assert passed.checkpoint_status == "passed"
    assert passed.approval_id == held.evaluation_id
    (used,) = await ledger.events(ApprovalUsed)
    assert used.evaluation_id == passed.evaluation_id
    again = await desk.asked()
    assert again.reasons == REQUIRED
    assert again.approval_id == again.evaluation_id
    assert len(await ledger.events(ApprovalRequested)) == 2


async def test_the_old_call_id_keeps_its_answer_and_the_new_one_its_pass(
    ledger: Ledger, desk: Desk
) -> None:
    seen = await desk.observe(resources=(NOTES,))
    request = desk.request("rename_file", premortem=premortem(seen))
    held = await desk.check(request)
    await desk.grant(held)
    assert (await desk.check(request)).evaluation_id == held.evaluation_id
    retry = msgspec.structs.replace(request, call_id=ulid_now())
    passed = await desk.check(retry)
    assert passed.checkpoint_status == "passed"
    before = await ledger.tables()
    assert (await desk.check(retry)).evaluation_id == passed.evaluation_id
    assert await ledger.tables() == before


async def test_one_request_stands_for_all_tries_of_one_proposal(ledger: Ledger, desk: Desk) -> None:
    first = await desk.asked()
    for _ in range(3):
        assert (await desk.asked()).approval_id == first.evaluation_id
    assert len(await ledger.events(ApprovalRequested)) == 1


async def test_of_many_at_once_one_uses_the_grant(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe(resources=(NOTES,))
    first = await desk.check(desk.request("rename_file", premortem=premortem(seen)))
    await desk.grant(first)
    found: list[Evaluation] = []

    async def check() -> None:
        found.append(await desk.check(desk.request("rename_file", premortem=premortem(seen))))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(check)
    assert sorted(evaluation.checkpoint_status for evaluation in found) == [*["held"] * 7, "passed"]
    assert len(await ledger.events(ApprovalUsed)) == 1


async def test_a_grant_is_over_when_its_time_is(ledger: Ledger, desk: Desk) -> None:
    held = await desk.asked()
    await desk.grant(held, lifetime_ms=1_000)
    ledger.clock.now_ms += 1_000
    again = await desk.asked()
    assert again.reasons == REQUIRED
    assert again.approval_id == again.evaluation_id
    (expired,) = await ledger.events(ApprovalExpired)
    assert (expired.approval_id, expired.reason) == (held.evaluation_id, "time")
    assert sorted(await _states(ledger)) == ["expired", "pending"]


async def test_the_last_millisecond_counts(ledger: Ledger, desk: Desk) -> None:
    await desk.grant(await desk.asked(), lifetime_ms=1_000)
    ledger.clock.now_ms += 999
    assert (await desk.asked()).checkpoint_status == "passed"


async def test_the_sweep_ends_what_is_over(ledger: Ledger, desk: Desk) -> None:
    await desk.grant(await desk.asked(), lifetime_ms=1_000)
    await desk.asked(resources=(PLANS,))
    ledger.clock.now_ms += 1_000
    await ledger.sweep()
    assert sorted(await _states(ledger)) == ["expired", "pending"]
    ledger.clock.now_ms += TTL_MS
    await ledger.sweep()
    assert await _states(ledger) == ["expired", "expired"]
    assert [event.reason for event in await ledger.events(ApprovalExpired)] == [
        "time",
        "lease_over",
    ]


async def test_a_denial_holds_the_proposal_for_good(ledger: Ledger, desk: Desk) -> None:
    held = await desk.asked()
    assert (await desk.deny(held)).state == "denied"
    again = await desk.asked()
    assert again.reasons == ("authority.approval_denied",)
    assert again.revision_request is None
    assert len(await ledger.events(ApprovalRequested)) == 1
    other = await desk.asked(arguments={"path": NOTES.value, "text": "other"})
    assert other.reasons == REQUIRED


async def test_a_grant_can_be_taken_back(ledger: Ledger, desk: Desk) -> None:
    held = await desk.asked()
    await desk.grant(held)
    await desk.deny(held)
    assert (await desk.asked()).reasons == ("authority.approval_denied",)
    assert len(await ledger.events(ApprovalDenied)) == 1


_OTHER: dict[str, dict[str, Any]] = {
    "arguments": {"arguments": {"path": NOTES.value, "text": "more"}},
    "resources": {"resources": (NOTES, PLANS)},
    "tool definition": {"tool": Tool(server="files", name="rename_file", definition_hash="e" * 64)},
    "raw arguments": {"arguments_commitment": "f" * 64},
    "effect": {"effect": "communication"},
}


@pytest.mark.parametrize("changes", _OTHER.values(), ids=_OTHER.keys())
async def test_another_proposal_is_not_covered(desk: Desk, changes: dict[str, Any]) -> None:
    held = await desk.asked()
    await desk.grant(held)
    seen = await desk.observe(resources=(NOTES,))
    request = desk.request("rename_file", premortem=premortem(seen))
    request = msgspec.structs.replace(request, **changes)
    hashed = proposal_hash(desk.scope, desk.host, request)
    other = await desk.check(msgspec.structs.replace(request, proposal_hash=hashed))
    assert other.reasons == REQUIRED
    assert other.approval_id == other.evaluation_id
    assert (await desk.asked()).checkpoint_status == "passed"


async def test_a_new_generation_needs_a_new_approval(ledger: Ledger, desk: Desk) -> None:
    await desk.grant(await desk.asked())
    await desk.begin(ResumeLease)
    assert (await desk.asked()).reasons == REQUIRED
    await ledger.sweep()
    assert sorted(await _states(ledger)) == ["expired", "pending"]


async def test_a_sibling_host_is_not_covered(ledger: Ledger, desk: Desk) -> None:
    await desk.grant(await desk.asked())
    other = Desk(ledger, host="other")
    await other.begin()
    assert (await other.asked()).reasons == REQUIRED


async def test_evidence_and_approval_may_come_in_any_order(ledger: Ledger, desk: Desk) -> None:
    first = await desk.check(desk.request("rename_file"))
    assert first.reasons == (*REQUIRED, "plan.unmitigated")
    await desk.grant(first)
    still = await desk.check(desk.request("rename_file"))
    assert still.reasons == ("hold.prior", "plan.unmitigated")
    assert await _states(ledger) == ["granted"]
    assert (await desk.asked()).checkpoint_status == "passed"
    assert await _states(ledger) == ["used"]


async def test_requests_are_bounded(ledger: Ledger, desk: Desk) -> None:
    for number in range(APPROVALS_WAITING_MAX):
        assert (await desk.asked(arguments={"path": NOTES.value, "n": number})).approval_id
    crowded = await desk.asked()
    assert crowded.approval_id is None
    assert len(await _states(ledger)) == APPROVALS_WAITING_MAX


async def test_a_call_that_needs_no_approval_asks_the_ledger_for_none(
    ledger: Ledger, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_up(*_: Any) -> None:
        raise AssertionError("an approval was looked up")

    monkeypatch.setattr("pmcl.ledger.approvals.standing", looked_up)
    await desk.passed()
    await desk.check(desk.request())
    with pytest.raises(AssertionError):
        await desk.asked()


async def test_a_verdict_by_approval_can_be_judged_again(ledger: Ledger, desk: Desk) -> None:
    await desk.grant(await desk.asked())
    passed = await desk.asked()
    (row,) = await ledger.rows(
        "SELECT content FROM payloads WHERE id = :id", id=passed.evaluation_id
    )
    judged = decode(row["content"], Judged)
    assert judged.inputs.approval is not None
    assert encode(judge(judged.inputs).evaluation) == encode(judged.evaluation)


async def test_a_grant_outlives_the_sidecar(tmp_path: Path) -> None:
    path = tmp_path / "again.sqlite"
    async with open_ledger(path) as ledger:
        desk = Desk(ledger)
        await desk.begin()
        await desk.grant(await desk.asked())
    async with open_ledger(path) as ledger:
        restarted = Desk(ledger)
        restarted.epoch = desk.epoch
        restarted.number = desk.number
        assert (await restarted.begin()).joined
        assert (await restarted.asked()).checkpoint_status == "passed"


# --- operators


async def _decided(ledger: Ledger, desk: Desk, held: Evaluation, state: str) -> None:
    match state:
        case "granted":
            await desk.grant(held)
        case "denied":
            await desk.deny(held)
        case "used":
            await desk.grant(held)
            assert (await desk.asked()).checkpoint_status == "passed"
        case _:
            await desk.grant(held, lifetime_ms=1)
            ledger.clock.now_ms += 1
            await ledger.sweep()


@pytest.mark.parametrize("state", ["granted", "denied", "used", "expired"])
async def test_what_is_decided_is_not_granted_again(ledger: Ledger, desk: Desk, state: str) -> None:
    held = await desk.asked()
    await _decided(ledger, desk, held, state)
    before = await ledger.tables()
    with pytest.raises(ApprovalDecidedError) as refused:
        await desk.grant(held)
    assert (refused.value.field, refused.value.value) == ("$.approval_id", state)
    assert await ledger.tables() == before


@pytest.mark.parametrize("state", ["denied", "used", "expired"])
async def test_what_is_over_is_not_denied(ledger: Ledger, desk: Desk, state: str) -> None:
    held = await desk.asked()
    await _decided(ledger, desk, held, state)
    with pytest.raises(ApprovalDecidedError):
        await desk.deny(held)


@pytest.mark.parametrize("end", ["time", "generation"])
async def test_nothing_is_granted_to_a_lease_that_is_over(
    ledger: Ledger, desk: Desk, end: str
) -> None:
    held = await desk.asked()
    if end == "time":
        ledger.clock.now_ms += TTL_MS
    else:
        await desk.begin(ResumeLease)
    with pytest.raises(ApprovalDecidedError):
        await desk.grant(held)
    assert await ledger.events(ApprovalGranted) == []


async def test_an_unknown_approval_is_named(desk: Desk) -> None:
    unknown = ulid_now()
    with pytest.raises(UnknownApprovalError) as refused:
        await desk.say_as_operator("approval", ShowApproval(approval_id=unknown))
    assert refused.value.value == unknown


async def test_the_list_holds_what_waits_and_on_request_the_rest(desk: Desk) -> None:
    held = await desk.asked()
    await desk.deny(held)
    waiting = await desk.say_as_operator("approvals", ListApprovals())
    ended = await desk.say_as_operator("approvals", ListApprovals(ended=True))
    assert waiting.approvals == ()
    assert [approval.state for approval in ended.approvals] == ["denied"]


async def test_an_erased_proposal_is_shown_as_missing_and_not_granted(
    ledger: Ledger, desk: Desk
) -> None:
    held = await desk.asked()
    await ledger.writer.run(
        lambda tx: tx.run("DELETE FROM payloads WHERE id = :id", id=held.evaluation_id)
    )
    shown = await desk.say_as_operator("approval", ShowApproval(approval_id=held.evaluation_id))
    assert shown.request is None
    assert shown.approval.tool == "rename_file"
    with pytest.raises(NotAvailableError):
        await desk.grant(held)
    assert await ledger.events(ApprovalGranted) == []
