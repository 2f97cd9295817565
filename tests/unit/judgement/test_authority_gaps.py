"""What an operator is told to grant is what holds the call, and the narrowest that lifts it."""

import tomllib
from typing import Any

import pytest

from pmcl.contracts import AuthoritySnapshot, PlanStep, Resource, Tool
from pmcl.judgement import authority_gaps, judge

PATHS = (Resource(kind="path", value="/etc/passwd"), Resource(kind="path", value="/project/a"))
HOST = Resource(kind="host", value="evil.example")


@pytest.mark.parametrize(
    ("change", "gaps"),
    [
        ({}, ()),
        ({"tools": {}}, ('[tools] "files/write_file" = "approve", or "grant"',)),
        ({"effects": {}}, ('[effects] mutation = "approve", or "grant"',)),
        ({"effects": {"mutation": "approve"}}, ()),
    ],
)
def test_a_grant_that_is_missing_is_named(
    change: dict[str, Any],
    gaps: tuple[str, ...],
    make_request: Any,
    make_inputs: Any,
    make_authority: Any,
) -> None:
    inputs = make_inputs(make_request(), authority=make_authority(**change))
    assert authority_gaps(inputs) == gaps


def test_only_what_is_outside_is_named(
    make_request: Any, make_inputs: Any, make_authority: Any
) -> None:
    request = make_request(resources=(*PATHS, HOST, Resource(kind="path", value='../"x"')))
    inputs = make_inputs(request, authority=make_authority(hosts=("good.example",)))
    assert authority_gaps(inputs) == (
        'writable_roots with "/etc/passwd", or a folder above it',
        'nothing: "../\\"x\\"" names no certain place',
        'network_hosts with "evil.example"',
    )


def test_what_is_named_lifts_the_reasons(make_request: Any, make_inputs: Any) -> None:
    request = make_request(resources=(*PATHS, HOST))
    bare = make_inputs(request, authority=AuthoritySnapshot(tools={}, effects={}))
    assert len(authority_gaps(bare)) == 5
    granted = AuthoritySnapshot(
        tools=tomllib.loads('"files/write_file" = "grant"'),
        effects={"mutation": "grant"},
        writable_roots=("/etc/passwd", "/project/a"),
        network_hosts=("evil.example",),
    )
    inputs = make_inputs(request, authority=granted)
    assert authority_gaps(inputs) == ()
    reasons = judge(inputs).evaluation.reasons
    assert not any(reason.startswith("authority.") for reason in reasons)


def test_an_inspection_needs_no_roots(make_request: Any, make_inputs: Any) -> None:
    assert authority_gaps(make_inputs(make_request("read_file", resources=PATHS))) == ()


def test_each_step_of_a_plan_is_looked_at(
    make_request: Any, make_inputs: Any, make_authority: Any
) -> None:
    def step(name: str) -> PlanStep:
        return PlanStep(tool=Tool(server="files", name=name, definition_hash="d" * 64))

    request = make_request(kind="plan", tool=None, steps=(step("read_file"), step("write_file")))
    inputs = make_inputs(request, authority=make_authority(tools={"files/read_file": "grant"}))
    assert authority_gaps(inputs) == ('[tools] "files/write_file" = "approve", or "grant"',)


def test_a_recommendation_needs_none(make_request: Any, make_inputs: Any) -> None:
    nothing = AuthoritySnapshot(tools={}, effects={})
    request = make_request(kind="recommendation", tool=None)
    assert authority_gaps(make_inputs(request, authority=nothing)) == ()
