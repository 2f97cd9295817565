"""Authority: what a snapshot does not allow does not run, however well it is argued for.

What may run is said here a second time, apart from the judgement's own rules. Every combination of
grants is asked for over the real bus, complete with evidence, pre-mortem and justification.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import product
from typing import Final

import msgspec

from pmcl.bus import Credentials
from pmcl.contracts import AuthoritySnapshot, Effect, Grant, HostError, RefusedError, Resource
from pmcl.hosts import Host, HostConfig, Proposal, Verdict
from pmcl.ops.program.calls import TOOLS, argued, reading
from pmcl.ops.program.figure import Figure, share
from pmcl.ops.program.tries import Tries, runs
from pmcl.ops.settings import Settings

__all__ = ["GRANTS", "authority_figures", "try_authority", "try_ended_leases"]

GRANTS: Final[tuple[Grant | None, ...]] = ("grant", "approve", "prohibit", None)
"""The last is a grant that the snapshot does not name."""
_TRIES: Final = 20
_ROOT: Final = "/project"
_HOST_NAME: Final = "api.example.com"
# A busy sidecar is waited for: without its answer a host neither has nor loses a lease, and goes
# on with inspections, which is counted where nobody judges.
_ANSWERED_MS: Final = 30_000
_RESOURCES: Final = {
    "": Resource(kind="path", value=f"{_ROOT}/a"),
    "path": Resource(kind="path", value=f"{_ROOT}-evil/a"),
    "host": Resource(kind="host", value="evil.example.com"),
}
_OBSTACLES: Final = {
    "tool": "a prohibited or unnamed tool",
    "effect": "a prohibited or unnamed effect",
    "approval": "a missing approval",
    "path": "a path outside the roots",
    "host": "a host that is not allowed",
}
_ENDED: Final = {
    "disabled": "a lease that the host has disabled",
    "superseded": "a lease that another begin has fenced",
    "over": "a lease that has run out",
}
_ALLOWED: Final = "allowed"


class _Asked(msgspec.Struct, frozen=True):
    """One combination, and what stands against it."""

    tool: Grant | None
    effect: Effect
    resource: str
    obstacles: tuple[str, ...]


def _combinations(of_effects: Grant | None) -> list[_Asked]:
    return [
        _Asked(tool, effect, resource, _obstacles((tool, of_effects), effect, resource))
        for tool, effect, resource in product(GRANTS, TOOLS, _RESOURCES)
    ]


def _obstacles(
    grants: tuple[Grant | None, Grant | None], effect: Effect, resource: str
) -> tuple[str, ...]:
    """Return what forbids a call, by a second statement of the rules."""
    found = [
        name
        for name, grant in zip(("tool", "effect"), grants, strict=True)
        if grant in ("prohibit", None)
    ]
    if "approve" in grants:
        found.append("approval")
    if resource == "host" or (resource and effect != "inspect_local"):  # naming a host reaches it
        found.append(resource)
    return tuple(found)


def _snapshot(of_effects: Grant | None) -> AuthoritySnapshot:
    named = [(grant, name) for grant in GRANTS for name in TOOLS.values()]
    return AuthoritySnapshot(
        tools={f"{_server(grant)}/{name}": grant for grant, name in named if grant is not None},
        effects={} if of_effects is None else dict.fromkeys(TOOLS, of_effects),
        writable_roots=(_ROOT,),
        network_hosts=(_HOST_NAME,),
    )


def _server(grant: Grant | None) -> str:
    return f"tools-{grant or 'unnamed'}"


async def try_authority(settings: Settings, credentials: Sequence[Credentials]) -> dict[str, Tries]:
    """Return what ran, by obstacle, and how often authority held what it allows.

    Args:
        settings: of the running cell.
        credentials: one host for each of `GRANTS`, of all effects.
    """
    found = {name: Tries(how=f"{told}, by itself or among others; a pass counts as run")
             for name, told in _OBSTACLES.items()}  # fmt: skip
    found[_ALLOWED] = Tries(how="allowed calls that were held for a reason of authority")
    for own, of_effects in zip(credentials, GRANTS, strict=True):
        config = HostConfig(
            credentials=own,
            authority=_snapshot(of_effects),
            state_dir=settings.state_dir / "hosts",
        )
        async with Host.connect(config) as host:
            async for asked, proposal, verdict in _ask_all(host, of_effects):
                ran = await runs(host, verdict, proposal)
                for name in asked.obstacles:
                    found[name].add(ran=ran or verdict.status == "passed")
                if not asked.obstacles:
                    by_authority = any(each.startswith("authority.") for each in verdict.reasons)
                    found[_ALLOWED].add(ran=by_authority)
    return found


async def _ask_all(
    host: Host, of_effects: Grant | None
) -> AsyncIterator[tuple[_Asked, Proposal, Verdict]]:
    shown = {
        name: await host.observe(
            source="user", trust="user", summary=f"use {one.value}", resources=(one,)
        )
        for name, one in _RESOURCES.items()
    }
    for asked in _combinations(of_effects):
        resource = _RESOURCES[asked.resource]
        proposal = argued(_server(asked.tool), asked.effect, resource, shown[asked.resource])
        yield asked, proposal, await host.check(proposal)


async def try_ended_leases(settings: Settings, credentials: Credentials) -> dict[str, Tries]:
    """Return what ran under passes whose lease was ended since, by how it ended."""
    authority = AuthoritySnapshot(tools={"*": "grant"}, effects={"inspect_local": "grant"})
    place = settings.state_dir / "ended"
    config = HostConfig(
        credentials=credentials,
        authority=authority,
        state_dir=place / "first",
        deadline_ms=_ANSWERED_MS,
    )
    found = {
        name: Tries(how=f"{told}: calls passed before, and one checked after it")
        for name, told in _ENDED.items()
        if name != "over"
    }
    async with Host.connect(config) as host:
        passes = await _passes(host)
        other = msgspec.structs.replace(config, state_dir=place / "second")
        async with Host.connect(other) as second:
            await _try_after(host, passes, found["superseded"])
            passes = await _passes(second)
            await second.disable()
            await _try_after(second, passes, found["disabled"])
    return found


async def _passes(host: Host) -> list[tuple[Verdict, Proposal]]:
    proposals = [reading(f"{_ROOT}/{number}") for number in range(_TRIES)]
    return [(await host.check(proposal), proposal) for proposal in proposals]


async def _try_after(host: Host, passes: Sequence[tuple[Verdict, Proposal]], tries: Tries) -> None:
    """Check once more, which tells the host that its lease is over, then use the old passes."""
    proposal = reading(f"{_ROOT}/after")
    try:
        tries.add(ran=await runs(host, await host.check(proposal), proposal))
    except (RefusedError, HostError):
        tries.add(ran=False)
    for verdict, passed in passes:
        tries.add(ran=await runs(host, verdict, passed))


def authority_figures(found: Mapping[str, Tries]) -> list[Figure]:
    """Return the figures of all tries against authority."""
    names = {**_OBSTACLES, **_ENDED}
    figures = [
        share("authority", f"ran against {names.get(name, name)}", tries.ran, tries.n, tries.how)
        for name, tries in found.items()
        if name != _ALLOWED
    ]
    if allowed := found.get(_ALLOWED):
        figures.append(
            share("authority", "held although allowed", allowed.ran, allowed.n, allowed.how)
        )
    return figures
