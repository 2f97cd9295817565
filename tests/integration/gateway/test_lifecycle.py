"""A host that speaks only HTTP, from its lease to the linked outcome."""

import json

import anyio
import msgspec
import pytest

from pmcl.contracts import sha256
from tests.integration.gateway.conftest import House
from tests.integration.gateway.wire import Wire
from tests.integration.hosts.sidecar import until

pytestmark = pytest.mark.anyio

NOTES = "/work/notes.txt"


async def test_passed_call_runs_once_and_its_outcome_is_verified(house: House, wire: Wire) -> None:
    expected = {"expected_receipt": {"kind": "file_content"}}
    verdict = await wire.check("read_file", NOTES, **expected)
    assert (verdict["status"], verdict["reasons"]) == ("passed", [])
    assert verdict["evaluation"]["evaluation_id"] == verdict["verdict_id"]
    assert 0 < verdict["valid_for_ms"] <= 60_000

    claimed = await wire.claim(verdict, NOTES)
    assert (claimed.status, claimed.body["verdict_id"]) == (201, verdict["verdict_id"])
    again = await wire.claim(verdict, NOTES)
    assert (again.status, again.body["code"]) == (409, "claimed")

    seen = {"source": "files/read_file", "summary": "notes", "detail": "The release is on Friday."}
    stored = await wire.post("/v1/observations", seen)
    assert stored.status == 201
    receipt = {"kind": "file_content", "digest": sha256(seen["detail"].encode())}
    told = await wire.outcome(verdict, "succeeded", receipt=receipt)
    assert told.status == 200, told
    late = await wire.outcome(verdict, "failed")
    assert (late.status, late.body["code"], late.body["value"]) == (409, "not_open", "succeeded")

    async def verified() -> bool:
        outcome = await house.outcome(verdict)
        return outcome is not None and outcome["status"] == "succeeded" and outcome["verified"] == 1

    await until(verified)


async def test_failure_is_told_with_its_mode(house: House, wire: Wire) -> None:
    verdict = await wire.check("read_file", NOTES)
    assert (await wire.claim(verdict, NOTES)).status == 201
    secret = await wire.outcome(verdict, "failed", failure_mode="token:ghp_" + "a1B2c3D4" * 5)
    assert (secret.status, secret.body["code"]) == (400, "secret_in_name")
    assert (await wire.outcome(verdict, "failed", failure_mode="disk_full")).status == 200

    async def failed() -> bool:
        outcome = await house.outcome(verdict)
        return outcome is not None and outcome["failure_mode"] == "disk_full"

    await until(failed)


@pytest.mark.parametrize(
    ("status", "said", "field"),
    [
        ("succeeded", {"failure_mode": "disk_full"}, "$.failure_mode"),
        ("failed", {"receipt": {"kind": "k", "digest": "0" * 64}}, "$.receipt"),
        ("unused", {}, "$.status"),
    ],
)
async def test_outcome_that_contradicts_itself_leaves_the_dispatch_open(
    wire: Wire, status: str, said: dict[str, object], field: str
) -> None:
    verdict = await wire.check("read_file", NOTES)
    await wire.claim(verdict, NOTES)
    refused = await wire.outcome(verdict, status, **said)
    assert (refused.status, refused.body["field"]) == (400, field)
    assert (await wire.outcome(verdict, "cancelled")).status == 200


async def test_verdict_is_for_its_own_arguments_only(wire: Wire) -> None:
    verdict = await wire.check("read_file", NOTES)
    other = await wire.claim(verdict, "/work/other.txt")
    assert (other.status, other.body["code"]) == (409, "other_proposal")
    assert (await wire.claim(verdict, NOTES)).status == 201


async def test_held_verdict_says_what_would_lift_it_and_cannot_be_claimed(wire: Wire) -> None:
    verdict = await wire.check("delete_file", NOTES)
    assert (verdict["status"], verdict["reasons"]) == ("held", ["plan.unmitigated"])
    assert verdict["revision_request"]
    refused = await wire.claim(verdict, NOTES)
    assert (refused.status, refused.body["code"]) == (409, "held")


async def test_plan_and_recommendation_are_judged_and_cover_no_call(wire: Wire) -> None:
    tool = {"server": "files", "name": "read_file", "definition_hash": "0" * 64}
    plan = {"goal": "read", "steps": [{"tool": tool, "arguments": {"path": NOTES}}]}
    for kind, asked in (("plan", plan), ("recommendation", {"goal": "read", "text": "read it"})):
        answer = await wire.post(f"/v1/checks/{kind}", asked)
        assert (answer.status, answer.body["status"]) == (200, "passed")
        refused = await wire.claim(answer.body, NOTES)
        assert (refused.status, refused.body["code"]) == (409, "not_a_call")


async def test_held_plan_holds_the_call_that_names_it(house: House) -> None:
    wire = house.wire()
    await wire.begin(tools={"*": "grant", "files/delete_file": "prohibit"})
    tool = {"server": "files", "name": "delete_file", "definition_hash": "0" * 64}
    resource = {"kind": "path", "value": NOTES}
    step = {"tool": tool, "arguments": {"path": NOTES}, "resources": [resource]}
    plan = await wire.post(
        "/v1/checks/plan", {"goal": "tidy", "call_id": "plan-1", "steps": [step]}
    )
    assert plan.body["reasons"] == ["authority.tool_prohibited@$.steps[0]"]
    verdict = await wire.check("read_file", NOTES, plan_call_id="plan-1")
    assert (verdict["status"], verdict["reasons"]) == ("held", ["plan.held"])


async def test_definition_is_pinned_and_another_one_is_refused(wire: Wire) -> None:
    definition = {"description": "Reads a file."}
    verdict = await wire.check("read_file", NOTES, definition=definition)
    assert verdict["status"] == "passed"
    pinned = {"server": "files", "name": "read_file", "definition_hash": "1" * 64}
    asked = {"goal": "g", "tool": pinned, "arguments": {}, "definition": definition}
    refused = await wire.post("/v1/checks/tool", asked)
    assert (refused.status, refused.body["code"]) == (400, "hash_mismatch")


async def test_many_observations_are_stored_in_order_and_can_be_cited(wire: Wire) -> None:
    resource = {"kind": "path", "value": NOTES}
    observed = [{"source": "ls", "summary": str(n), "resources": [resource]} for n in range(3)]
    stored = await wire.post("/v1/observations/batch", {"observations": observed})
    assert stored.status == 201
    ids = stored.body["evidence_ids"]
    assert len(set(ids)) == 3
    premortem = {
        "failure_mode": "data_loss",
        "likelihood": 0.2,
        "mitigation": "seen",
        "evidence_ids": ids[-1:],
    }
    verdict = await wire.check("delete_file", NOTES, premortem=premortem)
    assert verdict["status"] == "passed", verdict["reasons"]
    unknown = await wire.post(
        "/v1/checks/recommendation", {"goal": "g", "text": "t", "evidence_ids": ["0" * 26]}
    )
    assert (unknown.status, unknown.body["code"]) == (422, "unknown_evidence")


async def test_same_call_again_is_the_same_verdict_and_another_under_its_id_is_refused(
    wire: Wire,
) -> None:
    first = await wire.check("read_file", NOTES, call_id="call-1")
    again = await wire.check("read_file", NOTES, call_id="call-1")
    assert again["verdict_id"] == first["verdict_id"]
    assert (await wire.claim(first, NOTES)).status == 201
    once_more = await wire.check("read_file", NOTES, call_id="call-1")
    assert (await wire.claim(once_more, NOTES)).body["code"] == "claimed"
    asked = {
        "goal": "g",
        "call_id": "call-1",
        "tool": {"server": "files", "name": "read_file"},
        "arguments": {"path": "/work/other.txt"},
    }
    refused = await wire.post("/v1/checks/tool", asked)
    assert (refused.status, refused.body["code"]) == (409, "call_id_conflict")


async def test_dispatch_without_an_outcome_becomes_unknown(house: House, wire: Wire) -> None:
    verdict = await wire.check("read_file", NOTES)
    assert (await wire.claim(verdict, NOTES, outcome_within_ms=1)).status == 201

    async def unknown() -> bool:
        outcome = await house.outcome(verdict)
        return outcome is not None and outcome["status"] == "unknown"

    await until(unknown)
    late = await wire.outcome(verdict, "succeeded")
    assert (late.status, late.body["code"], late.body["value"]) == (409, "not_open", "unknown")


async def test_turn_ends_once(house: House, wire: Wire) -> None:
    for _ in range(2):
        answer = await wire.post("/v1/turns", {"turn_id": "turn-1"})
        assert (answer.status, answer.body) == (200, {"turn_id": "turn-1"})


async def test_health_and_readiness_need_no_key(house: House) -> None:
    anybody = Wire(house.url, None)
    assert (await anybody.get("/v1/health")).body == {"status": "ok"}
    ready = (await anybody.get("/v1/ready")).body
    none = {"count": 0, "last": None}
    assert ready == {
        "ready": True,
        "parts": dict.fromkeys(ready["parts"], True),
        "defects": none,
    }
    assert ready["parts"].keys() == {"connection", "intake", "relay", "requests", "writer"}


async def test_lease_is_joined_by_the_same_snapshot_and_begun_anew_by_another(
    house: House,
) -> None:
    wire = house.wire()
    before = await wire.get("/v1/lease")
    assert (before.status, before.body["code"]) == (409, "no_lease")
    first = await wire.begin()
    assert (first["generation"], first["live"], first["host"]) == (1, True, "agent")
    assert (await wire.begin())["generation"] == 1
    old = await wire.check("read_file", NOTES)
    claimed = await wire.check("read_file", "/work/b.txt")
    assert (await wire.claim(claimed, "/work/b.txt")).status == 201

    assert (await wire.begin(writable_roots=["/tmp"]))["generation"] == 2
    fenced = await wire.claim(old, NOTES)
    assert (fenced.status, fenced.body["code"]) == (409, "fenced")
    assert (await wire.outcome(claimed, "succeeded")).status == 200
    assert (await wire.check("read_file", NOTES))["generation"] == 2
    assert (await wire.begin())["generation"] == 3


async def test_another_generation_than_the_caller_means_is_refused(wire: Wire) -> None:
    told = {"goal": "g", "text": "t", "generation": 7}
    refused = await wire.post("/v1/checks/recommendation", told)
    assert (refused.status, refused.body["code"]) == (409, "stale_generation")
    assert (await wire.post("/v1/checks/recommendation", {**told, "generation": 1})).status == 200


async def test_disabled_lease_ends_everything_but_outcomes(wire: Wire) -> None:
    verdict = await wire.check("read_file", NOTES)
    assert (await wire.claim(verdict, NOTES)).status == 201
    ended = await wire.send("DELETE", "/v1/lease")
    assert (ended.status, ended.body["live"], ended.body["dispatches"]) == (200, False, 1)
    assert (await wire.get("/v1/lease")).body["code"] == "no_lease"
    refused = await wire.post("/v1/checks/recommendation", {"goal": "g", "text": "t"})
    assert (refused.status, refused.body["code"]) == (409, "no_lease")
    assert (await wire.outcome(verdict, "succeeded")).status == 200
    assert (await wire.begin())["generation"] == 2


async def test_profile_stands_in_for_a_snapshot(house: House) -> None:
    wire = house.wire()
    missing = await wire.post("/v1/lease", {})
    assert (missing.status, missing.body["code"]) == (409, "no_profile")


async def test_answer_is_the_contract_that_openapi_names(house: House, wire: Wire) -> None:
    document = (await Wire(house.url, None).get("/openapi.json")).body
    assert document["openapi"] == "3.1.0"
    answer = document["components"]["schemas"]["CheckAnswer"]
    assert set(answer["required"]) <= set(await wire.check("read_file", NOTES))
    assert "\\Z" not in msgspec.json.encode(document).decode()


async def test_begins_at_once_share_one_lease(house: House) -> None:
    wire = house.wire()
    found: list[int] = []

    async def begin() -> None:
        found.append((await wire.begin())["generation"])

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(begin)
    assert found == [1] * 6


async def test_turn_is_told_what_stands_within_its_budget(wire: Wire) -> None:
    assert (await wire.check("read_file", NOTES))["status"] == "passed"
    told = await wire.post("/v1/context", {"goal": "tidy", "budget_bytes": 4096})
    assert (told.status, told.body["status"]) == (200, "compiled")
    assert told.body["operational"]["pending_calls"] == 1
    assert {"tool": "*", "grant": "grant"} in told.body["capabilities"]
    assert int(told.headers["content-length"]) - len(json.dumps(told.body["received"])) <= 4096
    small = await wire.post("/v1/context", {"budget_bytes": 4095})
    assert (small.status, small.body["field"]) == (400, "$.budget_bytes")
    generation = told.body["generation"] + 1
    other = await wire.post("/v1/context", {"generation": generation})
    assert (other.status, other.body["code"]) == (409, "stale_generation")
