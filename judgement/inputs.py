"""Everything that a judgement reads and says, as values: what is not in `Inputs` was not judged.

The ledger stores `Inputs` beside the evaluation, so that any verdict can be judged again.
"""

import msgspec

from pmcl.contracts import (
    ApprovalState,
    AuthoritySnapshot,
    CheckpointRequest,
    Contract,
    Effect,
    Evaluation,
    HoldLift,
)
from pmcl.judgement.critique import Critique
from pmcl.judgement.effects.rules import EffectRules
from pmcl.judgement.grounding.facts import Grounding
from pmcl.judgement.lessons import Lesson

__all__ = [
    "ApprovalRecord",
    "CitedEvidence",
    "DerivedItems",
    "DerivedState",
    "History",
    "Inputs",
    "Judgement",
    "OpenHold",
    "PastFailure",
    "Release",
    "StepKnown",
    "Tally",
]


class ApprovalRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger knows of an operator's approval, with all that it is bound to.

    Attributes:
        expires_at: until when a granted one counts, milliseconds since the epoch.
    """

    approval_id: str
    state: ApprovalState
    proposal_hash: str
    generation: int
    effect: Effect
    expires_at: int | None = None

    def counts(self, now_ms: int) -> bool:
        """Return whether it is granted and its time is not over."""
        return self.state == "granted" and self.expires_at is not None and now_ms < self.expires_at

    def is_over(self, now_ms: int) -> bool:
        """Return whether it is granted and its time is over."""
        return self.state == "granted" and not self.counts(now_ms)


class CitedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """An envelope of the request's own scope that the request names.

    Attributes:
        generation: of the lease it was observed under.
        observed_at: milliseconds since the epoch by the host's clock.
        erased: its payload is gone; it supports nothing any more.
        resource_keys: keyed digests of what it is about.
    """

    evidence_id: str
    generation: int
    trust: str
    observed_at: int
    erased: bool
    resource_keys: tuple[str, ...]


class OpenHold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold of the request's scope that nothing has released yet.

    Attributes:
        cited: evidence that had been named when the hold was placed; it releases nothing.
    """

    hold_id: str
    effect: Effect
    resource_keys: tuple[str, ...]
    reason: str
    lift: HoldLift = "evidence_about_resource"
    cited: tuple[str, ...] = ()


class PastFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A failed outcome of the same action fingerprint."""

    outcome_id: str
    mode: str
    at_ms: int


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the known outcomes of one action, tool or effect.

    Attributes:
        runs: outcomes that succeeded or failed; others count nowhere.
        failed: how often each failure mode was seen, ordered by mode.
    """

    runs: int = 0
    failed: tuple[tuple[str, int], ...] = ()

    @property
    def failures(self) -> int:
        """The outcomes that failed, in whatever mode."""
        return sum(count for _, count in self.failed)


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an action's outcomes, from the action itself up to its effect.

    Attributes:
        action: of the same action fingerprint.
        tool: of every action of the same tool, this one included.
        effects: of every tool of the scope, by effect.
        recent: the last failures of the action, newest first, as many as the ledger reads.
    """

    action: Tally = Tally()
    tool: Tally = Tally()
    effects: dict[str, Tally] = {}
    recent: tuple[PastFailure, ...] = ()


class StepKnown(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger knows of one step of a plan.

    Attributes:
        resource_keys: keyed digests of what the step would touch, never empty.
        history: of the action that the step would be.
        lesson: of that action, where it is mature.
    """

    resource_keys: tuple[str, ...]
    history: History = History()
    lesson: Lesson | None = None


class DerivedItems(msgspec.Struct, frozen=True, kw_only=True):
    """Derived items that stand, newest first, as many as the ledger reads.

    Attributes:
        newest_at: when the newest was admitted, milliseconds since the epoch.
    """

    ids: tuple[str, ...] = ()
    newest_at: int | None = None


class DerivedState(msgspec.Struct, frozen=True, kw_only=True):
    """What reflection left that still rests on evidence; it lifts and grounds nothing.

    Attributes:
        working_state: of the host; all else is of its scope.
        memories: memories, beliefs and lessons.
        contradictions: beliefs that cannot hold beside another one that stands.
    """

    working_state: DerivedItems = DerivedItems()
    memories: DerivedItems = DerivedItems()
    contradictions: DerivedItems = DerivedItems()


class Inputs(Contract, frozen=True, kw_only=True, tag="pmcl/inputs/1"):
    """What one judgement reads.

    Attributes:
        now_ms: the sidecar's clock when it decided, milliseconds since the epoch.
        request: sanitized; its ids, hash and generation were checked before.
        rules: the operator's, as far as they are about the request's tools.
        lease_generation: the living generation of the host.
        state_folders: the sidecar's state folder, in each way to spell it.
        stopped: that an operator's stop was in force.
        resumed: that the generation began after a gap, in which nobody knows what happened.
        resource_keys: keyed digests of the request's resources, never empty; the key of
            `fallback_resource` stands for an empty list.
        evidence: what the request cites in `evidence_ids` and `premortem.evidence_ids`, each once.
        last_evidence_id, last_evidence_at: the newest envelope of scope and host, cited or not.
        holds: every open hold of the scope that shares one of `resource_keys`; more do no harm.
        lesson: of the action, where it is mature.
        grounding: where the call's decisive values come from; empty for anything but an external
            tool call.
        pending: evaluations of this host that passed and have no outcome yet.
        steps: one for each of `request.steps`; `resource_keys` is what they touch together.
        plan_held: that the plan which the request names is held.
        derived: which derived items stand; told, and read by no rule.
        self_model_version_id: of the scope.
        critique: what a model critic said; None where none was asked.
        critic_required: that the operator wants nothing passed without its answer.
        approval: what stands for this proposal; looked up only when the judgement asks for it.
        approvals_waiting: pending and granted ones of this host, looked up together with it.
    """

    scope: str
    host: str
    evaluation_id: str
    now_ms: int
    request: CheckpointRequest
    authority: AuthoritySnapshot
    lease_generation: int
    lease_expires_at: int
    resource_keys: tuple[str, ...]
    rules: EffectRules = EffectRules()
    state_folders: tuple[str, ...] = ()
    stopped: bool = False
    resumed: bool = False
    last_evidence_id: str | None = None
    last_evidence_at: int | None = None
    evidence: tuple[CitedEvidence, ...] = ()
    holds: tuple[OpenHold, ...] = ()
    history: History = History()
    lesson: Lesson | None = None
    grounding: Grounding = Grounding()
    pending: tuple[str, ...] = ()
    steps: tuple[StepKnown, ...] = ()
    plan_held: bool = False
    derived: DerivedState = DerivedState()
    self_model_version_id: str = "self-model/0"
    critique: Critique | None = None
    critic_required: bool = False
    approval: ApprovalRecord | None = None
    approvals_waiting: int = 0


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """A hold whose predicate this request's evidence satisfies."""

    hold_id: str
    evidence_ids: tuple[str, ...]


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict and what it does to holds.

    Attributes:
        hold_reason: why a hold is to be placed; `None` when none is.
        hold_keys: the resources to place it on, those of `Inputs.resource_keys` that no equal hold
            is open on already.
        released: holds to release; empty unless the verdict is `passed`.
        asks_approval: that an approval is wanted, so that the ledger must be asked for one.
        uses_approval: the approval that this pass uses up.
        requests_approval: that an operator is to be asked, under the evaluation's id.
    """

    evaluation: Evaluation
    hold_reason: str | None = None
    hold_keys: tuple[str, ...] = ()
    hold_lift: HoldLift = "evidence_about_resource"
    released: tuple[Release, ...] = ()
    asks_approval: bool = False
    uses_approval: str | None = None
    requests_approval: bool = False
