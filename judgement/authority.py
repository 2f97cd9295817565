"""What the snapshot does not name is prohibited, and the strictest answer wins.

No evidence, verdict or claim is read here, so none can widen anything. While an operator's stop is
in force, only local inspections are within it. Source: SPEC A5, F7.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from pmcl.contracts import AuthoritySnapshot, Effect, Grant, Resource, Tool
from pmcl.judgement.deciding import decides
from pmcl.judgement.hostnames import fold_host
from pmcl.judgement.inputs import Inputs
from pmcl.judgement.operators_files import OperatorsFiles
from pmcl.judgement.paths import below

__all__ = [
    "LEASE_EXPIRED",
    "authority_reasons",
    "hosts_outside",
    "lease_lives",
    "paths_outside",
    "tool_grant",
]

LEASE_EXPIRED: Final = "authority.lease_expired"
_STOPPED: Final = "authority.stopped"


def authority_reasons(inputs: Inputs, effect: Effect) -> tuple[str, ...]:
    """Return every reason for which authority holds the request; empty when none does."""
    snapshot = inputs.authority
    tool = tool_grant(snapshot, inputs.request.tool)
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
    if decides(inputs.request, effect, _own_files(inputs), inputs.rules):
        reasons.append("authority.operators_own")
    if "approve" in grants:
        reasons.append("authority.approval_required")
    if effect != "inspect_local":
        reasons.extend(_outside(inputs))
    return tuple(reasons)


def _own_files(inputs: Inputs) -> OperatorsFiles:
    return OperatorsFiles(inputs.state_folders, f"{inputs.scope}.{inputs.host}")


def lease_lives(inputs: Inputs) -> bool:
    """Return whether the lease that asks is the living one and not over."""
    asking = inputs.request.generation
    return inputs.now_ms < inputs.lease_expires_at and asking == inputs.lease_generation


def tool_grant(snapshot: AuthoritySnapshot, tool: Tool) -> Grant:
    """Return what the snapshot says of a tool, by its name before `*`."""
    named = snapshot.tools.get(f"{tool.server}/{tool.name}")
    return named or snapshot.tools.get("*", "prohibit")


def paths_outside(snapshot: AuthoritySnapshot, resources: Iterable[Resource]) -> list[str]:
    """Return the paths that no writable root covers."""
    paths = [resource.value for resource in resources if resource.kind == "path"]
    return [path for path in paths if not below(path, snapshot.writable_roots)]


def hosts_outside(snapshot: AuthoritySnapshot, resources: Iterable[Resource]) -> list[str]:
    """Return the network hosts that the snapshot does not allow."""
    if "*" in snapshot.network_hosts:
        return []
    folded = {fold_host(name) for name in snapshot.network_hosts} - {None}
    hosts = [resource.value for resource in resources if resource.kind == "host"]
    return [host for host in hosts if fold_host(host) not in folded]


def _outside(inputs: Inputs) -> Iterator[str]:
    snapshot, resources = inputs.authority, inputs.request.resources
    if paths_outside(snapshot, resources):
        yield "authority.path_outside_roots"
    if hosts_outside(snapshot, resources):
        yield "authority.host_not_allowed"
