from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pmcl.contracts import (
    AuditReceipt,
    AuthoritySnapshot,
    ExpectedReceipt,
    Observation,
    Outcome,
    PlanStep,
    Premortem,
    Receipt,
    SecretInNameError,
    Tool,
)
from pmcl.judgement import (
    check_audit_names,
    check_snapshot_names,
    check_turn_id,
    is_open_name,
    redact_observation,
    redact_outcome,
    redact_request,
)

KEY = b"k" * 32
TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
HASH = "d" * 64


@pytest.mark.parametrize(
    "name",
    [
        TOKEN,
        f"call-{TOKEN}",
        f"auth:{TOKEN}",
        f"token:1:{TOKEN}",
        "token=abcdef",
        "call/password=hunter2",
        "https://bob:hunter2@api.example.com/v1",
        "Authorization: Basic dXNlcjpwYXNz",
        "login --password hunter2",
        "AKIAIOSFODNN7EXAMPLE",
    ],
)
def test_name_with_a_secret_is_told(name: str) -> None:
    assert not is_open_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "auth:login",
        "mcp/secrets/token:create",
        "vault:token:lookup",
        "get_secret",
        "password_reset",
        "session key rotation",
        "turn-2026-12-01T04:05:06Z",
        "urn:uuid:3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        f"sha256:{HASH}",
        "alice@example.com",
        "https://api.example.com/v1/tokens",
        "/srv/secrets/token.txt",
        ULID,
        "",
    ],
)
def test_name_that_only_speaks_of_secrets_stays(name: str) -> None:
    assert is_open_name(name)


def _tool(**changes: str) -> Tool:
    return Tool(**({"server": "files", "name": "read", "definition_hash": HASH} | changes))


def _premortem(mode: str) -> Premortem:
    return Premortem(failure_mode=mode, likelihood=0.1, mitigation="looked")


REQUEST_FIELDS: dict[str, dict[str, Any]] = {
    "$.call_id": {"call_id": TOKEN},
    "$.tool.server": {"tool": _tool(server=TOKEN)},
    "$.tool.name": {"tool": _tool(name=f"read {TOKEN}")},
    "$.plan_call_id": {"plan_call_id": TOKEN},
    "$.expected_receipt.kind": {"expected_receipt": ExpectedReceipt(kind=TOKEN)},
    "$.premortem.failure_mode": {"premortem": _premortem(TOKEN)},
    "$.steps[1].tool.name": {
        "steps": (PlanStep(tool=_tool()), PlanStep(tool=_tool(name=TOKEN))),
    },
    "$.steps[0].tool.server": {"steps": (PlanStep(tool=_tool(server=TOKEN)),)},
}


def _refused(field: str, call: Callable[[], Any]) -> None:
    with pytest.raises(SecretInNameError) as caught:
        call()
    assert (caught.value.field, caught.value.value) == (field, "")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(("field", "changes"), REQUEST_FIELDS.items())
def test_request_with_a_secret_in_a_name_is_refused(
    make_request: Any, field: str, changes: dict[str, Any]
) -> None:
    request = msgspec.structs.replace(make_request(), **changes)
    _refused(field, lambda: redact_request(request, KEY))


@pytest.mark.parametrize("field", ["key", "source", "modality"])
def test_observation_with_a_secret_in_a_name_is_refused(field: str) -> None:
    fields: dict[str, Any] = {
        "evidence_id": ULID,
        "key": "k",
        "generation": 1,
        "source": "tool",
        "trust": "tool_output",
        "observed_at": 1,
        "summary": "s",
    }
    observation = Observation(**fields | {field: f"x{TOKEN[3:]}:{TOKEN}"})
    _refused(f"$.{field}", lambda: redact_observation(observation, KEY))


def test_every_name_of_a_contract_is_looked_at(make_request: Any) -> None:
    """A `Key` or an `Id` that is added to a contract is refused too, or redacted."""
    plain = msgspec.to_builtins(
        make_request(
            plan_call_id="plan",
            expected_receipt=ExpectedReceipt(kind="file"),
            premortem=_premortem("mode"),
        )
    )
    for path in _texts(plain):
        if path[-1] in _CHECKED_BY_PATTERN:
            continue
        changed = msgspec.convert(_with(plain, path, TOKEN), type(make_request()))
        try:
            shown = msgspec.json.encode(redact_request(changed, KEY)).decode()
        except SecretInNameError as error:
            shown = str(error)
        assert TOKEN not in shown, path


_CHECKED_BY_PATTERN = {
    "arguments_commitment",
    "definition_hash",
    "effect",
    "kind",
    "lease_id",
    "proposal_hash",
    "schema",
}


def _texts(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, str):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        found
        for name, member in items
        if isinstance(member, str | dict | list | tuple)
        for found in _texts(member, (*path, name))
    ]


def _with(value: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(copy[path[0]], path[1:], text)
    return copy


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("$.authority.tools", {"tools": {"*": "grant", f"files/{TOKEN}": "grant"}}),
        ("$.authority.writable_roots[1]", {"writable_roots": ("/a", f"/a/{TOKEN}")}),
        (
            "$.authority.network_hosts[0]",
            {"network_hosts": (f"https://bob:{TOKEN}@api.example.com",)},
        ),
    ],
)
def test_snapshot_with_a_secret_is_refused(field: str, changes: dict[str, Any]) -> None:
    authority = AuthoritySnapshot(**({"tools": {}, "effects": {}} | changes))
    _refused(field, lambda: check_snapshot_names(authority))


def test_turn_and_audit_with_a_secret_are_refused() -> None:
    _refused("$.turn_id", lambda: check_turn_id(TOKEN))
    receipt = AuditReceipt(
        audit_id=ULID,
        call_id=TOKEN,
        proposal_hash=HASH,
        cause="timeout",
        finished_at=1,
        status="succeeded",
    )
    _refused("$.call_id", lambda: check_audit_names(receipt))


def test_outcome_loses_what_holds_a_secret_and_stays_an_outcome() -> None:
    whole = Outcome(
        outcome_id=ULID,
        evaluation_id=ULID,
        proposal_hash=HASH,
        status="failed",
        finished_at=1,
        failure_mode="disk_full",
        receipt=Receipt(kind="file", digest=HASH),
    )
    assert redact_outcome(whole) is whole
    leaky = msgspec.structs.replace(
        whole, failure_mode=TOKEN, receipt=Receipt(kind=TOKEN, digest=HASH)
    )
    left = redact_outcome(leaky)
    assert left == msgspec.structs.replace(whole, failure_mode="other", receipt=None, redacted=True)


def test_audit_receipt_loses_a_mode_that_holds_a_secret() -> None:
    receipt = AuditReceipt(
        audit_id=ULID,
        call_id="c",
        proposal_hash=HASH,
        cause="timeout",
        finished_at=1,
        status="failed",
        failure_mode=TOKEN,
    )
    assert redact_outcome(receipt).failure_mode == "other"
