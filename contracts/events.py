"""Events: every change of state, content-free, as the journal and LOG keep it.

An event holds all that the ledger needs to be folded from the journal alone, but for payloads.
Its subject is `pmcl.v1.event.<scope>.<host>.<name>`, the name taken from its tag; a finished turn
goes to `pmcl.v1.reflection.<scope>.<host>.turn`, a queued idle job to the leaf `idle`.
"""

from typing import Literal

from pmcl.contracts.approvals import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    ApprovalUsed,
)
from pmcl.contracts.checkpoint import CheckpointStatus, Reversibility
from pmcl.contracts.contract import schema_of
from pmcl.contracts.dead_letters import LetterRedriven
from pmcl.contracts.derived_events import (
    EvolutionProposed,
    IdentityConfigured,
    ItemAdmitted,
    ItemClosed,
    ProposalRejected,
)
from pmcl.contracts.event import Event
from pmcl.contracts.lease import AuthoritySnapshot, Effect
from pmcl.contracts.lessons import LessonDemoted, LessonMatured, LessonSupported
from pmcl.contracts.outcome import AuditReceipt, Outcome
from pmcl.contracts.record_events import (
    BackupMade,
    ErasureBegan,
    ErasureEnded,
    OutcomeUnverified,
    PayloadErased,
    PayloadRetaken,
)
from pmcl.contracts.reflection import ReflectionClaimed, ReflectionEnded, ReflectionQueued
from pmcl.contracts.stopping import CellResumed, CellStopped
from pmcl.contracts.subjects import Subject

__all__ = [
    "EVENTS",
    "ApprovalDenied",
    "ApprovalExpired",
    "ApprovalGranted",
    "ApprovalRequested",
    "ApprovalUsed",
    "AuditRecorded",
    "BackupMade",
    "CellResumed",
    "CellStopped",
    "ErasureBegan",
    "ErasureEnded",
    "Evaluated",
    "EvidenceRecorded",
    "EvolutionProposed",
    "HoldLift",
    "HoldPlaced",
    "HoldReleased",
    "IdentityConfigured",
    "ItemAdmitted",
    "ItemClosed",
    "LeaseBegan",
    "LeaseEnded",
    "LeaseRenewed",
    "LessonDemoted",
    "LessonMatured",
    "LessonSupported",
    "LetterRedriven",
    "NumberClosed",
    "OutcomeLinked",
    "OutcomeListed",
    "OutcomeParked",
    "OutcomeUnverified",
    "OutcomeVerified",
    "PayloadErased",
    "PayloadRetaken",
    "ProposalRejected",
    "ReflectionClaimed",
    "ReflectionEnded",
    "ReflectionQueued",
    "Refused",
    "Speaker",
    "TurnCompleted",
    "event_subject",
]

HoldLift = Literal["evidence_about_resource", "trusted_value"]
"""What lifts a hold. Source: SPEC C7."""


class LeaseBegan(Event, frozen=True, kw_only=True, tag="pmcl/lease-began/1"):
    """A new generation lives; every older one of this host is fenced."""

    lease_id: str
    generation: int
    host_epoch: str
    authority: AuthoritySnapshot
    provider_locality: str
    expires_at: int
    resumed: bool


class LeaseRenewed(Event, frozen=True, kw_only=True, tag="pmcl/lease-renewed/1"):
    """A heartbeat or a join moved the expiry."""

    lease_id: str
    expires_at: int


class LeaseEnded(Event, frozen=True, kw_only=True, tag="pmcl/lease-ended/1"):
    """The lease is over."""

    lease_id: str
    generation: int
    reason: Literal["disabled", "expired", "stopped", "superseded"]


class TurnCompleted(Event, frozen=True, kw_only=True, tag="pmcl/turn-completed/1"):
    """A turn ended with a response; a reflection job waits."""

    turn_id: str
    lease_id: str
    generation: int


class EvidenceRecorded(Event, frozen=True, kw_only=True, tag="pmcl/evidence-recorded/1"):
    """An observation stands in the ledger.

    Attributes:
        resource_keys: keyed digests of what it is about.
        commitment: HMAC of the payload under a salt that dies with the payload.
        size_bytes: of the payload.
    """

    evidence_id: str
    key: str
    generation: int
    source: str
    trust: str
    domain: str
    modality: str
    confidence: float
    visibility: str
    observed_at: int
    evidence_ids: tuple[str, ...]
    resource_keys: tuple[str, ...]
    commitment: str
    size_bytes: int


class NumberClosed(Event, frozen=True, kw_only=True, tag="pmcl/number-closed/1"):
    """A numbered message changed nothing else.

    Attributes:
        reason: `repeat` of recorded evidence; `void` of a message that was never acknowledged;
            `lost` for one that was, and that INTAKE lost.
    """

    reason: Literal["lost", "repeat", "void"]


Speaker = Literal["told", "others", "unknown"]
"""Who speaks in an observation: the user or the operator, anybody else, or nobody can say."""


class Refused(Event, frozen=True, kw_only=True, tag="pmcl/refused/1"):
    """A stream message was refused; its content is in no row.

    Attributes:
        speaker: of an observation, whose words they would have been; a model may have seen them.
    """

    code: str
    field: str
    limit: str
    speaker: Speaker | None = None


class Evaluated(Event, frozen=True, kw_only=True, tag="pmcl/evaluated/1"):
    """A checkpoint was decided; what it read and said is its payload.

    Attributes:
        kind: a plan or a recommendation owes no outcome.
        fingerprint: keyed digest of server, tool and resources: the same action again.
        resource_keys: keyed digests of what the action would touch.
        cited: evidence that the request named.
        failure_mode, failure_probability, material, mitigated: the forecast and what was found of
            it, for calibration.
    """

    evaluation_id: str
    call_id: str
    kind: Literal["tool", "plan", "recommendation"]
    proposal_hash: str
    lease_id: str
    generation: int
    status: CheckpointStatus
    effect: Effect
    reversibility: Reversibility
    server: str
    tool: str
    fingerprint: str
    resource_keys: tuple[str, ...]
    cited: tuple[str, ...]
    reasons: tuple[str, ...]
    failure_mode: str
    failure_probability: float
    material: bool
    mitigated: bool
    expected_receipt_kind: str | None
    expected_receipt_digest: str | None
    expires_at: int
    commitment: str


class HoldPlaced(Event, frozen=True, kw_only=True, tag="pmcl/hold-placed/1"):
    """An effect on resources is held until evidence satisfies the predicate.

    Attributes:
        lift: name of the predicate; `evidence_about_resource` asks for evidence of this scope and
            generation, about one of the resources, that was not cited before; `trusted_value` for
            words of the user or the operator that ask for the effect and name the value.
    """

    hold_id: str
    evaluation_id: str
    effect: Effect
    resource_keys: tuple[str, ...]
    reason: str
    lift: HoldLift
    cited: tuple[str, ...]


class HoldReleased(Event, frozen=True, kw_only=True, tag="pmcl/hold-released/1"):
    """Evidence satisfied the predicate of a hold."""

    hold_id: str
    evaluation_id: str
    evidence_ids: tuple[str, ...]


class OutcomeLinked(Event, frozen=True, kw_only=True, tag="pmcl/outcome-linked/1"):
    """An evaluation has its outcome.

    Attributes:
        reported_by: the host, or the sidecar at the end of a lease.
        corrects: the sidecar's own `unknown` that a later true outcome replaces.
        verified: the receipt is the expected one and matches evidence that no model wrote.
    """

    outcome: Outcome
    reported_by: Literal["host", "sidecar"]
    corrects: str | None
    verified: bool


class OutcomeVerified(Event, frozen=True, kw_only=True, tag="pmcl/outcome-verified/1"):
    """Evidence that came after its outcome shows the receipt."""

    outcome_id: str
    evidence_id: str


class OutcomeParked(Event, frozen=True, kw_only=True, tag="pmcl/outcome-parked/1"):
    """An outcome waits for an evaluation that the ledger does not know (yet)."""

    outcome: Outcome


class OutcomeListed(Event, frozen=True, kw_only=True, tag="pmcl/outcome-listed/1"):
    """An outcome that cannot be linked; what stands stays, an operator should look.

    Attributes:
        reason: a second one for its evaluation, one of another proposal, one of a held call, or one
            of what is no call.
    """

    outcome: Outcome
    reason: Literal["not_a_call", "not_passed", "other_proposal", "repeated"]


class AuditRecorded(Event, frozen=True, kw_only=True, tag="pmcl/audit-recorded/1"):
    """A local inspection went on without a verdict."""

    receipt: AuditReceipt


EVENTS: tuple[type[Event], ...] = tuple(Event.__subclasses__())


def event_subject(event: Event) -> str:
    """Return the subject of LOG that carries the event."""
    if isinstance(event, TurnCompleted):
        return str(Subject("reflection", event.scope, event.host, "turn"))
    if isinstance(event, ReflectionQueued):
        return str(Subject("reflection", event.scope, event.host, "idle"))
    name = schema_of(type(event)).split("/")[1]
    return str(Subject("event", event.scope, event.host, name))
