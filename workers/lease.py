"""The lease worker: begins, resumes, renews and ends the leases of hosts.

Source: SPEC A1 to A4.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    BeginLease,
    CompleteTurn,
    Contract,
    ContractError,
    DisableLease,
    Event,
    Gap,
    Heartbeat,
    Kind,
    Lease,
    LeaseBegan,
    LeaseEnded,
    LeaseEndedError,
    LeaseRenewed,
    LeaseState,
    ResumeLease,
    TurnCompleted,
)
from pmcl.judgement import check_snapshot_names, check_turn_id
from pmcl.ledger import LedgerKey, evidence, leases, turns
from pmcl.ledger.leases import LeaseRow
from pmcl.outbox import UnitOfWork
from pmcl.workers.worker import Decision, Incoming

__all__ = ["LeaseTimes", "LeaseWorker"]


EndReason = Literal["disabled", "expired", "stopped", "superseded"]


class LeaseTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long a lease lives without a heartbeat, and how often one should come (ms)."""

    ttl_ms: int
    heartbeat_ms: int


class LeaseWorker:
    """Decides leases; a begin from the same host file with an equal snapshot joins."""

    name: str = "lease"
    kind: Kind = "lease"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {
        "begin": BeginLease,
        "complete": CompleteTurn,
        "disable": DisableLease,
        "heartbeat": Heartbeat,
        "resume": ResumeLease,
    }

    def __init__(self, key: LedgerKey, times: LeaseTimes) -> None:
        self._key = key
        self._times = times

    async def prepare(self, incoming: Incoming) -> str:
        """Return the id that a new lease would get, once no name holds a secret."""
        match incoming.body:
            case BeginLease(authority=authority) | ResumeLease(authority=authority):
                check_snapshot_names(authority)
            case CompleteTurn(turn_id=turn_id):
                check_turn_id(turn_id)
        return ulid_now()

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: str) -> Decision:
        """Return the lease's next state."""
        match incoming.body:
            case BeginLease() | ResumeLease():
                return self._begin(unit, incoming, prepared)
            case Heartbeat():
                return self._renew(unit, incoming)
            case CompleteTurn():
                return self._complete(unit, incoming)
            case _:
                return self._disable(unit, incoming)

    def _begin(self, unit: UnitOfWork, incoming: Incoming, lease_id: str) -> Decision:
        scope, host, asked = incoming.subject.scope, incoming.subject.host, incoming.body
        current = leases.current(unit.tx, scope, host)
        if current is not None and isinstance(asked, BeginLease) and _joins(unit, current, asked):
            renewed = self._renewed(unit, current)
            return Decision(
                events=(renewed,),
                reply=self._lease(unit, current.lease_id, current.generation, joined=True),
            )
        began = LeaseBegan(
            scope=scope,
            host=host,
            at_ms=unit.now_ms,
            lease_id=lease_id,
            generation=1 if current is None else current.generation + 1,
            host_epoch=asked.host_epoch,
            authority=asked.authority,
            provider_locality=asked.provider_locality,
            expires_at=unit.now_ms + self._times.ttl_ms,
            resumed=isinstance(asked, ResumeLease),
        )
        events: tuple[Event, ...] = (began,)
        if current is not None and current.state == "live":
            reason: EndReason = "superseded" if current.lives(unit.now_ms) else "expired"
            events = (lease_ended(unit, current, reason), began)
        lease = self._lease(unit, lease_id, began.generation)
        if began.resumed:
            lease = _after_gap(unit, current, lease, incoming)
        return Decision(events=events, reply=lease)

    def _lease(
        self, unit: UnitOfWork, lease_id: str, generation: int, *, joined: bool = False
    ) -> Lease:
        return Lease(
            lease_id=lease_id,
            generation=generation,
            expires_at=unit.now_ms + self._times.ttl_ms,
            valid_for_ms=self._times.ttl_ms,
            heartbeat_ms=self._times.heartbeat_ms,
            salt=self._key.lease_salt(lease_id),
            joined=joined,
        )

    def _renewed(self, unit: UnitOfWork, lease: LeaseRow) -> LeaseRenewed:
        return LeaseRenewed(
            scope=lease.scope,
            host=lease.host,
            at_ms=unit.now_ms,
            lease_id=lease.lease_id,
            expires_at=unit.now_ms + self._times.ttl_ms,
        )

    def _renew(self, unit: UnitOfWork, incoming: Incoming) -> Decision:
        lease = _living(unit, incoming)
        renewed = self._renewed(unit, lease)
        return Decision(events=(renewed,), reply=_state(unit, lease, renewed.expires_at))

    def _complete(self, unit: UnitOfWork, incoming: Incoming) -> Decision:
        asked: CompleteTurn = incoming.body
        if not asked.responded:
            raise ContractError("$.responded", "false", "true: a turn ends with a response")
        lease = _living(unit, incoming)
        reply = _state(unit, lease, lease.expires_at)
        if turns.is_completed(unit.tx, lease.scope, lease.host, asked.turn_id):
            return Decision(reply=reply)
        completed = TurnCompleted(
            scope=lease.scope,
            host=lease.host,
            at_ms=unit.now_ms,
            turn_id=asked.turn_id,
            lease_id=lease.lease_id,
            generation=lease.generation,
        )
        return Decision(events=(completed,), reply=reply)

    def _disable(self, unit: UnitOfWork, incoming: Incoming) -> Decision:
        lease = _living(unit, incoming)
        return Decision(
            events=(lease_ended(unit, lease, "disabled"),), reply=_state(unit, lease, unit.now_ms)
        )


def _joins(unit: UnitOfWork, current: LeaseRow, asked: BeginLease) -> bool:
    return (
        current.lives(unit.now_ms)
        and current.host_epoch == asked.host_epoch
        and current.authority == asked.authority
        and current.provider_locality == asked.provider_locality
    )


def _after_gap(
    unit: UnitOfWork, current: LeaseRow | None, lease: Lease, incoming: Incoming
) -> Lease:
    if current is None:
        return lease
    last = evidence.last_of_host(unit.tx, incoming.subject.scope, incoming.subject.host)
    gap = Gap(from_ms=current.heard_at, to_ms=unit.now_ms)
    return msgspec.structs.replace(
        lease, gap=gap, last_evidence_id=None if last is None else last[0]
    )


def _living(unit: UnitOfWork, incoming: Incoming) -> LeaseRow:
    subject, asked = incoming.subject, incoming.body
    lease = leases.bind(unit.tx, subject.scope, subject.host, asked.lease_id, asked.generation)
    if not lease.lives(unit.now_ms):
        raise LeaseEndedError("$.lease_id", lease.lease_id, "a living lease")
    return lease


def _state(unit: UnitOfWork, lease: LeaseRow, expires_at: int) -> LeaseState:
    return LeaseState(
        lease_id=lease.lease_id,
        generation=lease.generation,
        live=expires_at > unit.now_ms,
        expires_at=expires_at,
        valid_for_ms=max(0, expires_at - unit.now_ms),
    )


def lease_ended(unit: UnitOfWork, lease: LeaseRow, reason: EndReason) -> LeaseEnded:
    """Return the event that ends a lease."""
    return LeaseEnded(
        scope=lease.scope,
        host=lease.host,
        at_ms=unit.now_ms,
        lease_id=lease.lease_id,
        generation=lease.generation,
        reason=reason,
    )
