from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.contracts import (
    CheckpointRequest,
    ContractError,
    Tool,
    ToolDefinition,
    canonical,
    decode,
    encode,
    proposal_hash,
)
from pmcl.hosts.proposal import Binding, Proposal, bind

KEY = b"k" * 32
BINDING = Binding(scope="s", host="h", lease_id="0" * 26, generation=3, salt="ab" * 32)
TOOL = Tool(server="files", name="write_file", definition_hash="0" * 64)

scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=12)
arguments = st.dictionaries(
    st.text(max_size=8), scalars | st.lists(scalars, max_size=3), max_size=4
)


def propose(raw: dict[str, Any], call_id: str = "c") -> Proposal:
    return Proposal(goal="g", tool=TOOL, arguments=raw, call_id=call_id)


@given(raw=arguments)
def test_bound_request_survives_the_wire_and_its_own_hash(raw: dict[str, Any]) -> None:
    request = bind(propose(raw), BINDING, KEY)
    assert decode(encode(request), CheckpointRequest) == request
    assert proposal_hash("s", "h", request) == request.proposal_hash


@given(one=arguments, other=arguments)
def test_commitment_tells_raw_arguments_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    commitments = {bind(propose(raw), BINDING, KEY).arguments_commitment for raw in (one, other)}
    assert (len(commitments) == 1) == (canonical(one) == canonical(other))


def test_secret_does_not_leave_but_decides() -> None:
    one, other = ({"password": secret} for secret in ("correct-horse", "battery-staple"))
    hashes = set()
    for raw in (one, other):
        request = bind(propose(raw), BINDING, KEY)
        assert raw["password"].encode() not in encode(request)
        hashes.add(request.proposal_hash)
    assert len(hashes) == 2


@pytest.mark.parametrize("bad", [float("nan"), 2**60, float("inf")])
def test_arguments_without_a_canonical_form_are_refused(bad: Any) -> None:
    with pytest.raises(ContractError):
        bind(propose({"n": bad}), BINDING, KEY)


def test_neither_arguments_nor_salt_are_shown() -> None:
    assert "hunter2" not in repr(propose({"password": "hunter2"}))
    assert BINDING.salt not in repr(BINDING)


def test_call_ids_are_made_and_differ() -> None:
    made = {Proposal(goal="g", tool=TOOL, arguments={}).call_id for _ in range(100)}
    assert len(made) == 100


@pytest.mark.parametrize(
    ("parameters", "description"),
    [
        ({}, "use ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ({"properties": {"password": {"type": "string", "default": "hunter2"}}}, ""),
        ({"properties": {"q": {"enum": ["ghp_abcdefghijklmnopqrstuvwxyz0123456789"]}}}, ""),
    ],
)
def test_definition_with_a_secret_stays_at_home(
    parameters: dict[str, Any], description: str
) -> None:
    definition = ToolDefinition(description=description, parameters=parameters)
    proposal = msgspec.structs.replace(propose({}), definition=definition)
    assert bind(proposal, BINDING, KEY).definition is None


def test_definition_that_only_names_a_secret_is_sent() -> None:
    parameters = {"properties": {"password": {"type": "string", "description": "the new one"}}}
    definition = ToolDefinition(description="Set the password", parameters=parameters)
    proposal = msgspec.structs.replace(propose({}), definition=definition)
    assert bind(proposal, BINDING, KEY).definition == definition
