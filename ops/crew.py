"""The workers of a cell, each with what it needs."""

from typing import Any

import msgspec

from pmcl.bus import Connection
from pmcl.judgement import EffectRules
from pmcl.ledger import LedgerKey
from pmcl.ops.criticising import critic_use
from pmcl.ops.reflection import reflect_worker
from pmcl.ops.registry import HostRegistry
from pmcl.ops.settings import Settings
from pmcl.workers import (
    ApprovalWorker,
    CheckpointWorker,
    ContextWorker,
    IdentityWorker,
    LeaseTimes,
    LeaseWorker,
    ObserveWorker,
    OperatorWorker,
    OutcomeWorker,
    RecordWorker,
    RedriveWorker,
    ReflectWorker,
    ReplayWorker,
    RequestWorker,
    RetractionWorker,
    StopWorker,
    StreamHandler,
    Units,
)

__all__ = ["Crew", "crew_of"]


class Crew(msgspec.Struct, frozen=True):
    """Who answers requests, and who settles the messages of a stream, `slots` of each at once.

    Attributes:
        reflecting: None where the operator wants no reflection.
    """

    units: Units
    requests: tuple[RequestWorker[Any], ...]
    streams: tuple[StreamHandler, ...]
    slots: int
    reflecting: ReflectWorker | None = None


def crew_of(
    settings: Settings,
    registry: HostRegistry,
    judging: tuple[LedgerKey, EffectRules, tuple[str, ...]],
    units: Units,
    working: Connection,
) -> Crew:
    """Return the workers; what they do goes through `units`."""
    key, rules, folders = judging
    times = LeaseTimes(ttl_ms=settings.lease_ttl_ms, heartbeat_ms=settings.heartbeat_ms)
    reading = (ObserveWorker(key, registry.allowed_trust), OutcomeWorker())
    streams = tuple(StreamHandler(working, units, worker) for worker in reading)
    operators = (
        ApprovalWorker(),
        IdentityWorker(key),
        RecordWorker(),
        RedriveWorker(working, reading),
        ReplayWorker(working, units, streams),
        RetractionWorker(),
        StopWorker(),
    )
    return Crew(
        units=units,
        requests=(
            CheckpointWorker(key, rules, critic_use(settings), folders),
            ContextWorker(),
            LeaseWorker(key, times),
            OperatorWorker(*operators),
        ),
        streams=streams,
        slots=settings.stream_slots,
        reflecting=reflect_worker(settings, key, units) if settings.reflection == "on" else None,
    )
