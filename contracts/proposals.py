"""What binds a verdict to one call: the commitment to raw arguments and the proposal hash.

Source: SPEC C1.
"""

from typing import Any

from pmcl.contracts.canonical import canonical, keyed_digest, sha256
from pmcl.contracts.checkpoint import CheckpointRequest

__all__ = ["arguments_commitment", "proposal_hash"]


def arguments_commitment(salt: str, raw_arguments: dict[str, Any]) -> str:
    """Return the HMAC of the canonical raw arguments under the lease's salt (hex)."""
    return keyed_digest(bytes.fromhex(salt), canonical(raw_arguments))


def proposal_hash(scope: str, host: str, request: CheckpointRequest) -> str:
    """Return the hash that covers who proposes, under which generation, exactly which call.

    The request's own `proposal_hash` is not read.
    """
    covered = {
        "arguments": request.arguments,
        "arguments_commitment": request.arguments_commitment,
        "generation": request.generation,
        "host": host,
        "resources": request.resources,
        "scope": scope,
        "tool": request.tool,
    }
    return sha256(canonical(covered))
