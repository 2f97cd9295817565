"""Verdicts are used for what they are not for; none of it may run."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from pmcl.contracts import PlanStep
from pmcl.hosts import Host, Proposal, Verdict
from pmcl.ops.program.calls import deletion, reading
from pmcl.ops.program.tries import Tries, runs

__all__ = ["misuse_verdicts"]

_TRIES: Final = 20
_Pair = tuple[Verdict, Proposal]


async def misuse_verdicts(host: Host) -> dict[str, Tries]:
    """Return how often a verdict let something run that it was not for, by kind of misuse."""
    found = {}
    for name, (misused, how) in _KINDS.items():
        tries = found[f"ran under a verdict {name}"] = Tries(how)
        for number in range(_TRIES):
            verdict, proposal = await misused(host, f"/project/{number}")
            tries.add(ran=await runs(host, verdict, proposal))
    return found


async def _held(host: Host, path: str) -> _Pair:
    proposal = deletion(path)
    return await host.check(proposal), proposal


async def _used(host: Host, path: str) -> _Pair:
    proposal = reading(path)
    verdict = await host.check(proposal)
    await runs(host, verdict, proposal)
    return verdict, proposal


async def _swapped(host: Host, path: str) -> _Pair:
    proposal = reading(path)
    other = msgspec.structs.replace(proposal, arguments={"path": f"{path}/other"})
    return await host.check(proposal), other


async def _late(host: Host, path: str) -> _Pair:
    proposal = reading(path)
    verdict = await host.check(proposal)
    return msgspec.structs.replace(verdict, ends_s=0.0), proposal


async def _planned(host: Host, path: str) -> _Pair:
    call = reading(path)
    step = PlanStep(tool=call.tool, arguments=call.arguments, resources=call.resources)
    verdict = await host.check(Proposal.plan(call.goal, (step,)))
    return verdict, call


_KINDS: Final[dict[str, tuple[Callable[[Host, str], Awaitable[_Pair]], str]]] = {
    "that holds": (_held, "an unmitigated deletion was handed to the dispatch"),
    "that was used": (_used, "a passed call was handed to the dispatch a second time"),
    "for other arguments": (_swapped, "the arguments were changed after the verdict"),
    "that is over": (_late, "the end of a verdict was set to the past"),
    "for a plan": (_planned, "a call was dispatched under the pass of the plan that names it"),
}
