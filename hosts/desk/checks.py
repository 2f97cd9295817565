"""How a proposal is put to the desk, and how its verdict comes back.

Source: SPEC C1, C2.
"""

from typing import Annotated, Any

import msgspec

from pmcl.contracts import (
    CheckpointStatus,
    Digest,
    Effect,
    Evaluation,
    EvidenceIds,
    ExpectedReceipt,
    Id,
    Justification,
    Key,
    PlanStep,
    Premortem,
    Resources,
    Reversibility,
    Text,
    Tool,
    ToolDefinition,
    Ulid,
    definition_hash,
    limits,
)
from pmcl.hosts.clock import now_s
from pmcl.hosts.desk.messages import Asked
from pmcl.hosts.proposal import Proposal
from pmcl.hosts.verdict import Verdict

__all__ = [
    "CheckAnswer",
    "CheckAsked",
    "PlanCheckAsked",
    "RecommendationCheckAsked",
    "ToolCheckAsked",
]

_NO_DEFINITION = "0" * 64

Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)]


class CheckAsked(Asked, frozen=True, kw_only=True):
    """What every kind of proposal may say; what is missing is explicitly missing.

    Attributes:
        call_id: unique per scope and host for ever; made when it is missing.
        resources: what the call would touch, resolved by the caller.
    """

    goal: Text
    call_id: Id | None = None
    resources: Resources = ()
    expected_outcome: Text | None = None
    expected_receipt: ExpectedReceipt | None = None
    effect: Effect | None = None
    reversibility: Reversibility | None = None
    premortem: Premortem | None = None
    justification: Justification | None = None
    rejected_alternatives: Texts = ()
    evidence_ids: EvidenceIds = ()

    def proposal(self) -> Proposal:
        """Return what is proposed."""
        raise NotImplementedError

    def _said(self, *apart: str) -> dict[str, Any]:
        """Return the fields of a proposal, but for those that were not given."""
        fields = msgspec.structs.asdict(self)
        for name in ("generation", *apart):
            del fields[name]
        if self.call_id is None:
            del fields["call_id"]
        return fields


class ToolName(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tool that would be called.

    Attributes:
        definition_hash: pins what the tool says of itself; computed where a definition is given.
    """

    server: Key
    name: Key
    definition_hash: Digest | None = None


class ToolCheckAsked(CheckAsked, frozen=True, kw_only=True):
    """A tool call, before anything was dispatched.

    Attributes:
        arguments: raw, as the tool would get them; only their redacted form leaves this machine.
        plan_call_id: call id of the plan that the call belongs to; a held one holds it.
    """

    tool: ToolName
    arguments: dict[str, Any]
    definition: ToolDefinition | None = None
    plan_call_id: Id | None = None
    read_only: bool | None = None

    def proposal(self) -> Proposal:
        """Return what is proposed.

        Raises:
            ContractError: the definition has no canonical form, or is too large.
        """
        pinned = self.tool.definition_hash
        if pinned is None:
            pinned = _NO_DEFINITION if self.definition is None else definition_hash(self.definition)
        tool = Tool(server=self.tool.server, name=self.tool.name, definition_hash=pinned)
        return Proposal(**{**self._said(), "tool": tool})


class PlanCheckAsked(CheckAsked, frozen=True, kw_only=True):
    """A plan; its pass covers none of its calls."""

    steps: Annotated[
        tuple[PlanStep, ...], msgspec.Meta(min_length=1, max_length=limits.PLAN_STEPS_MAX)
    ]

    def proposal(self) -> Proposal:
        """Return what is proposed."""
        return Proposal.plan(**self._said())


class RecommendationCheckAsked(CheckAsked, frozen=True, kw_only=True):
    """A text, before somebody reads it."""

    text: Text

    def proposal(self) -> Proposal:
        """Return what is proposed."""
        return Proposal.recommendation(**self._said())


class CheckAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict. Only one of a tool call that is not `held` can be dispatched, once.

    Attributes:
        verdict_id: what a dispatch names.
        revision_request: what would lift the hold, for the model.
        valid_for_ms: how long it can be dispatched, from now.
        generation: of the lease it was asked under; 0 when there was none.
        evaluation: the sidecar's whole answer; `None` when nobody gave one.
    """

    verdict_id: Ulid
    status: CheckpointStatus
    reasons: tuple[str, ...]
    revision_request: str | None
    call_id: Id
    proposal_hash: Digest
    approval_id: Ulid | None
    valid_for_ms: int
    generation: int
    evaluation: Evaluation | None

    @classmethod
    def of(cls, verdict: Verdict) -> "CheckAnswer":
        """Return the answer that tells of a verdict."""
        return cls(
            verdict_id=verdict.claim_id,
            status=verdict.status,
            reasons=verdict.reasons,
            revision_request=verdict.revision_request,
            call_id=verdict.call_id,
            proposal_hash=verdict.proposal_hash,
            approval_id=verdict.approval_id,
            valid_for_ms=max(0, int((verdict.ends_s - now_s()) * 1000)),
            generation=verdict.binding.generation,
            evaluation=verdict.evaluation,
        )
