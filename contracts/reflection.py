"""Reflection cycles: what queued one, who holds its claim, and how it ended; content-free.

What a cycle proposed is told by the events of admission, which name the cycle. Source: SPEC E1, E2.
"""

from typing import Literal

import msgspec

from pmcl.contracts.event import Event

__all__ = [
    "ProposalCounts",
    "ReflectionClaimed",
    "ReflectionEnded",
    "ReflectionQueued",
    "ReflectionResult",
    "ReflectionTrigger",
    "Spending",
]

ReflectionTrigger = Literal["idle", "turn"]
ReflectionResult = Literal["abandoned", "discarded", "failed", "noop", "proposed", "skipped"]
"""How a cycle ends.

`noop`: nothing changed, or nothing was to be said. `proposed`: something was handed to admission.
`failed`: the reflector did not answer. `discarded`: its answer was of no use. `skipped`: the gate
let it do nothing. `abandoned`: its worker was gone, or too late.
"""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What a cycle may use, or has used.

    Attributes:
        ms: of the reflector's time, milliseconds.
        cost: millionths of the currency that the operator counts in.
    """

    tokens: int = 0
    ms: int = 0
    cost: int = 0


class ProposalCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a cycle's proposals.

    Attributes:
        admitted: became derived state.
        proposed: wait as changes of the self-model.
        repeated: were there already.
    """

    admitted: int = 0
    proposed: int = 0
    rejected: int = 0
    repeated: int = 0


class ReflectionQueued(Event, frozen=True, kw_only=True, tag="pmcl/reflection-queued/1"):
    """An idle job waits; that of a turn is queued by `TurnCompleted`.

    Attributes:
        slot: the time that the job is for, milliseconds since the epoch.
    """

    lease_id: str
    generation: int
    slot: int


class ReflectionClaimed(Event, frozen=True, kw_only=True, tag="pmcl/reflection-claimed/1"):
    """One worker alone may end the cycle, until `expires_at`.

    Attributes:
        claim: one more than the host's claim before; an older one can write nothing.
        trigger_id: the same for each attempt at one job.
        lease_id, generation: of the job.
        idle: that the host's idle job is part of it.
        turns: how many finished turns are part of it.
        reflector: `built-in`, or the model that is asked.
        mark: digest of what the reflector reads.
    """

    cycle_id: str
    claim: int
    trigger: ReflectionTrigger
    trigger_id: str
    attempt: int
    lease_id: str
    generation: int
    idle: bool
    turns: int
    reflector: str
    mark: str
    reserved: Spending
    expires_at: int


class ReflectionEnded(Event, frozen=True, kw_only=True, tag="pmcl/reflection-ended/1"):
    """The cycle is over, and its claim with it.

    Attributes:
        reason: a short code.
        findings: codes of what the built-in reflector spoke about, so that it says nothing twice.
        requeued: that its job waits again, until `retry_at` at the earliest.
    """

    cycle_id: str
    claim: int
    result: ReflectionResult
    reason: str
    used: Spending
    counts: ProposalCounts = ProposalCounts()
    findings: tuple[str, ...] = ()
    requeued: bool = False
    retry_at: int | None = None
