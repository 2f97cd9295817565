"""What binds a verdict to one call: commitment, definition hash and proposal hash.

Source: SPEC C1.
"""

from typing import Any

from pmcl.contracts.canonical import canonical, keyed_digest, sha256
from pmcl.contracts.checkpoint import CheckpointRequest, ToolDefinition
from pmcl.contracts.errors import TooLargeError
from pmcl.contracts.limits import DEFINITION_MAX_BYTES

__all__ = ["arguments_commitment", "definition_hash", "proposal_hash"]


def arguments_commitment(salt: str, raw_arguments: dict[str, Any]) -> str:
    """Return the HMAC of the canonical raw arguments under the lease's salt (hex)."""
    return keyed_digest(bytes.fromhex(salt), canonical(raw_arguments))


def definition_hash(definition: ToolDefinition) -> str:
    """Return the hash that a `Tool` pins its definition by (hex).

    Raises:
        TooLargeError: more than 16 KiB of canonical JSON.
        ContractError: it has no canonical form.
    """
    data = canonical(definition)
    if len(data) > DEFINITION_MAX_BYTES:
        limit = f"{DEFINITION_MAX_BYTES} bytes"
        raise TooLargeError("$.definition", f"{len(data)} bytes", limit)
    return sha256(data)


def proposal_hash(scope: str, host: str, request: CheckpointRequest) -> str:
    """Return the hash that covers who proposes, under which generation, exactly which call.

    The request's own `proposal_hash` is not read, nor its call id: the same proposal asked for
    again has the same hash. One that is no tool call has its kind and its steps covered too.
    """
    covered: dict[str, Any] = {
        "arguments": request.arguments,
        "arguments_commitment": request.arguments_commitment,
        "generation": request.generation,
        "host": host,
        "resources": request.resources,
        "scope": scope,
        "tool": request.tool,
    }
    if request.kind != "tool":
        covered |= {"kind": request.kind, "steps": request.steps}
    return sha256(canonical(covered))
