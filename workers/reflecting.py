"""What is decided about reflection: who may run a job, and what its end records.

Whoever ends a cycle holds its claim, looked at in the unit that records the end. Nothing here asks
for an action, and no event of a cycle can cause one. Source: SPEC E1, E2, E4.
"""

from collections.abc import Callable, Collection, Iterator

import msgspec

from pmcl.contracts import (
    Event,
    ProposalCounts,
    Reflection,
    ReflectionClaimed,
    ReflectionEnded,
    ReflectionResult,
    Spending,
)
from pmcl.judgement import GateInputs, GateLimits, Go, Over, Retrospect, gate, retry_at
from pmcl.ledger import evidence, leases, reflections, retrospects, stops
from pmcl.ledger.leases import LeaseRow
from pmcl.ledger.payloads import Payload
from pmcl.ledger.reflections import OpenCycle, ReflectionHost
from pmcl.outbox import UnitOfWork
from pmcl.workers.reflection_jobs import CLAIM_GRACE_MS, take_job
from pmcl.workers.reflector import Reflected, ReflectorError, ReflectorTraits
from pmcl.workers.worker import Decision

__all__ = [
    "Admission",
    "Admit",
    "ReflectionConfig",
    "abandon",
    "claim",
    "finish",
    "give_up",
    "is_void",
    "left_open",
]


class ReflectionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """When a cell reflects.

    Attributes:
        period_ms: between two idle jobs of one host.
    """

    period_ms: int
    limits: GateLimits


class Admission(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a cycle's proposals; nothing of it is recorded yet."""

    counts: ProposalCounts
    events: tuple[Event, ...] = ()
    payloads: tuple[Payload, ...] = ()


Admit = Callable[[UnitOfWork, OpenCycle, Reflection], Admission]
"""Decides, inside the unit that ends the cycle, what becomes derived state."""


def left_open(unit: UnitOfWork, reserved_ms: int | None) -> list[OpenCycle]:
    """Return cycles whose claim ran out; without a reservation, all that are open."""
    longest_ms = 0 if reserved_ms is None else reserved_ms + CLAIM_GRACE_MS
    return reflections.overdue(unit.tx, unit.now_ms, longest_ms)


def abandon(unit: UnitOfWork, cycle_id: str, reason: str, limits: GateLimits) -> Iterator[Event]:
    """Yield the end of a cycle whose worker is gone: it used all that was reserved."""
    cycle = reflections.open_cycle(unit.tx, cycle_id)
    if cycle is not None:
        ended = _ended(unit, cycle, "abandoned", reason, used=cycle.reserved)
        yield _tried_again(unit, cycle, ended, limits, again=True)


def claim(
    unit: UnitOfWork,
    config: ReflectionConfig,
    traits: ReflectorTraits,
    passed_over: Collection[str],
    tell: Callable[[ReflectionHost], None],
) -> Decision:
    """Return the claim of the job whose host had its turn longest ago, or its end; nothing without.

    The reply is what the reflector is to look back on; there is none where the cycle is over. Whose
    job it is is told first, so that what fails from there on is known to be this host's.
    """
    host = reflections.ready(unit.tx, unit.now_ms, config.limits.open_ms, passed_over)
    if host is None:
        return Decision()
    tell(host)
    lease = leases.current(unit.tx, host.scope, host.host)
    assert lease is not None  # a job is queued under a lease
    retrospect = retrospects.look_back(unit.tx, lease, unit.now_ms)
    mark = retrospect.mark
    claimed = take_job(unit, host, traits, mark)
    spent = reflections.spent(unit.tx, host.scope, host.host, unit.now_ms, config.limits.window_ms)
    inputs = GateInputs(
        now_ms=unit.now_ms,
        lease_lives=_lives(unit, lease, claimed.lease_id),
        stopped=stops.in_force(unit.tx) is not None,
        mark=mark,
        last_mark=host.mark,
        spent=spent,
        reservation=traits.reservation,
    )
    match gate(inputs, config.limits):
        case Go():
            return Decision(events=(claimed,), reply=_to_read(unit, retrospect, claimed, traits))
        case Over(result=result, reason=reason):
            closed = _closed(unit, claimed)
            return Decision(events=(closed, _ended(unit, closed, result, reason)))


def give_up(unit: UnitOfWork, whose: str, traits: ReflectorTraits, limits: GateLimits) -> Decision:
    """Return a cycle that failed before there was anything to look back on, as any failure ends."""
    host = reflections.host_of(unit.tx, *whose.split("."))
    assert host is not None
    closed = _closed(unit, take_job(unit, host, traits, host.mark or ""))
    ended = _ended(unit, closed, "failed", "defect")
    return Decision(events=(closed, _tried_again(unit, closed, ended, limits, again=True)))


def _closed(unit: UnitOfWork, claimed: ReflectionClaimed) -> ReflectionClaimed:
    """Return the claim of a cycle in which nobody is asked: it reserves nothing."""
    return msgspec.structs.replace(claimed, reserved=Spending(), expires_at=unit.now_ms)


def _to_read(
    unit: UnitOfWork, retrospect: Retrospect, claimed: ReflectionClaimed, traits: ReflectorTraits
) -> Retrospect:
    if traits.reads:
        retrospect = retrospects.with_texts(unit.tx, retrospect, traits.reads)
    spoken = reflections.findings(unit.tx, claimed.scope, claimed.host)
    return msgspec.structs.replace(
        retrospect, cycle_id=claimed.cycle_id, claim=claimed.claim, spoken=tuple(sorted(spoken))
    )


def is_void(unit: UnitOfWork, retrospect: Retrospect) -> bool:
    """Return whether nothing of the cycle can be kept any more.

    It was stopped, has ended, was taken over, or what it read was erased.
    """
    cycle = reflections.open_cycle(unit.tx, retrospect.cycle_id)
    return cycle is None or _obstacle(unit, cycle, retrospect) is not None


def _obstacle(unit: UnitOfWork, cycle: OpenCycle, retrospect: Retrospect) -> str | None:
    if stops.in_force(unit.tx) is not None:
        return "stopped"
    lease = leases.current(unit.tx, cycle.scope, cycle.host)
    if not _lives(unit, lease, cycle.lease_id):
        return "lease_over"
    # Whatever is said now may quote it, and names what it likes.
    read = [seen.evidence_id for seen in retrospect.evidence if seen.text]
    supports = evidence.supports(unit.tx, cycle.scope, read)
    return "evidence_erased" if any(one.erased for one in supports.values()) else None


def _lives(unit: UnitOfWork, lease: LeaseRow | None, lease_id: str) -> bool:
    return lease is not None and lease.lease_id == lease_id and lease.lives(unit.now_ms)


def finish(
    unit: UnitOfWork,
    retrospect: Retrospect,
    outcome: Reflected | ReflectorError,
    admit: Admit,
    limits: GateLimits,
) -> Decision:
    """Return the end of the cycle with what was admitted; nothing, under a claim that is not open.

    The reflector may have taken any time: what it says counts only while its claim, its lease and
    its cell go on.
    """
    cycle = reflections.open_cycle(unit.tx, retrospect.cycle_id)
    if cycle is None or cycle.claim != retrospect.claim:
        return Decision()
    obstacle = _obstacle(unit, cycle, retrospect)
    if obstacle is not None:
        return Decision(events=(_ended(unit, cycle, "skipped", obstacle, used=outcome.used),))
    if isinstance(outcome, ReflectorError):
        return Decision(events=(_failed(unit, cycle, outcome, limits),))
    if not outcome.reflection.proposals:
        return Decision(events=(_ended(unit, cycle, "noop", "nothing_new", used=outcome.used),))
    admitted = admit(unit, cycle, outcome.reflection)
    ended = _ended(unit, cycle, "proposed", "", used=outcome.used)
    ended = msgspec.structs.replace(ended, counts=admitted.counts, findings=outcome.findings)
    return Decision(events=(*admitted.events, ended), payloads=admitted.payloads)


def _failed(
    unit: UnitOfWork, cycle: OpenCycle, error: ReflectorError, limits: GateLimits
) -> ReflectionEnded:
    result: ReflectionResult = "discarded" if error.discarded else "failed"
    ended = _ended(unit, cycle, result, error.reason, used=error.used)
    again = not (error.discarded or error.lasting)
    return _tried_again(unit, cycle, ended, limits, again=again, wanted_ms=error.retry_after_ms)


def _tried_again(
    unit: UnitOfWork,
    cycle: ReflectionClaimed | OpenCycle,
    ended: ReflectionEnded,
    limits: GateLimits,
    *,
    again: bool,
    wanted_ms: int = 0,
) -> ReflectionEnded:
    host = reflections.host_of(unit.tx, cycle.scope, cycle.host)
    assert host is not None
    return msgspec.structs.replace(
        ended,
        requeued=again and cycle.attempt < limits.attempts_max,
        retry_at=retry_at(unit.now_ms, host.failures + 1, limits, wanted_ms),
    )


def _ended(
    unit: UnitOfWork,
    cycle: ReflectionClaimed | OpenCycle,
    result: ReflectionResult,
    reason: str,
    used: Spending | None = None,
) -> ReflectionEnded:
    return ReflectionEnded(
        scope=cycle.scope,
        host=cycle.host,
        at_ms=unit.now_ms,
        cycle_id=cycle.cycle_id,
        claim=cycle.claim,
        result=result,
        reason=reason,
        used=used or Spending(),
    )
