from itertools import product
from typing import Any

import pytest

from pmcl.contracts import AuthoritySnapshot, BusError, BusyError, Effect, Grant, Tool
from pmcl.hosts.asking import degraded_cause
from pmcl.hosts.proposal import Binding, Proposal, bind
from pmcl.hosts.verdict import degraded
from pmcl.judgement import OperatorsFiles

BINDING = Binding(scope="s", host="h", lease_id="", generation=0, salt="ab" * 32)
GRANTS: tuple[Grant | None, ...] = ("grant", "approve", "prohibit", None)
EFFECTS: tuple[Effect | None, ...] = ("inspect_local", "network", "mutation", None)


@pytest.mark.parametrize(
    ("name", "effect", "kind", "tool_grant", "effect_grant"),
    list(product(("read_file", "write_file", "zzz"), EFFECTS, ("tool", "plan"), GRANTS, GRANTS)),
)
def test_only_a_granted_local_inspection_goes_on(
    name: str, effect: Effect | None, kind: Any, tool_grant: Grant | None, effect_grant: Any
) -> None:
    tool = Tool(server="files", name=name, definition_hash="0" * 64)
    authority = AuthoritySnapshot(
        tools={} if tool_grant is None else {f"files/{name}": tool_grant},
        effects={} if effect_grant is None else {"inspect_local": effect_grant},
    )
    proposal = Proposal(goal="g", tool=tool, arguments={}, kind=kind, effect=effect)
    verdict = degraded(bind(proposal, BINDING, b"k"), BINDING, authority, "timeout")
    inspects = name == "read_file" and effect in ("inspect_local", None) and kind == "tool"
    granted = tool_grant == effect_grant == "grant"
    assert (verdict.status == "degraded") == (inspects and granted)
    assert verdict.status in ("degraded", "held")
    assert verdict.reasons == ("degraded.timeout",)
    assert not verdict.passed


@pytest.mark.parametrize(("path", "goes_on"), [("/s/keys/a.nk", False), ("/s/notes", True)])
def test_what_is_the_operators_stays_so_when_nobody_judges(path: str, goes_on: bool) -> None:  # noqa: FBT001 - a case
    tool = Tool(server="files", name="read_file", definition_hash="0" * 64)
    authority = AuthoritySnapshot(tools={"*": "grant"}, effects={"inspect_local": "grant"})
    request = bind(Proposal(goal="g", tool=tool, arguments={"file": path}), BINDING, b"k")
    files = OperatorsFiles(folders=("/s",))
    verdict = degraded(request, BINDING, authority, "timeout", files=files)
    assert (verdict.status == "degraded") == goes_on


def test_unknown_bus_trouble_means_nobody_judged() -> None:
    assert degraded_cause(BusError("x")) == "timeout"
    assert degraded_cause(BusyError("$", "", "")) == "busy"
