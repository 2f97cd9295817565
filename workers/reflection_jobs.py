"""What waits of a host: the turns that ended under a lease, with the idle job that is due beside.

Whoever takes a job claims it with a number of its own, so that of two who take it the first one
ends nothing. Source: SPEC E1, E2.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    Event,
    ReflectionClaimed,
    ReflectionQueued,
    ReflectionTrigger,
    canonical,
    sha256,
)
from pmcl.judgement import next_slot
from pmcl.ledger import reflections, stops, turns
from pmcl.ledger.reflections import ReflectionHost
from pmcl.outbox import UnitOfWork
from pmcl.workers.reflector import ReflectorTraits

__all__ = ["CLAIM_GRACE_MS", "queue_idle", "take_job"]

CLAIM_GRACE_MS: Final = 30_000
"""So long a claim outlives what was reserved, for the ledger to take down the end."""


class _Job(msgspec.Struct, frozen=True, kw_only=True):
    """What waits of a host, under one lease."""

    trigger: ReflectionTrigger
    trigger_id: str
    lease_id: str
    generation: int
    idle: bool
    turns: int


def queue_idle(unit: UnitOfWork, period_ms: int) -> Iterator[Event]:
    """Yield the idle jobs that are due."""
    if stops.in_force(unit.tx) is not None:
        return
    for due in reflections.due(unit.tx, unit.now_ms, period_ms):
        slot = next_slot(due.slot, unit.now_ms, period_ms)
        assert slot is not None
        yield ReflectionQueued(
            scope=due.scope,
            host=due.host,
            at_ms=unit.now_ms,
            lease_id=due.lease_id,
            generation=due.generation,
            slot=slot,
        )


def take_job(
    unit: UnitOfWork, host: ReflectionHost, traits: ReflectorTraits, mark: str
) -> ReflectionClaimed:
    """Return the claim of what waits of the host, numbered after its last one."""
    job = _job_of(unit, host)
    again = host.trigger_id == job.trigger_id
    return ReflectionClaimed(
        **msgspec.structs.asdict(job),
        scope=host.scope,
        host=host.host,
        at_ms=unit.now_ms,
        cycle_id=ulid_now(),
        claim=host.claim + 1,
        attempt=host.attempts + 1 if again else 1,
        reflector=traits.name,
        mark=mark,
        reserved=traits.reservation,
        expires_at=unit.now_ms + traits.reservation.ms + CLAIM_GRACE_MS,
    )


def _job_of(unit: UnitOfWork, host: ReflectionHost) -> _Job:
    """Return what waits under the oldest lease: its turns, with the idle job of the same lease."""
    waiting = turns.waiting(unit.tx, host.scope, host.host)
    if waiting is not None:
        what = (host.scope, host.host, waiting.lease_id, "turn", waiting.first)
        return _Job(
            trigger="turn",
            trigger_id=sha256(canonical(what)),
            lease_id=waiting.lease_id,
            generation=waiting.generation,
            idle=host.idle_lease == waiting.lease_id,
            turns=waiting.turns,
        )
    assert host.idle_lease is not None
    assert host.idle_generation is not None
    return _Job(
        trigger="idle",
        trigger_id=sha256(canonical((host.scope, host.host, host.idle_lease, "idle", host.slot))),
        lease_id=host.idle_lease,
        generation=host.idle_generation,
        idle=True,
        turns=0,
    )
