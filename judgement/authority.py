"""What the snapshot does not name is prohibited, and the strictest answer wins.

No evidence, verdict or claim is read here, so none can widen anything. While an operator's stop is
in force, only local inspections are within it. Source: SPEC A5, F7.
"""

from collections.abc import Iterator
from typing import Final

from pmcl.contracts import AuthoritySnapshot, Effect, Grant
from pmcl.judgement.hostnames import fold_host
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.paths import below

__all__ = ["LEASE_EXPIRED", "authority_reasons", "lease_lives"]

LEASE_EXPIRED: Final = "authority.lease_expired"
_STOPPED: Final = "authority.stopped"


def authority_reasons(inputs: Inputs, effect: Effect) -> tuple[str, ...]:
    """Return every reason for which authority holds the request; empty when none does."""
    snapshot = inputs.authority
    tool = _tool_grant(snapshot, inputs.request.tool.server, inputs.request.tool.name)
    grants = (tool, snapshot.effects.get(effect, "prohibit"))
    reasons = []
    if inputs.stopped and effect != "inspect_local":
        reasons.append(_STOPPED)
    if not lease_lives(inputs):
        reasons.append(LEASE_EXPIRED)
    if grants[0] == "prohibit":
        reasons.append("authority.tool_prohibited")
    if grants[1] == "prohibit":
        reasons.append("authority.effect_prohibited")
    if "approve" in grants:
        reasons.append("authority.approval_required")
    if effect != "inspect_local":
        reasons.extend(_outside(inputs))
    return tuple(reasons)


def lease_lives(inputs: Inputs) -> bool:
    """Return whether the lease that asks is the living one and not over."""
    asking = inputs.request.generation
    return inputs.now_ms < inputs.lease_expires_at and asking == inputs.lease_generation


def _tool_grant(snapshot: AuthoritySnapshot, server: str, name: str) -> Grant:
    named = snapshot.tools.get(f"{server}/{name}")
    return named or snapshot.tools.get("*", "prohibit")


def _outside(inputs: Inputs) -> Iterator[str]:
    snapshot, resources = inputs.authority, inputs.request.resources
    paths = [resource.value for resource in resources if resource.kind == "path"]
    if not all(below(path, snapshot.writable_roots) for path in paths):
        yield "authority.path_outside_roots"
    hosts = [resource.value for resource in resources if resource.kind == "host"]
    if hosts and not _reachable(hosts, snapshot.network_hosts):
        yield "authority.host_not_allowed"


def _reachable(hosts: list[str], allowed: tuple[str, ...]) -> bool:
    if "*" in allowed:
        return True
    folded = {fold_host(name) for name in allowed} - {None}
    return all(fold_host(host) in folded for host in hosts)
