"""A verdict clears a veto for one call, once, for a while; it grants nothing.

It is made of a reply that names the call, the hash and the generation that were asked about, or of
nobody's answer: then only a local inspection may go on.
Source: SPEC C2, C8, C9; DESIGN section 4.
"""

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    AuthoritySnapshot,
    CheckpointRequest,
    CheckpointStatus,
    Evaluation,
    Tool,
    limits,
)
from pmcl.hosts.clock import now_s
from pmcl.hosts.proposal import Binding
from pmcl.judgement import EffectRules, OperatorsFiles, classify, decides

__all__ = ["Verdict", "answers", "degraded", "judged"]

_NO_RULES = EffectRules()
_NO_FILES = OperatorsFiles()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the host may do with one proposal.

    Attributes:
        status: `passed` and `degraded` may be dispatched, once; `held` never.
        reasons: `authority.*`, `sensing.*`, `plan.*`, `hold.*` or `degraded.*`; empty on a pass.
        revision_request: what would lift the hold, for the model.
        evaluation: the sidecar's whole answer; `None` when nobody gave one.
        claim_id: evaluation id, or the audit id of an inspection that nobody judged.
        ends_s: by `pmcl.hosts.clock.now_s`.
    """

    status: CheckpointStatus
    call_id: str
    proposal_hash: str
    reasons: tuple[str, ...]
    revision_request: str | None = None
    evaluation: Evaluation | None = None
    binding: Binding
    claim_id: str
    ends_s: float

    @property
    def passed(self) -> bool:
        """Whether the sidecar judged the call and lets it run: then it is owed an outcome."""
        return self.status == "passed"

    @property
    def approval_id(self) -> str | None:
        """The request that waits for an operator, or the approval that let this call pass."""
        return None if self.evaluation is None else self.evaluation.approval_id

    @property
    def cause(self) -> str:
        """Of a degraded verdict: why nobody judged the call, as a code."""
        return "" if self.passed or not self.reasons else self.reasons[0].partition(".")[2]


def answers(evaluation: Evaluation, request: CheckpointRequest) -> bool:
    """Return whether the evaluation is about this very request."""
    return (
        evaluation.call_id == request.call_id
        and evaluation.proposal_hash == request.proposal_hash
        and evaluation.generation == request.generation
    )


def judged(
    evaluation: Evaluation,
    request: CheckpointRequest,
    binding: Binding,
    asked_s: float,
    rules: EffectRules = _NO_RULES,
) -> Verdict:
    """Return the verdict that the sidecar gave; its time counts from when it was asked."""
    status = evaluation.checkpoint_status
    reasons = evaluation.reasons
    if status == "degraded" and not _is_inspection(request, rules):
        status = "held"
    return Verdict(
        status=status,
        call_id=request.call_id,
        proposal_hash=request.proposal_hash,
        reasons=reasons,
        revision_request=evaluation.revision_request,
        evaluation=evaluation,
        binding=binding,
        claim_id=evaluation.evaluation_id if status == "passed" else ulid_now(),
        ends_s=asked_s + evaluation.valid_for_ms / 1000,
    )


def degraded(
    request: CheckpointRequest,
    binding: Binding,
    authority: AuthoritySnapshot,
    cause: str,
    rules: EffectRules = _NO_RULES,
    files: OperatorsFiles = _NO_FILES,
) -> Verdict:
    """Return the verdict on a request that nobody judged: it goes on only as a local inspection.

    The host's own authority counts here, since nobody else has looked at it; and what is the
    operator's stays so.
    """
    goes_on = (
        _is_inspection(request, rules)
        and _is_granted(request.tool, authority)
        and not decides(request, "inspect_local", files, rules)
    )
    return Verdict(
        status="degraded" if goes_on else "held",
        call_id=request.call_id,
        proposal_hash=request.proposal_hash,
        reasons=(f"degraded.{cause}",),
        binding=binding,
        claim_id=ulid_now(),
        ends_s=now_s() + limits.VERDICT_TTL_MS / 1000,
    )


def _is_inspection(request: CheckpointRequest, rules: EffectRules) -> bool:
    return request.kind == "tool" and classify(request, rules).effect == "inspect_local"


def _is_granted(tool: Tool, authority: AuthoritySnapshot) -> bool:
    fallback = authority.tools.get("*", "prohibit")
    by_tool = authority.tools.get(f"{tool.server}/{tool.name}", fallback)
    by_effect = authority.effects.get("inspect_local", "prohibit")
    return by_tool == "grant" and by_effect == "grant"
