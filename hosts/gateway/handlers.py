"""What each route does, with a caller that is known and a body that fits.

Everything is done by the host's own client; nothing here decides.
Source: SPEC G4.
"""

import msgspec

from pmcl.contracts import Context, TrustNotAllowedError
from pmcl.hosts.desk import (
    BeginAsked,
    CheckAnswer,
    CheckAsked,
    ContextAsked,
    Desk,
    DispatchAnswer,
    DispatchAsked,
    LeaseAnswer,
    ManyObserved,
    ManyStored,
    ObserveAsked,
    Observed,
    OutcomeAnswer,
    OutcomeAsked,
    Stored,
    TurnAnswer,
    TurnAsked,
)
from pmcl.hosts.gateway.access import Caller
from pmcl.hosts.gateway.refusals import GatewayRefusedError
from pmcl.hosts.gateway.session import Terms
from pmcl.hosts.gateway.sessions import Sessions
from pmcl.hosts.hooks import AGENTS, HookAnswer

__all__ = [
    "Call",
    "begin",
    "check",
    "complete",
    "context",
    "disable",
    "dispatch",
    "hook",
    "observe",
    "observe_many",
    "outcome",
    "state",
]


class Call(msgspec.Struct, frozen=True):
    """One authenticated request.

    Attributes:
        named: what the path names: a verdict id, an agent.
    """

    caller: Caller
    sessions: Sessions
    named: str = ""


async def begin(call: Call, asked: BeginAsked) -> LeaseAnswer:
    """Begin or join a lease; without a sidecar in time, it comes later."""
    terms = await _terms(call, asked)
    async with call.sessions.begin(call.caller, terms) as desk:
        return _lease(call.caller, desk)


async def state(call: Call, _: None) -> LeaseAnswer:
    """Show the current lease."""
    async with call.sessions.current(call.caller) as desk:
        return _lease(call.caller, desk)


async def disable(call: Call, _: None) -> LeaseAnswer:
    """End the lease, for every process of the host."""
    async with call.sessions.current(call.caller) as desk:
        call.sessions.forget(call.caller)
        await desk.host.disable()
        return _ended(call.caller, desk)


async def observe(call: Call, asked: ObserveAsked) -> Stored:
    """Store one observation."""
    _check_trust(call.caller, "$.trust", asked)
    async with call.sessions.current(call.caller) as desk:
        desk.require(asked.generation)
        return Stored(evidence_id=await desk.host.observe(**asked.fields()))


async def observe_many(call: Call, asked: ManyObserved) -> ManyStored:
    """Store observations, in order."""
    for at, observed in enumerate(asked.observations):
        _check_trust(call.caller, f"$.observations[{at}].trust", observed)
    async with call.sessions.current(call.caller) as desk:
        desk.require(asked.generation)
        stored = await desk.host.observe_many([each.fields() for each in asked.observations])
        return ManyStored(evidence_ids=tuple(stored))


async def check(call: Call, asked: CheckAsked) -> CheckAnswer:
    """Put a proposal to the sidecar; whoever answers or not, there is a verdict."""
    proposal = asked.proposal()
    async with call.sessions.current(call.caller) as desk:
        desk.require(asked.generation)
        return CheckAnswer.of(await desk.check(proposal))


async def dispatch(call: Call, asked: DispatchAsked) -> DispatchAnswer:
    """Claim a verdict."""
    async with call.sessions.holding(call.caller, asked.verdict_id) as desk:
        await desk.claim(asked)
    return DispatchAnswer(verdict_id=asked.verdict_id, outcome_within_ms=asked.outcome_within_ms)


async def outcome(call: Call, asked: OutcomeAsked) -> OutcomeAnswer:
    """Record what came of a dispatch."""
    async with call.sessions.holding(call.caller, call.named) as desk:
        await desk.finish(call.named, asked)
    return OutcomeAnswer(verdict_id=call.named, status=asked.status)


async def complete(call: Call, asked: TurnAsked) -> TurnAnswer:
    """End a turn."""
    async with call.sessions.current(call.caller) as desk:
        desk.require(asked.generation)
        await desk.host.complete(asked.turn_id)
        return TurnAnswer(turn_id=asked.turn_id)


async def context(call: Call, asked: ContextAsked) -> Context:
    """Return what a turn should know, or that nobody compiled it."""
    async with call.sessions.current(call.caller) as desk:
        return await desk.context(asked)


async def hook(call: Call, event: bytes) -> HookAnswer:
    """Answer an event of a coding agent, under the host's profile as it is now."""
    if call.named not in AGENTS:
        limit = ", ".join(AGENTS)
        raise GatewayRefusedError(404, "unknown_agent", "agent", limit=limit)
    terms = await call.sessions.profile(call.caller)
    async with call.sessions.begin(call.caller, terms) as desk:
        return await desk.hooks.handle(call.named, event)


async def _terms(call: Call, asked: BeginAsked) -> Terms:
    authority, locality = asked.authority, asked.provider_locality
    if authority is None:
        profile = await call.sessions.profile(call.caller)
        authority, locality = profile.authority, locality or profile.provider_locality
    return Terms(authority=authority, provider_locality=locality or "nonlocal")


def _lease(caller: Caller, desk: Desk) -> LeaseAnswer:
    generation = desk.host.generation
    ended = _ended(caller, desk)
    return msgspec.structs.replace(ended, generation=generation, live=generation is not None)


def _ended(caller: Caller, desk: Desk) -> LeaseAnswer:
    return LeaseAnswer(
        scope=caller.known.scope,
        host=caller.known.host,
        generation=None,
        live=False,
        verdicts=desk.verdicts,
        dispatches=desk.dispatches,
    )


def _check_trust(caller: Caller, field: str, observed: Observed) -> None:
    if observed.trust not in caller.known.trust:
        allowed = ", ".join(sorted(caller.known.trust))
        raise TrustNotAllowedError(field, observed.trust, allowed)
