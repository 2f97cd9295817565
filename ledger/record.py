"""Recording: an event is applied and journalled in one unit; nothing else writes domain tables.

Live work, folding a tail and a rebuild all run `apply`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pmcl.contracts import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    ApprovalUsed,
    AuditRecorded,
    BackupMade,
    CellResumed,
    CellStopped,
    ErasureBegan,
    ErasureEnded,
    Evaluated,
    Event,
    EvidenceRecorded,
    EvolutionProposed,
    HoldPlaced,
    HoldReleased,
    IdentityConfigured,
    ItemAdmitted,
    ItemClosed,
    LeaseBegan,
    LeaseEnded,
    LeaseRenewed,
    LessonDemoted,
    LessonMatured,
    LessonSupported,
    LetterRedriven,
    NumberClosed,
    OutcomeLinked,
    OutcomeListed,
    OutcomeParked,
    OutcomeUnverified,
    OutcomeVerified,
    PayloadErased,
    PayloadRetaken,
    ProposalRejected,
    ReflectionClaimed,
    ReflectionEnded,
    ReflectionQueued,
    Refused,
    TurnCompleted,
)
from pmcl.ledger import (
    approvals,
    backups,
    derived,
    erasures,
    evaluations,
    evidence,
    holds,
    identities,
    items,
    leases,
    lessons,
    losses,
    outcomes,
    payloads,
    reflections,
    rejections,
    resting,
    retrospects,
    self_models,
    stops,
    turns,
    unread,
)
from pmcl.outbox import SCHEMAS as OUTBOX_SCHEMAS
from pmcl.outbox import UnitOfWork
from pmcl.store import StoreConfig, Transaction

__all__ = ["APPLICATION_ID", "SCHEMAS", "SCHEMA_VERSION", "apply", "ledger_config", "record"]

APPLICATION_ID: Final = 0x504D434C
"""`PMCL` in ASCII: what marks the file as ours."""
SCHEMA_VERSION: Final = 3
SCHEMAS: Final = (
    *OUTBOX_SCHEMAS,
    leases.SCHEMA,
    turns.SCHEMA,
    payloads.SCHEMA,
    evidence.SCHEMA,
    evaluations.SCHEMA,
    holds.SCHEMA,
    approvals.SCHEMA,
    outcomes.SCHEMA,
    lessons.SCHEMA,
    backups.SCHEMA,
    stops.SCHEMA,
    erasures.SCHEMA,
    reflections.SCHEMA,
    retrospects.SCHEMA,
    resting.SCHEMA,
    items.SCHEMA,
    rejections.SCHEMA,
    self_models.SCHEMA,
    identities.SCHEMA,
    losses.SCHEMA,
    unread.SCHEMA,
)


def ledger_config(path: Path) -> StoreConfig:
    """Return how a ledger's file is opened and, where there is none, made."""
    return StoreConfig(
        path=path, schemas=SCHEMAS, application_id=APPLICATION_ID, version=SCHEMA_VERSION
    )


def _nothing(tx: Transaction, event: Event) -> None:
    """A redrive changes no domain table itself; the inbox mark says it all."""


def _lease_began(tx: Transaction, event: LeaseBegan) -> None:
    leases.apply_began(tx, event)
    reflections.apply_began(tx, event)


def _item_admitted(tx: Transaction, event: ItemAdmitted) -> None:
    items.apply_admitted(tx, event)
    derived.forget(tx, event)


def _item_closed(tx: Transaction, event: ItemClosed) -> None:
    items.apply_closed(tx, event)
    derived.forget(tx, event)


def _number_closed(tx: Transaction, event: NumberClosed) -> None:
    losses.apply_closed(tx, event)
    unread.apply_closed(tx, event)


_APPLY: Final[dict[type[Event], Callable[[Transaction, Any], None]]] = {
    ApprovalDenied: approvals.apply_denied,
    ApprovalExpired: approvals.apply_expired,
    ApprovalGranted: approvals.apply_granted,
    ApprovalRequested: approvals.apply_requested,
    ApprovalUsed: approvals.apply_used,
    AuditRecorded: outcomes.apply_audited,
    BackupMade: backups.apply_made,
    CellResumed: stops.apply_resumed,
    CellStopped: stops.apply_stopped,
    ErasureBegan: erasures.apply_began,
    ErasureEnded: erasures.apply_ended,
    Evaluated: evaluations.apply_evaluated,
    EvidenceRecorded: evidence.apply_recorded,
    EvolutionProposed: self_models.apply_proposed,
    HoldPlaced: holds.apply_placed,
    HoldReleased: holds.apply_released,
    LeaseBegan: _lease_began,
    IdentityConfigured: identities.apply_configured,
    ItemAdmitted: _item_admitted,
    ItemClosed: _item_closed,
    LeaseEnded: leases.apply_ended,
    LeaseRenewed: leases.apply_renewed,
    LessonDemoted: lessons.apply_demoted,
    LessonMatured: lessons.apply_matured,
    LessonSupported: lessons.apply_supported,
    LetterRedriven: _nothing,
    NumberClosed: _number_closed,
    OutcomeLinked: outcomes.apply_linked,
    OutcomeListed: outcomes.apply_listed,
    OutcomeParked: outcomes.apply_parked,
    OutcomeUnverified: outcomes.apply_unverified,
    OutcomeVerified: outcomes.apply_verified,
    PayloadErased: erasures.apply_erased,
    PayloadRetaken: evidence.apply_retaken,
    ReflectionClaimed: reflections.apply_claimed,
    ReflectionEnded: reflections.apply_ended,
    ReflectionQueued: reflections.apply_queued,
    ProposalRejected: rejections.apply_rejected,
    Refused: unread.apply_refused,
    TurnCompleted: reflections.apply_completed,
}


def apply(tx: Transaction, event: Event) -> None:
    """Write what an event says into the domain tables."""
    _APPLY[type(event)](tx, event)


def record(unit: UnitOfWork, event: Event) -> None:
    """Apply an event and append it to the journal."""
    apply(unit.tx, event)
    unit.publish(event)
