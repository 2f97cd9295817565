"""A proposal is bound to one lease and to the exact raw arguments, and leaves without secrets.

Source: SPEC C1, C11.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    PLAN_TOOL,
    RECOMMENDATION_TOOL,
    CheckpointRequest,
    Effect,
    ExpectedReceipt,
    Justification,
    PlanStep,
    Premortem,
    Resource,
    Reversibility,
    Tool,
    ToolDefinition,
    arguments_commitment,
    proposal_hash,
)
from pmcl.judgement import EffectRules, redact_request

__all__ = ["Binding", "Proposal", "bind"]

_UNKNOWN_HASH = "0" * 64
_NO_RULES = EffectRules()


def _new_call_id() -> str:
    return ulid_now()


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What the host wants to do, before anything was dispatched.

    Attributes:
        arguments: raw; they are run, but only their redacted form is sent.
        definition: what the tool says of itself; `tool.definition_hash` is its `definition_hash`.
        call_id: unique per scope and host for ever; made when it is not given.
        resources: what the call would touch, resolved by the host.
        steps: of a plan; `plan` makes one.
        plan_call_id: call id of the plan that a tool call belongs to; a held one holds it.
        canary: only the way to the checkpoint is tried: it is judged, held, and kept nowhere.
    """

    goal: str
    tool: Tool
    arguments: dict[str, Any]
    call_id: str = msgspec.field(default_factory=_new_call_id)
    definition: ToolDefinition | None = None
    kind: Literal["tool", "plan", "recommendation"] = "tool"
    steps: tuple[PlanStep, ...] = ()
    plan_call_id: str | None = None
    resources: tuple[Resource, ...] = ()
    expected_outcome: str | None = None
    expected_receipt: ExpectedReceipt | None = None
    read_only: bool | None = None
    effect: Effect | None = None
    reversibility: Reversibility | None = None
    premortem: Premortem | None = None
    justification: Justification | None = None
    rejected_alternatives: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    canary: bool = False

    @classmethod
    def plan(cls, goal: str, steps: Sequence[PlanStep], **fields: Any) -> "Proposal":
        """Return a plan to be checked; its pass covers none of its calls."""
        return cls(goal=goal, kind="plan", tool=PLAN_TOOL, arguments={}, steps=(*steps,), **fields)

    @classmethod
    def recommendation(cls, goal: str, text: str, **fields: Any) -> "Proposal":
        """Return a text to be checked before somebody reads it; 4 KiB at most."""
        told = {"text": text}
        return cls(
            goal=goal, kind="recommendation", tool=RECOMMENDATION_TOOL, arguments=told, **fields
        )

    def __repr__(self) -> str:
        return f"Proposal(call_id={self.call_id!r}, tool={self.tool.server}/{self.tool.name})"


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """Under which lease a proposal is made; the salt is not shown."""

    scope: str
    host: str
    lease_id: str
    generation: int
    salt: str

    def __repr__(self) -> str:
        return f"Binding(lease_id={self.lease_id!r}, generation={self.generation})"


def bind(
    proposal: Proposal, binding: Binding, redaction_key: bytes, rules: EffectRules = _NO_RULES
) -> CheckpointRequest:
    """Return the request: redacted, committed to the raw arguments, hashed.

    `rules` are the operator's, for what redaction hides of the call.

    Raises:
        SecretInNameError: a name holds a secret.
        ContractError: the arguments have no canonical form.
    """
    raw = CheckpointRequest(
        **msgspec.structs.asdict(proposal),
        lease_id=binding.lease_id,
        generation=binding.generation,
        arguments_commitment=arguments_commitment(binding.salt, proposal.arguments),
        proposal_hash=_UNKNOWN_HASH,
    )
    request = redact_request(raw, redaction_key, rules)
    hashed = proposal_hash(binding.scope, binding.host, request)
    return msgspec.structs.replace(request, proposal_hash=hashed)
