from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.contracts import (
    AuthoritySnapshot,
    Effect,
    ExpectedReceipt,
    Grant,
    Justification,
    Resource,
)
from pmcl.judgement import EffectRules, classify, judge

EFFECTS: tuple[Effect, ...] = (
    "inspect_local",
    "network",
    "sensing",
    "mutation",
    "communication",
    "execution",
)
OVER = ("authority.lease_expired",)
FIXED: tuple[Grant, ...] = ("grant", "approve", "prohibit")
GRANTS: tuple[Grant | None, ...] = (*FIXED, None)
TOOL_OF: dict[Effect, str] = {
    "inspect_local": "read_file",
    "network": "fetch",
    "sensing": "take_photo",
    "mutation": "write_file",
    "communication": "send",
    "execution": "run",
}


def _snapshot(tools: Any = None, effects: Any = None, **rest: Any) -> AuthoritySnapshot:
    return AuthoritySnapshot(
        tools={"*": "grant"} if tools is None else tools,
        effects=dict.fromkeys(EFFECTS, "grant") if effects is None else effects,
        writable_roots=rest.get("roots", ("/",)),
        network_hosts=rest.get("hosts", ("*",)),
    )


@pytest.fixture(scope="session")
def reasons_of(make_request: Any, make_inputs: Any) -> Any:
    def reasons(tool: str, authority: AuthoritySnapshot, **changes: Any) -> tuple[str, ...]:
        request = make_request(tool, **changes)
        reasons = judge(make_inputs(request, authority=authority)).evaluation.reasons
        return tuple(
            reason.removeprefix("authority.") for reason in reasons if reason.startswith("auth")
        )

    return reasons


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ({"files/write_file": "grant"}, ()),
        ({"*": "grant"}, ()),
        ({"*": "prohibit", "files/write_file": "grant"}, ()),
        ({"*": "grant", "files/write_file": "prohibit"}, ("tool_prohibited",)),
        ({"*": "grant", "files/write_file": "approve"}, ("approval_required",)),
        ({"*": "approve"}, ("approval_required",)),
        ({}, ("tool_prohibited",)),
        ({"write_file": "grant"}, ("tool_prohibited",)),
        ({"other/write_file": "grant"}, ("tool_prohibited",)),
        ({"files/*": "grant"}, ("tool_prohibited",)),
    ],
)
def test_tool_grant_is_the_named_one_then_the_star(
    tools: dict[str, Grant], expected: tuple[str, ...], reasons_of: Any
) -> None:
    assert reasons_of("write_file", _snapshot(tools)) == expected


@pytest.mark.parametrize(("effect", "grant", "tool"), [*product(EFFECTS, GRANTS, FIXED)])
def test_strictest_of_tool_and_effect_grant_wins(
    effect: Effect, grant: Grant | None, tool: Grant, reasons_of: Any
) -> None:
    effects = {} if grant is None else {effect: grant}
    expected = (
        *(("tool_prohibited",) if tool == "prohibit" else ()),
        *(("effect_prohibited",) if grant in ("prohibit", None) else ()),
        *(("approval_required",) if "approve" in (tool, grant) else ()),
    )
    assert reasons_of(TOOL_OF[effect], _snapshot({"*": tool}, effects)) == expected


def test_every_failing_reason_is_listed_in_order(make_request: Any, make_inputs: Any) -> None:
    request = make_request(
        "send",
        resources=(
            Resource(kind="path", value="/etc/passwd"),
            Resource(kind="host", value="evil.example"),
        ),
    )
    authority = _snapshot({"*": "prohibit"}, {"communication": "approve"}, roots=(), hosts=())
    inputs = make_inputs(request, authority=authority, lease_expires_at=0)
    evaluation = judge(inputs).evaluation
    assert evaluation.reasons == (
        "authority.lease_expired",
        "authority.tool_prohibited",
        "authority.approval_required",
        "authority.path_outside_roots",
        "authority.host_not_allowed",
        "plan.unmitigated",
    )
    assert evaluation.checkpoint_status == "held"
    assert evaluation.revision_request is None


@pytest.mark.parametrize(("left_ms", "expected"), [(1, ()), (0, OVER), (-1, OVER)])
def test_lease_ends_at_its_expiry(
    left_ms: int, expected: tuple[str, ...], make_request: Any, make_inputs: Any
) -> None:
    inputs = make_inputs(make_request("read_file"), lease_expires_at=1_000_000 + left_ms)
    assert judge(inputs).evaluation.reasons == expected


def test_other_generation_has_no_lease(make_request: Any, make_inputs: Any) -> None:
    inputs = make_inputs(make_request("read_file", generation=2))
    assert judge(inputs).evaluation.reasons == OVER


@pytest.mark.parametrize(
    ("tool", "path", "expected"),
    [
        ("write_file", "/project/a", ()),
        ("write_file", "/project-evil/a", ("path_outside_roots",)),
        ("write_file", "/project/../a", ("path_outside_roots",)),
        ("fetch", "/etc/a", ("path_outside_roots",)),
        ("read_file", "/etc/a", ()),
    ],
)
def test_changed_path_is_below_a_root(
    tool: str, path: str, expected: tuple[str, ...], reasons_of: Any
) -> None:
    resources = (
        Resource(kind="path", value="/project/ok"),
        Resource(kind="path", value=path),
        Resource(kind="other", value="/etc"),
    )
    assert reasons_of(tool, _snapshot(roots=("/project",)), resources=resources) == expected


@pytest.mark.parametrize(
    ("host", "allowed", "expected"),
    [
        ("api.example", ("api.example",), ()),
        ("API.example.", ("api.EXAMPLE",), ()),
        ("b\u00fccher.example", ("xn--bcher-kva.example",), ()),
        ("xn--bcher-kva.example", ("B\u00dcCHER.example.",), ()),
        ("evil.example", ("*",), ()),
        ("evil.example", (), ("host_not_allowed",)),
        ("evil.api.example", ("api.example",), ("host_not_allowed",)),
        ("api.example.evil", ("api.example",), ("host_not_allowed",)),
        ("fa\u00df.example", ("fass.example", "fa\u00df.example"), ("host_not_allowed",)),
        ("\u00e4" * 70, ("\u00e4" * 70,), ("host_not_allowed",)),
    ],
)
def test_host_is_an_allowed_one(
    host: str, allowed: tuple[str, ...], expected: tuple[str, ...], reasons_of: Any
) -> None:
    resources = (Resource(kind="host", value=host),)
    assert reasons_of("fetch", _snapshot(hosts=allowed), resources=resources) == expected
    assert reasons_of("read_file", _snapshot(hosts=allowed), resources=resources) == expected


PATHS = ("/project/a", "/project-evil/a", "/project/../a", "relative", "/etc/passwd")
HOSTS = ("api.example", "evil.example", "API.EXAMPLE.", "fa\u00df.example")


@given(data=st.data())
def test_nothing_passes_where_the_snapshot_prohibits(
    data: st.DataObject,
    make_request: Any,
    make_inputs: Any,
    make_evidence: Any,
    make_premortem: Any,
) -> None:
    draw = data.draw
    name = draw(st.sampled_from([*TOOL_OF.values(), "frobnicate", "get_and_send"]))
    named, star = draw(st.sampled_from(GRANTS)), draw(st.sampled_from(GRANTS))
    tools = {
        key: grant for key, grant in ((f"files/{name}", named), ("*", star)) if grant is not None
    }
    effects = draw(st.dictionaries(st.sampled_from(EFFECTS), st.sampled_from(FIXED)))
    roots = draw(st.lists(st.sampled_from(["/project", "/srv", "relative"]), max_size=2))
    hosts = draw(st.lists(st.sampled_from(["api.example", "other.example"]), max_size=2))
    paths = draw(st.lists(st.sampled_from(PATHS), max_size=2))
    reached = draw(st.lists(st.sampled_from(HOSTS), max_size=2))
    claim = draw(st.none() | st.sampled_from(EFFECTS))
    read_only = draw(st.none() | st.booleans())
    left_ms = draw(st.sampled_from([-1, 0, 1, 60_000]))
    request = make_request(
        name,
        effect=claim,
        read_only=read_only,
        reversibility=draw(st.none() | st.sampled_from(["reversible", "irreversible"])),
        resources=(
            *(Resource(kind="path", value=path) for path in paths),
            *(Resource(kind="host", value=host) for host in reached),
        ),
        premortem=make_premortem("A"),
        justification=Justification(necessity="the user asks for it"),  # as sensing needs
        expected_receipt=ExpectedReceipt(kind="receipt"),
    )
    authority = AuthoritySnapshot(
        tools=tools, effects=effects, writable_roots=tuple(roots), network_hosts=tuple(hosts)
    )
    inputs = make_inputs(
        request,
        authority=authority,
        evidence=(make_evidence("A"),),
        lease_expires_at=1_000_000 + left_ms,
    )
    effect = classify(request, EffectRules()).effect
    external = effect != "inspect_local"
    allowed = (
        (named or star) == "grant"
        and effects.get(effect) == "grant"
        and left_ms > 0
        and (not external or all(_inside(path, roots) for path in paths))
        and (not external or all(host.lower().rstrip(".") in hosts for host in reached))
    )
    evaluation = judge(inputs).evaluation
    assert (evaluation.checkpoint_status == "passed") is allowed
    assert any(reason.startswith("authority.") for reason in evaluation.reasons) is not allowed


def _inside(path: str, roots: list[str]) -> bool:
    return path == "/project/a" and "/project" in roots
