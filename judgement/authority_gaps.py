"""What an operator would have to grant so that authority does not hold a request.

It is told to operators; nothing is granted by it. Source: SPEC A5.
"""

import json
from collections.abc import Iterator

from pmcl.contracts import AuthoritySnapshot, CheckpointRequest
from pmcl.judgement.authority import hosts_outside, paths_outside, tool_grant
from pmcl.judgement.effects import EffectRules, classify
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.paths import components
from pmcl.judgement.steps import step_request

__all__ = ["authority_gaps"]


def authority_gaps(inputs: Inputs) -> tuple[str, ...]:
    """Return the narrowest lines that the host's profile lacks, in its own terms."""
    request = inputs.request
    calls = [step_request(request, step) for step in request.steps]
    if request.kind == "tool":
        calls = [request]
    gaps = [gap for call in calls for gap in _gaps(inputs.authority, call, inputs.rules)]
    return tuple(dict.fromkeys(gaps))


def _gaps(
    snapshot: AuthoritySnapshot, request: CheckpointRequest, rules: EffectRules
) -> Iterator[str]:
    tool, effect = request.tool, classify(request, rules).effect
    if tool_grant(snapshot, tool) == "prohibit":
        name = _quoted(f"{tool.server}/{tool.name}")
        yield f'[tools] {name} = "approve", or "grant"'
    if snapshot.effects.get(effect, "prohibit") == "prohibit":
        yield f'[effects] {effect} = "approve", or "grant"'
    if effect == "inspect_local":
        return
    for path in paths_outside(snapshot, request.resources):
        if components(path) is None:
            yield f"nothing: {_quoted(path)} names no certain place"
        else:
            yield f"writable_roots with {_quoted(path)}, or a folder above it"
    for host in hosts_outside(snapshot, request.resources):
        yield f"network_hosts with {_quoted(host)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
