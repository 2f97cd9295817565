from typing import Any

import anyio
import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    CallIdConflictError,
    CheckpointRequest,
    ContractError,
    DisableLease,
    Evaluated,
    Evaluation,
    ExpectedReceipt,
    HashMismatchError,
    HoldPlaced,
    HoldReleased,
    Justification,
    LeaseNotFoundError,
    RefusedError,
    Resource,
    ResumeLease,
    StaleGenerationError,
    Tool,
    TooLargeError,
    ToolDefinition,
    UnknownEvidenceError,
    arguments_commitment,
    decode,
    definition_hash,
    encode,
    proposal_hash,
)
from pmcl.judgement import EffectRules, ToolRule, judge
from pmcl.ledger.evaluations import Judged
from pmcl.workers import CheckpointWorker
from pmcl.workers.units import Behind
from tests.unit.workers.desk import (
    AUTHORITY,
    NOTES,
    PLANS,
    TTL_MS,
    Desk,
    Ledger,
    premortem,
    without,
)

pytestmark = pytest.mark.anyio

_SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def _bare(evaluation: Evaluation) -> bytes:
    """Return all but the receipts and the time that is left, which go with the reply."""
    return encode(msgspec.structs.replace(evaluation, received=None, valid_for_ms=0))


async def _refused(ledger: Ledger, desk: Desk, error: type[RefusedError], request: Any) -> Any:
    """The error of a request that leaves the ledger as it was."""
    before = await ledger.tables()
    with pytest.raises(error) as refused:
        await desk.check(request)
    assert await ledger.tables() == before
    return refused.value


# --- pass, hold, replay


async def test_an_inspection_passes_and_is_committed_with_its_payload(
    ledger: Ledger, desk: Desk
) -> None:
    request = desk.request("read_file", expected_receipt=ExpectedReceipt(kind="file"))
    evaluation = await desk.check(request)
    assert (evaluation.checkpoint_status, evaluation.reasons) == ("passed", ())
    assert evaluation.call_id == request.call_id
    assert evaluation.proposal_hash == request.proposal_hash
    assert evaluation.ticket.generation == 1
    assert evaluation.valid_for_ms == evaluation.expires_at - ledger.clock.now_ms == TTL_MS
    (evaluated,) = await ledger.events(Evaluated)
    assert evaluated.evaluation_id == evaluation.evaluation_id
    assert (evaluated.status, evaluated.effect) == ("passed", "inspect_local")
    assert evaluated.expected_receipt_kind == "file"
    (row,) = await ledger.rows("SELECT * FROM evaluations")
    assert (row["open"], row["commitment"]) == (1, evaluated.commitment)
    assert await ledger.events(HoldPlaced) == []


async def test_a_verdict_can_be_judged_again_from_its_payload(ledger: Ledger, desk: Desk) -> None:
    for evaluation in (await desk.passed(), await desk.check(desk.request())):
        rows = await ledger.rows(
            "SELECT content FROM payloads WHERE id = :id", id=evaluation.evaluation_id
        )
        judged = decode(rows[0]["content"], Judged)
        assert encode(judge(judged.inputs).evaluation) == encode(judged.evaluation)
        assert _bare(judged.evaluation) == _bare(evaluation)


async def test_an_operators_rule_decides_and_is_stored_with_the_verdict(
    ledger: Ledger, desk: Desk
) -> None:
    asked = desk.request("frobnicate")
    assert (await desk.check(asked)).execution_check.effect == "execution"
    rule = ToolRule(effect="inspect_local")
    rules = EffectRules(tools={"files/frobnicate": rule, "files/other": rule})
    desk.checkpoint = CheckpointWorker(ledger.key, rules)
    evaluation = await desk.check(desk.request("frobnicate"))
    assert evaluation.execution_check.rules == ("operator.effect",)
    assert evaluation.checkpoint_status == "passed"
    rows = await ledger.rows(
        "SELECT content FROM payloads WHERE id = :id", id=evaluation.evaluation_id
    )
    inputs = decode(rows[0]["content"], Judged).inputs
    assert inputs.rules == EffectRules(tools={"files/frobnicate": rule})
    assert judge(inputs).evaluation.execution_check == evaluation.execution_check


async def test_the_state_folder_is_kept_from_agents_and_stored_with_the_verdict(
    ledger: Ledger, desk: Desk
) -> None:
    desk.checkpoint = CheckpointWorker(ledger.key, state_folders=("/s",))
    asked = desk.request("read_file", arguments={"file": "/s/keys/operator.nk"})
    evaluation = await desk.check(asked)
    assert evaluation.reasons == ("authority.operators_own",)
    rows = await ledger.rows(
        "SELECT content FROM payloads WHERE id = :id", id=evaluation.evaluation_id
    )
    assert decode(rows[0]["content"], Judged).inputs.state_folders == ("/s",)


async def test_a_verdict_never_outlives_its_lease(ledger: Ledger, desk: Desk) -> None:
    ledger.clock.now_ms += TTL_MS - 700
    assert (await desk.check(desk.request("read_file"))).valid_for_ms == 700


async def test_an_unmitigated_change_is_held_and_places_a_hold(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.check(desk.request())
    assert evaluation.checkpoint_status == "held"
    assert evaluation.reasons == ("plan.unmitigated",)
    assert evaluation.revision_request is not None
    assert NOTES.value in evaluation.revision_request
    (placed,) = await ledger.events(HoldPlaced)
    assert placed.evaluation_id == evaluation.evaluation_id
    assert placed.resource_keys == (ledger.key.resource("team", NOTES),)
    assert (await ledger.rows("SELECT open FROM evaluations"))[0]["open"] == 0
    assert len(await ledger.rows("SELECT * FROM held_resources")) == 1


@pytest.mark.parametrize(
    ("tool", "reasons"),
    [
        ("read_file", ("canary.not_kept",)),
        ("write_file", ("plan.unmitigated", "canary.not_kept")),
        ("rename_file", ("authority.approval_required", "plan.unmitigated", "canary.not_kept")),
    ],
)
async def test_a_canary_is_judged_and_held_and_leaves_nothing(
    ledger: Ledger, desk: Desk, tool: str, reasons: tuple[str, ...]
) -> None:
    before = await ledger.tables()
    tried = await desk.check(desk.request(tool, canary=True))
    assert (tried.checkpoint_status, tried.reasons) == ("held", reasons)
    assert tried.ticket.decision == "held"
    assert (tried.approval_id, tried.revision_request) == (None, None)
    assert await ledger.tables() == before


async def test_a_canary_is_held_whatever_its_call_id_was_answered(
    ledger: Ledger, desk: Desk
) -> None:
    request = desk.request("read_file")
    assert (await desk.check(request)).checkpoint_status == "passed"
    tried = await desk.check(msgspec.structs.replace(request, canary=True))
    assert tried.checkpoint_status == "held"
    assert (await desk.check(request)).checkpoint_status == "passed"


async def test_a_mitigated_change_passes(ledger: Ledger, desk: Desk) -> None:
    evaluation = await desk.passed()
    assert evaluation.plan_check.mitigated
    assert await ledger.events(HoldPlaced) == []


@pytest.mark.parametrize("tool", ["read_file", "write_file"])
async def test_the_same_call_again_gives_the_same_evaluation_byte_for_byte(
    ledger: Ledger, desk: Desk, tool: str
) -> None:
    request = desk.request(tool)
    first = await desk.check(request)
    before = await ledger.tables()
    ledger.clock.now_ms += 5_000
    again = await desk.check(request)
    assert _bare(again) == _bare(first)
    assert again.valid_for_ms == max(0, first.valid_for_ms - 5_000)
    assert await ledger.tables() == before


async def test_the_same_call_id_with_other_arguments_is_an_error(
    ledger: Ledger, desk: Desk
) -> None:
    request = desk.request("read_file")
    first = await desk.check(request)
    other = desk.request("read_file", call_id=request.call_id, arguments={"path": PLANS.value})
    error = await _refused(ledger, desk, CallIdConflictError, other)
    assert error.field == "$.call_id"
    assert _bare(await desk.check(request)) == _bare(first)


async def test_call_ids_of_two_hosts_do_not_meet(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    ids = {
        (await each.check(each.request("read_file", call_id="call-1"))).evaluation_id
        for each in (desk, other)
    }
    assert len(ids) == 2


async def test_a_call_that_is_asked_many_times_at_once_has_one_evaluation(
    ledger: Ledger, desk: Desk
) -> None:
    request = desk.request()
    evaluations = []

    async def check() -> None:
        evaluations.append(await desk.check(request))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(check)
    assert len({evaluation.evaluation_id for evaluation in evaluations}) == 1
    assert len(await ledger.events(Evaluated)) == 1
    assert len(await ledger.events(HoldPlaced)) == 1


# --- holds


async def _reworded(desk: Desk) -> Desk:
    return desk


async def _resumed(desk: Desk) -> Desk:
    await desk.begin(ResumeLease)
    return desk


async def _restarted(desk: Desk) -> Desk:
    again = Desk(desk.ledger)
    await again.begin()
    return again


async def _sibling(desk: Desk) -> Desk:
    other = Desk(desk.ledger, host="other")
    await other.begin()
    return other


_AROUND: dict[str, tuple[Any, dict[str, Any]]] = {
    "new call id": (_reworded, {}),
    "other words": (_reworded, {"goal": "something else", "expected_outcome": "tidy notes"}),
    "keys in another order": (_reworded, {"arguments": {"text": "done", "path": NOTES.value}}),
    "other text": (_reworded, {"arguments": {"path": NOTES.value, "text": "DONE"}}),
    "other spelling": (
        _reworded,
        {"resources": (Resource(kind="path", value="/project//./notes.txt"),)},
    ),
    "among other resources": (_reworded, {"resources": (PLANS, NOTES)}),
    "another tool": (_reworded, {"tool": "bash"}),
    "after a resume": (_resumed, {}),
    "under a new lease": (_restarted, {}),
    "by another host of the scope": (_sibling, {}),
}


@pytest.mark.parametrize(("turn", "changes"), _AROUND.values(), ids=_AROUND.keys())
async def test_nothing_gets_round_a_hold(desk: Desk, turn: Any, changes: dict[str, Any]) -> None:
    seen = await desk.observe(resources=(NOTES, PLANS))
    await desk.check(desk.request(evidence_ids=(seen,)))
    asking = await turn(desk)
    # What was cited before may mitigate the plan, but it lifts nothing.
    again = await asking.check(asking.request(premortem=premortem(seen), **changes))
    assert again.checkpoint_status == "held"
    assert "hold.prior" in again.reasons


async def test_a_hold_stands_in_the_way_of_no_inspection_and_of_no_other_target(
    desk: Desk,
) -> None:
    await desk.check(desk.request())
    assert (await desk.check(desk.request("read_file"))).checkpoint_status == "passed"
    seen = await desk.observe(resources=(PLANS,))
    other = desk.request(resources=(PLANS,), premortem=premortem(seen))
    assert (await desk.check(other)).checkpoint_status == "passed"


async def test_a_hold_of_another_scope_holds_nothing(ledger: Ledger, desk: Desk) -> None:
    foreign = Desk(ledger, scope="elsewhere")
    await foreign.begin()
    await foreign.check(foreign.request())
    await desk.passed()


async def test_the_same_hold_is_placed_once(ledger: Ledger, desk: Desk) -> None:
    for _ in range(3):
        await desk.check(desk.request())
    assert len(await ledger.events(HoldPlaced)) == 1


async def test_fresh_cited_evidence_about_the_target_lifts_the_hold(
    ledger: Ledger, desk: Desk
) -> None:
    await desk.check(desk.request())
    seen = await desk.observe(resources=(NOTES,))
    lifted = await desk.check(desk.request(premortem=premortem(seen)))
    assert lifted.checkpoint_status == "passed"
    (placed,) = await ledger.events(HoldPlaced)
    (released,) = await ledger.events(HoldReleased)
    assert released.hold_id == placed.hold_id
    assert released.evaluation_id == lifted.evaluation_id
    assert released.evidence_ids == (seen,)
    assert await ledger.rows("SELECT * FROM held_resources") == []
    (row,) = await ledger.rows("SELECT * FROM holds")
    assert (row["released_by"], row["released_at"]) == (lifted.evaluation_id, ledger.clock.now_ms)


async def test_a_lifted_hold_comes_back_with_the_next_unmitigated_change(
    ledger: Ledger, desk: Desk
) -> None:
    await desk.check(desk.request())
    await desk.passed()
    assert (await desk.check(desk.request())).reasons == ("plan.unmitigated",)
    assert len(await ledger.events(HoldPlaced)) == 2


async def _about_something_else(desk: Desk) -> str:
    return await desk.observe(resources=(PLANS,))


async def _about_nothing(desk: Desk) -> str:
    return await desk.observe()


async def _of_an_older_generation(desk: Desk) -> str:
    seen = await desk.observe(resources=(NOTES,))
    await desk.begin(ResumeLease)
    return seen


async def _erased(desk: Desk) -> str:
    seen = await desk.observe(resources=(NOTES,))
    sql = "UPDATE evidence SET erased = 1 WHERE evidence_id = :id"
    await desk.ledger.writer.run(lambda tx: tx.run(sql, id=seen))
    return seen


@pytest.mark.parametrize(
    "show", [_about_something_else, _about_nothing, _of_an_older_generation, _erased]
)
async def test_other_evidence_lifts_nothing(ledger: Ledger, desk: Desk, show: Any) -> None:
    await desk.check(desk.request())
    seen = await show(desk)
    held = await desk.check(desk.request(premortem=premortem(seen)))
    other = [reason for reason in held.reasons if reason != "state.stale_assumption"]
    assert other == ["hold.prior", "plan.unmitigated"]
    assert await ledger.events(HoldReleased) == []


async def test_evidence_that_is_not_cited_lifts_nothing(ledger: Ledger, desk: Desk) -> None:
    await desk.check(desk.request())
    await desk.observe(resources=(NOTES,))
    assert (await desk.check(desk.request())).checkpoint_status == "held"
    assert await ledger.events(HoldReleased) == []


async def test_a_resource_has_one_open_hold_however_it_is_combined(
    ledger: Ledger, desk: Desk
) -> None:
    others = [Resource(kind="path", value=f"/project/{number}.txt") for number in range(70)]
    for other in others:
        await desk.check(desk.request(resources=(NOTES, other)))
    placed = await ledger.events(HoldPlaced)
    keys = [key for hold in placed for key in hold.resource_keys]
    assert len(keys) == len(set(keys)) == 71

    seen = await desk.observe(resources=others[69:])
    held = await desk.check(desk.request(resources=others[69:], premortem=premortem(seen)))
    assert held.checkpoint_status == "passed"
    assert (await desk.check(desk.request())).checkpoint_status == "held"


async def test_authority_keeps_a_hold_that_evidence_would_lift(ledger: Ledger, desk: Desk) -> None:
    await desk.check(desk.request())
    seen = await desk.observe(resources=(NOTES,))
    outside = Resource(kind="path", value="/etc/passwd")
    asked = desk.request(resources=(NOTES, outside), premortem=premortem(seen))
    assert (await desk.check(asked)).reasons == ("authority.path_outside_roots",)
    assert await ledger.events(HoldReleased) == []
    cited = desk.request(premortem=premortem(seen))
    assert (await desk.check(cited)).checkpoint_status == "passed"


async def test_a_call_without_resources_is_held_by_tool_and_arguments(desk: Desk) -> None:
    arguments = {"text": "hello"}
    first = await desk.check(desk.request("post_note", arguments=arguments, resources=()))
    assert first.reasons == ("plan.unmitigated",)
    again = await desk.check(desk.request("post_note", arguments=arguments, resources=()))
    assert again.reasons == ("hold.prior", "plan.unmitigated")
    other = await desk.check(desk.request("post_note", arguments={"text": "x"}, resources=()))
    assert other.reasons == ("plan.unmitigated",)


# --- authority

_HELD: dict[str, tuple[dict[str, Any], str]] = {
    "prohibited tool": ({"tool": "format_disk"}, "authority.tool_prohibited"),
    "effect not named": (
        {
            "tool": "take_screenshot",
            "justification": Justification(necessity="see the notes"),
            "expected_receipt": ExpectedReceipt(kind="image"),
        },
        "authority.effect_prohibited",
    ),
    "approval": ({"tool": "rename_file"}, "authority.approval_required"),
    "outside the roots": (
        {"resources": (Resource(kind="path", value="/project-evil/notes.txt"),)},
        "authority.path_outside_roots",
    ),
    "host not allowed": (
        {"tool": "fetch_url", "resources": (Resource(kind="host", value="evil.example"),)},
        "authority.host_not_allowed",
    ),
}


@pytest.mark.parametrize(("changes", "reason"), _HELD.values(), ids=_HELD.keys())
async def test_authority_holds_whatever_evidence_is_shown(
    ledger: Ledger, desk: Desk, changes: dict[str, Any], reason: str
) -> None:
    resources = changes.get("resources", (NOTES,))
    seen = await desk.observe(resources=resources)
    evaluation = await desk.check(desk.request(**changes, premortem=premortem(seen)))
    assert evaluation.checkpoint_status == "held"
    assert evaluation.reasons == (reason,)
    assert (evaluation.revision_request is None) is (reason != "authority.approval_required")
    assert await ledger.events(HoldPlaced) == []


async def test_what_the_snapshot_allows_passes(desk: Desk) -> None:
    resources = (Resource(kind="host", value="API.example.com."),)
    seen = await desk.observe(resources=resources)
    asked = desk.request("fetch_url", resources=resources, premortem=premortem(seen))
    assert (await desk.check(asked)).reasons == ()


@pytest.mark.parametrize("end", ["time", "sweep", "disable"])
async def test_a_lease_that_is_over_holds(ledger: Ledger, desk: Desk, end: str) -> None:
    seen = await desk.observe(resources=(NOTES,))
    if end == "disable":
        await desk.say("disable", DisableLease)
    else:
        ledger.clock.now_ms += TTL_MS
    if end == "sweep":
        await ledger.sweep()
    evaluation = await desk.check(desk.request(premortem=premortem(seen)))
    assert evaluation.reasons == ("authority.lease_expired",)
    assert evaluation.valid_for_ms == 0


async def test_a_snapshot_without_anything_prohibits_everything(ledger: Ledger) -> None:
    desk = Desk(ledger)
    await desk.begin(authority=msgspec.structs.replace(AUTHORITY, tools={}, effects={}))
    evaluation = await desk.check(desk.request("read_file"))
    assert evaluation.reasons == ("authority.tool_prohibited", "authority.effect_prohibited")


# --- refusals


async def test_unknown_evidence_is_refused(ledger: Ledger, desk: Desk) -> None:
    unknown = ulid_now()
    for changes in ({"evidence_ids": (unknown,)}, {"premortem": premortem(unknown)}):
        error = await _refused(ledger, desk, UnknownEvidenceError, desk.request(**changes))
        assert (error.field, error.value) == ("$.evidence_ids", unknown)


async def test_evidence_of_another_scope_is_unknown(ledger: Ledger, desk: Desk) -> None:
    foreign = Desk(ledger, scope="elsewhere")
    await foreign.begin()
    seen = await foreign.observe(resources=(NOTES,))
    await _refused(ledger, desk, UnknownEvidenceError, desk.request(evidence_ids=(seen,)))


async def test_a_stale_generation_is_refused_even_for_a_known_call(
    ledger: Ledger, desk: Desk
) -> None:
    old = desk.request("read_file")
    await desk.check(old)
    await desk.begin(ResumeLease)
    error = await _refused(ledger, desk, StaleGenerationError, old)
    assert (error.value, error.limit) == ("1", "2")


async def test_a_lease_of_another_host_is_not_found(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    asked = other.request("read_file", lease_id=desk.lease.lease_id)
    await _refused(ledger, other, LeaseNotFoundError, asked)


@pytest.mark.parametrize(
    "tampered",
    [
        {"arguments": {"path": "/project/plans.txt"}},
        {"arguments_commitment": "b" * 64},
        {"resources": ()},
        {"tool": Tool(server="files", name="delete_file", definition_hash="d" * 64)},
        {"tool": Tool(server="files", name="read_file", definition_hash="e" * 64)},
        {"proposal_hash": "a" * 64},
    ],
    ids=lambda tampered: next(iter(tampered)),
)
async def test_a_request_that_is_not_what_was_hashed_is_refused(
    ledger: Ledger, desk: Desk, tampered: dict[str, Any]
) -> None:
    request = msgspec.structs.replace(desk.request("read_file"), **tampered)
    error = await _refused(ledger, desk, HashMismatchError, request)
    assert error.field == "$.proposal_hash"


async def test_a_definition_that_is_not_the_pinned_one_is_refused(
    ledger: Ledger, desk: Desk
) -> None:
    definition = ToolDefinition(description="Read a file")
    pinned = Tool(server="files", name="read_file", definition_hash=definition_hash(definition))
    request = msgspec.structs.replace(desk.request("read_file"), tool=pinned, definition=definition)
    hashed = proposal_hash(desk.scope, desk.host, request)
    request = msgspec.structs.replace(request, proposal_hash=hashed)
    assert (await desk.check(request)).checkpoint_status == "passed"
    swapped = msgspec.structs.replace(request, definition=ToolDefinition(description="Wipe it"))
    error = await _refused(ledger, desk, HashMismatchError, swapped)
    assert error.field == "$.tool.definition_hash"


async def test_a_request_hashed_for_another_host_is_refused(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    await _refused(ledger, other, HashMismatchError, desk.request("read_file"))


async def test_arguments_over_the_limit_are_refused(ledger: Ledger, desk: Desk) -> None:
    def asked(size: int) -> Any:
        return desk.request("read_file", arguments={"a": "x" * (size - len('{"a":""}'))})

    error = await _refused(ledger, desk, TooLargeError, asked(64 * 1024 + 1))
    assert (error.field, error.limit) == ("$.arguments", "65536 bytes")
    assert (await desk.check(asked(64 * 1024))).checkpoint_status == "passed"


async def test_a_kind_other_than_the_subject_says_is_refused(ledger: Ledger, desk: Desk) -> None:
    before = await ledger.tables()
    with pytest.raises(ContractError):
        await desk.ask(desk.checkpoint, "plan", desk.request())
    assert await ledger.tables() == before


async def test_a_check_ahead_of_its_evidence_is_not_judged(ledger: Ledger, desk: Desk) -> None:
    await desk.observe()
    before = await ledger.tables()
    with pytest.raises(Behind):
        await desk.check(desk.request("read_file"), number=2)
    assert await ledger.tables() == before
    await desk.observe()
    evaluation = await desk.check(desk.request("read_file"), number=2)
    assert evaluation.received is not None
    assert evaluation.received.through == 2


async def test_a_secret_that_the_host_left_in_is_stored_nowhere(ledger: Ledger, desk: Desk) -> None:
    arguments = {"path": NOTES.value, "token": _SECRET, "text": f"token={_SECRET}"}
    request = desk.request("read_file", arguments=arguments, goal=f"use {_SECRET}")
    evaluation = await desk.check(request)
    assert evaluation.checkpoint_status == "passed"
    assert _SECRET not in repr(await ledger.tables())
    assert _bare(await desk.check(request)) == _bare(evaluation)


async def test_two_secrets_are_two_proposals(ledger: Ledger, desk: Desk) -> None:
    def asked(secret: str) -> CheckpointRequest:
        commitment = arguments_commitment(desk.lease.salt, {"token": secret})
        return desk.request("read_file", call_id="call-1", arguments_commitment=commitment)

    one, other = asked("one"), asked("other")
    await desk.check(one)
    await _refused(ledger, desk, CallIdConflictError, other)


async def test_pending_verdicts_are_shown_to_the_next_check(desk: Desk) -> None:
    first = await desk.check(desk.request("read_file"))
    second = await desk.check(desk.request("read_file"))
    (pending,) = [item for item in second.state_check.items if item.name == "pending_actions"]
    assert pending.lineage == (first.evaluation_id,)


async def test_the_journal_of_a_check_holds_no_content(ledger: Ledger, desk: Desk) -> None:
    await desk.check(desk.request(goal="a unique phrase"))
    bodies = b"".join(body for _, body in await ledger.journal())
    for content in (b"unique phrase", b"notes.txt", b"done"):
        assert content not in bodies
    assert without(await ledger.tables(), "payloads")["evaluations"]
