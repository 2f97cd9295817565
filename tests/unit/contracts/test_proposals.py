from typing import Any

import msgspec
import pytest

from pmcl.contracts import (
    PLAN_TOOL,
    CheckpointRequest,
    ContractError,
    PlanStep,
    Resource,
    Tool,
    ToolAnnotations,
    TooLargeError,
    ToolDefinition,
    arguments_commitment,
    canonical,
    decode,
    definition_hash,
    encode,
    limits,
    proposal_hash,
)

TOOL = Tool(server="files", name="write", definition_hash="d" * 64)
REQUEST = CheckpointRequest(
    call_id="c",
    lease_id="01ARZ3NDEKTSV4RRFFQ69G5FAV",
    generation=1,
    goal="g",
    kind="tool",
    tool=TOOL,
    arguments={"path": "/a", "text": "x"},
    arguments_commitment="c" * 64,
    proposal_hash="0" * 64,
    resources=(Resource(kind="path", value="/a"), Resource(kind="host", value="h")),
)


def _changed(**changes: Any) -> CheckpointRequest:
    return msgspec.structs.replace(REQUEST, **changes)


@pytest.mark.parametrize(
    "changed",
    [
        _changed(generation=2),
        _changed(arguments={"path": "/a", "text": "y"}),
        _changed(arguments={"path": "/a"}),
        _changed(arguments_commitment="e" * 64),
        _changed(tool=msgspec.structs.replace(TOOL, server="other")),
        _changed(tool=msgspec.structs.replace(TOOL, name="other")),
        _changed(tool=msgspec.structs.replace(TOOL, definition_hash="e" * 64)),
        _changed(resources=REQUEST.resources[:1]),
        _changed(resources=REQUEST.resources[::-1]),
        _changed(resources=(Resource(kind="path", value="/b"), REQUEST.resources[1])),
        _changed(resources=(Resource(kind="other", value="/a"), REQUEST.resources[1])),
        _changed(
            resources=(Resource(kind="path", value="/a", argument="path"), REQUEST.resources[1])
        ),
    ],
)
def test_hash_changes_with_every_covered_field(changed: CheckpointRequest) -> None:
    assert proposal_hash("s", "h", changed) != proposal_hash("s", "h", REQUEST)


PLAN = _changed(kind="plan", tool=PLAN_TOOL, arguments={}, steps=(PlanStep(tool=TOOL),))


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "recommendation"},
        {"kind": "tool"},
        {"steps": ()},
        {"steps": (PlanStep(tool=TOOL), PlanStep(tool=TOOL))},
        {"steps": (PlanStep(tool=TOOL, arguments={}),)},
        {"steps": (PlanStep(tool=TOOL, effect="mutation"),)},
        {"steps": (PlanStep(tool=TOOL, resources=(Resource(kind="path", value="/a"),)),)},
    ],
    ids=str,
)
def test_hash_of_a_plan_covers_its_kind_and_steps(changed: dict[str, Any]) -> None:
    other = msgspec.structs.replace(PLAN, **changed)
    assert proposal_hash("s", "h", other) != proposal_hash("s", "h", PLAN)


def test_hash_covers_who_proposes() -> None:
    hashes = {proposal_hash(scope, host, REQUEST) for scope in "ab" for host in "cd"}
    assert len(hashes) == 4


@pytest.mark.parametrize(
    "same",
    [
        _changed(arguments={"text": "x", "path": "/a"}),
        _changed(proposal_hash="f" * 64),
        _changed(goal="other words"),
        _changed(call_id="other"),
    ],
)
def test_hash_ignores_key_order_words_and_itself(same: CheckpointRequest) -> None:
    assert proposal_hash("s", "h", same) == proposal_hash("s", "h", REQUEST)


def test_commitment_is_keyed_and_ignores_key_order() -> None:
    salt = "ab" * 32
    commitment = arguments_commitment(salt, {"a": 1, "b": 2})
    assert commitment == arguments_commitment(salt, {"b": 2, "a": 1.0})
    assert commitment != arguments_commitment(salt, {"a": 1, "b": 3})
    assert commitment != arguments_commitment("cd" * 32, {"a": 1, "b": 2})
    assert len(commitment) == 64


def test_commitment_tells_not_a_number_from_null() -> None:
    with pytest.raises(ContractError):
        arguments_commitment("ab" * 32, {"amount": float("nan")})


DEFINITION = ToolDefinition(
    description="Write a text", parameters={"properties": {"n": {"maximum": 1.0}}}
)


@pytest.mark.parametrize(
    "changed",
    [
        ToolDefinition(description="Write a text.", parameters=DEFINITION.parameters),
        ToolDefinition(description="Write a text"),
        msgspec.structs.replace(DEFINITION, annotations=ToolAnnotations(read_only=True)),
    ],
)
def test_definition_hash_changes_with_every_part(changed: ToolDefinition) -> None:
    assert definition_hash(changed) != definition_hash(DEFINITION)


def test_definition_keeps_its_hash_over_the_wire() -> None:
    request = decode(encode(_changed(definition=DEFINITION)), CheckpointRequest)
    assert request.definition is not None
    assert definition_hash(request.definition) == definition_hash(DEFINITION)


def test_definition_over_the_limit_has_no_hash() -> None:
    room = limits.DEFINITION_MAX_BYTES - len(canonical(ToolDefinition()))
    assert definition_hash(ToolDefinition(description="x" * room))
    with pytest.raises(TooLargeError) as refused:
        definition_hash(ToolDefinition(description="x" * (room + 1)))
    assert refused.value.field == "$.definition"
