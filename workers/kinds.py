"""Each kind of checkpoint has one shape; what belongs to another kind is refused by field.

Source: SPEC C1.
"""

from typing import Any

from pmcl.contracts import (
    PLAN_TOOL,
    RECOMMENDATION_TOOL,
    CheckpointRequest,
    ContractError,
    Tool,
    TooLargeError,
    canonical,
    limits,
)

__all__ = ["check_kind"]


def check_kind(leaf: str | None, request: CheckpointRequest) -> None:
    """Return if the request is what its subject says, in the shape of that.

    Raises:
        TooLargeError: arguments, or all steps together, take more than 64 KiB.
        ContractError: a field that this kind does not have, or lacks.
    """
    if request.kind != leaf:
        raise ContractError("$.kind", request.kind, f"{leaf}, as the subject says")
    _check_size("$.arguments", request.arguments)
    match request.kind:
        case "tool":
            if request.steps:
                raise ContractError("$.steps", len(request.steps), "none, but of a plan")
        case "plan":
            _check_plan(request)
        case "recommendation":
            _check_recommendation(request)


def _check_plan(request: CheckpointRequest) -> None:
    if request.tool != PLAN_TOOL:
        raise ContractError("$.tool", "", _named(PLAN_TOOL))
    if request.arguments:
        raise ContractError("$.arguments", len(request.arguments), "none: a plan has steps")
    if not request.steps:
        raise ContractError("$.steps", 0, f"1 to {limits.PLAN_STEPS_MAX}")
    if request.effect is not None:
        raise ContractError("$.effect", request.effect, "none: each step claims its own")
    _check_no_call(request)
    _check_size("$.steps", request.steps)
    touched = sum(max(1, len(step.resources)) for step in request.steps)
    if touched > limits.PLAN_RESOURCES_MAX:
        limit = f"{limits.PLAN_RESOURCES_MAX} resources"
        raise TooLargeError("$.steps", f"{touched} resources", limit)


def _check_recommendation(request: CheckpointRequest) -> None:
    if request.tool != RECOMMENDATION_TOOL:
        raise ContractError("$.tool", "", _named(RECOMMENDATION_TOOL))
    text = request.arguments.get("text")
    if request.arguments.keys() != {"text"} or not isinstance(text, str):
        raise ContractError("$.arguments", "", "an object with a text alone")
    if not 0 < len(text.encode()) <= limits.FREE_TEXT_MAX_BYTES:
        limit = f"1 to {limits.FREE_TEXT_MAX_BYTES} bytes"
        raise TooLargeError("$.arguments.text", f"{len(text.encode())} bytes", limit)
    if request.steps:
        raise ContractError("$.steps", len(request.steps), "none, but of a plan")
    if request.effect not in (None, "inspect_local"):
        raise ContractError("$.effect", request.effect, "inspect_local: a text does nothing")
    _check_no_call(request)


def _check_no_call(request: CheckpointRequest) -> None:
    for name in ("definition", "plan_call_id", "expected_receipt"):
        if getattr(request, name) is not None:
            raise ContractError(f"$.{name}", "", "none, but of a tool call")
    if request.resources:
        raise ContractError("$.resources", len(request.resources), "none, but of a call or a step")


def _named(tool: Tool) -> str:
    return f"{tool.server}/{tool.name} with a definition hash of zeros"


def _check_size(field: str, value: Any) -> None:
    size = len(canonical(value))
    if size > limits.ARGUMENTS_MAX_BYTES:
        raise TooLargeError(field, f"{size} bytes", f"{limits.ARGUMENTS_MAX_BYTES} bytes")
