"""The checkpoint: what a host proposes and what the sidecar answers.

Source: SPEC C1, C2, C4 to C6.
"""

from typing import Annotated, Any, Final, Literal

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.evidence import Confidence, Resources
from pmcl.contracts.lease import Effect
from pmcl.contracts.limits import PLAN_STEPS_MAX
from pmcl.contracts.names import Count, Digest, EvidenceIds, Id, Key, Millis, Text, Ulid
from pmcl.contracts.receipts import Received

__all__ = [
    "PLAN_TOOL",
    "RECOMMENDATION_TOOL",
    "ArbitrationTicket",
    "CheckpointRequest",
    "CheckpointStatus",
    "Evaluation",
    "ExecutionCheck",
    "ExpectedReceipt",
    "FailureForecast",
    "Freshness",
    "Justification",
    "PlanCheck",
    "PlanStep",
    "Premortem",
    "Reversibility",
    "StateCheck",
    "StateItem",
    "Tool",
    "ToolAnnotations",
    "ToolDefinition",
]

CheckpointStatus = Literal["passed", "held", "degraded"]
Freshness = Literal["fresh", "stale", "unavailable"]
Reversibility = Literal["reversible", "compensable", "irreversible"]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """The tool that would be called; `definition_hash` pins what it said of itself."""

    server: Key
    name: Key
    definition_hash: Digest


_NO_DEFINITION: Final = "0" * 64
PLAN_TOOL: Final = Tool(server="pmcl", name="plan", definition_hash=_NO_DEFINITION)
"""Stands where a plan has no tool."""
RECOMMENDATION_TOOL: Final = Tool(
    server="pmcl", name="recommendation", definition_hash=_NO_DEFINITION
)
"""Stands where a recommendation has no tool."""


class ToolAnnotations(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says of its own tool: hints of an untrusted party, which only ever raise.

    Source: `ToolAnnotations` of the Model Context Protocol, revision 2026-07-28.
    """

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool says of itself; `Tool.definition_hash` pins it.

    Attributes:
        description: text for the model, written by whoever wrote the tool.
        parameters: JSON Schema of the arguments.
    """

    description: str = ""
    parameters: dict[str, Any] = {}
    annotations: ToolAnnotations | None = None


class ExpectedReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What would prove success; a digest only where it is known beforehand."""

    kind: Id
    digest: Digest | None = None


class Premortem(msgspec.Struct, frozen=True, kw_only=True):
    """The host's own forecast of how the action fails, and what it did about it."""

    failure_mode: Id
    likelihood: Confidence
    mitigation: Text
    evidence_ids: EvidenceIds = ()


class Justification(msgspec.Struct, frozen=True, kw_only=True):
    """Why the action, and why this tool."""

    necessity: Text
    lower_risk_alternatives: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()
    residual_risks: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()


class PlanStep(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call that a plan intends; it is asked for again when its turn comes.

    Attributes:
        arguments: sanitized; `None` when they are not known yet.
    """

    tool: Tool
    arguments: dict[str, Any] | None = None
    effect: Effect | None = None
    resources: Resources = ()
    expected_outcome: Text | None = None


class CheckpointRequest(Contract, frozen=True, kw_only=True, tag="pmcl/checkpoint-request/1"):
    """A proposal, before anything was dispatched. A field that is `None` is explicitly missing.

    Attributes:
        call_id: unique per scope and host for ever.
        arguments: sanitized; at most 64 KiB of canonical JSON.
        arguments_commitment: HMAC-SHA-256 of the canonical raw arguments under the lease's salt.
        proposal_hash: see `pmcl.contracts.proposals`.
        definition: what `tool.definition_hash` pins, at most 16 KiB of canonical JSON; `None` when
            the host does not show it, and then nothing is known of it.
        steps: of a plan, in order.
        plan_call_id: call id of the plan that a tool call belongs to; a held one holds it.
        read_only: the host's hint; never believed on its own.
        effect: the effect the host claims; the riskier of it and the sidecar's own counts.
        canary: only the way to the checkpoint is tried: it is judged, held, and kept nowhere.
    """

    call_id: Id
    lease_id: Ulid
    generation: Count
    goal: Text
    kind: Literal["tool", "plan", "recommendation"]
    tool: Tool
    arguments: dict[str, Any]
    arguments_commitment: Digest
    proposal_hash: Digest
    definition: ToolDefinition | None = None
    steps: Annotated[tuple[PlanStep, ...], msgspec.Meta(max_length=PLAN_STEPS_MAX)] = ()
    plan_call_id: Id | None = None
    resources: Resources = ()
    expected_outcome: Text | None = None
    expected_receipt: ExpectedReceipt | None = None
    read_only: bool | None = None
    effect: Effect | None = None
    reversibility: Reversibility | None = None
    premortem: Premortem | None = None
    justification: Justification | None = None
    rejected_alternatives: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()
    evidence_ids: EvidenceIds = ()
    canary: bool = False


class StateItem(msgspec.Struct, frozen=True, kw_only=True):
    """One input of the State Check; what is missing is `unavailable`, never invented.

    Attributes:
        lineage: ids of what the item was computed from.
        note: a short fixed phrase, no content.
    """

    name: str
    freshness: Freshness
    lineage: tuple[str, ...] = ()
    note: str = ""


class StateCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What is known at the time of asking."""

    items: tuple[StateItem, ...]
    recent_failures: tuple[str, ...] = ()
    """Failure modes of earlier outcomes of the same action fingerprint, newest first."""


class FailureForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The single most likely failure mode, with its probability and where that comes from.

    Attributes:
        failures: failed outcomes of the same action fingerprint.
        runs: known outcomes (succeeded or failed) of it.
        lesson: the fingerprint, when the action has a mature lesson.
        verified_runs: that count for the lesson.
    """

    mode: str
    probability: float
    failures: int
    runs: int
    lesson: str | None = None
    verified_runs: int = 0


class PlanCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The pre-mortem."""

    intended_outcome: str | None
    forecast: FailureForecast
    material: bool
    mitigation: str | None
    mitigated: bool
    evidence_ids: tuple[str, ...] = ()
    """The evidence that shows the mitigation."""


class ExecutionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A description of the action; it authorizes nothing.

    Attributes:
        rules: codes of the rules that gave effect and reversibility, the riskiest first.
    """

    effect: Effect
    reversibility: Reversibility
    rules: tuple[str, ...] = ()
    necessity: str | None
    lower_risk_alternatives: tuple[str, ...]
    least_privilege: bool
    expected_receipt: ExpectedReceipt | None
    residual_risks: tuple[str, ...]


class ArbitrationTicket(msgspec.Struct, frozen=True, kw_only=True):
    """Under which permission context the decision fell."""

    decision: CheckpointStatus
    effect: Effect
    generation: int


class Evaluation(Contract, frozen=True, kw_only=True, tag="pmcl/evaluation/1"):
    """The verdict. A pass clears only this veto; it grants nothing.

    Attributes:
        reasons: codes such as `authority.*`, `sensing.*`, `hold.*`, `plan.*`; empty on a pass. One
            about a step of a plan names it: `hold.prior@$.steps[2]`.
        revision_request: what would lift the hold, for the model; `None` when nothing would.
        approval_id: the approval that was used, or the request that waits for an operator.
        expires_at: milliseconds since the epoch by the sidecar's clock.
        valid_for_ms: the same, to be counted on the host's monotonic clock from the request.
    """

    evaluation_id: Ulid
    call_id: Id
    generation: Count
    checkpoint_status: CheckpointStatus
    state_check: StateCheck
    plan_check: PlanCheck
    execution_check: ExecutionCheck
    evidence_ids: EvidenceIds
    self_model_version_id: str
    proposal_hash: Digest
    expires_at: Millis
    valid_for_ms: Millis
    reasons: tuple[str, ...]
    revision_request: str | None
    approval_id: Ulid | None = None
    ticket: ArbitrationTicket
    received: Received | None = None
