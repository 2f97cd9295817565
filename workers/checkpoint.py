"""The checkpoint worker: a proposal becomes one committed evaluation, and that is the reply.

Source: SPEC C; DESIGN section 4.
"""

import os
from collections.abc import Mapping
from functools import reduce
from typing import Any

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    CheckpointRequest,
    Contract,
    Effect,
    Evaluated,
    Event,
    HashMismatchError,
    HoldPlaced,
    HoldReleased,
    Kind,
    Tool,
    definition_hash,
    encode,
    proposal_hash,
)
from pmcl.judgement import (
    Classification,
    Critique,
    EffectRules,
    Grounding,
    Inputs,
    Judgement,
    StepKnown,
    classify,
    ground,
    judge,
    redact_request,
    step_request,
    tried,
)
from pmcl.ledger import (
    LedgerKey,
    derived,
    evaluations,
    evidence,
    holds,
    leases,
    lessons,
    outcomes,
    payloads,
    self_models,
    stops,
)
from pmcl.ledger.evaluations import Judged
from pmcl.ledger.payloads import SALT_BYTES, Payload
from pmcl.outbox import UnitOfWork
from pmcl.store import Transaction
from pmcl.workers.approving import approval_events, judge_once
from pmcl.workers.criticising import CriticUse, criticise
from pmcl.workers.kinds import check_kind
from pmcl.workers.worker import Decision, Incoming

__all__ = ["CheckpointWorker", "Proposal"]


class Action(msgspec.Struct, frozen=True):
    """What a call, or a step that would be one, is known by in the ledger."""

    resource_keys: tuple[str, ...]
    fingerprint: str
    tool: Tool


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A checked and redacted request with the digests that the ledger knows it by."""

    request: CheckpointRequest
    evaluation_id: str
    resource_keys: tuple[str, ...]
    fingerprint: str
    steps: tuple[Action, ...]
    salt: bytes
    rules: EffectRules
    state_folders: tuple[str, ...]
    classified: Classification
    critique: Critique | None
    critic_required: bool


class CheckpointWorker:
    """Decides calls, plans and texts; the same call id and hash gives the same evaluation."""

    name: str = "checkpoint"
    kind: Kind = "checkpoint"
    needs_watermark: bool = True
    accepts: Mapping[str | None, type[Contract]] = {
        "plan": CheckpointRequest,
        "recommendation": CheckpointRequest,
        "tool": CheckpointRequest,
    }

    def __init__(
        self,
        key: LedgerKey,
        rules: EffectRules | None = None,
        critic: CriticUse | None = None,
        state_folders: tuple[str, ...] = (),
    ) -> None:
        self._key = key
        self._rules = rules or EffectRules()
        self._critic = critic
        self._state_folders = state_folders

    async def prepare(self, incoming: Incoming) -> Proposal:
        """Return the proposal, its hash verified and its secrets redacted once more."""
        subject, request = incoming.subject, incoming.body
        check_kind(subject.leaf, request)
        _check_definition(request)
        expected = proposal_hash(subject.scope, subject.host, request)
        if request.proposal_hash != expected:
            raise HashMismatchError("$.proposal_hash", request.proposal_hash, expected)
        redacted = redact_request(request, self._key.secret, self._rules)
        calls = [step_request(redacted, step) for step in redacted.steps]
        steps = tuple([self._action(subject.scope, call) for call in calls])
        own = self._action(subject.scope, redacted)
        rules = self._rules_about(redacted, *calls)
        touched = [key for step in steps for key in step.resource_keys]
        classified = classify(redacted, rules)
        return Proposal(
            request=redacted,
            evaluation_id=ulid_now(),
            resource_keys=tuple(dict.fromkeys(touched)) or own.resource_keys,
            fingerprint=own.fingerprint,
            steps=steps,
            salt=os.urandom(SALT_BYTES),
            rules=rules,
            state_folders=self._state_folders,
            classified=classified,
            critique=await self._critique(redacted, classified.effect),
            critic_required=self._critic is not None and self._critic.required,
        )

    async def _critique(self, request: CheckpointRequest, effect: Effect) -> Critique | None:
        return None if request.canary else await criticise(self._critic, request, effect)

    def _action(self, scope: str, call: CheckpointRequest) -> Action:
        resource_keys = self._key.resources_of(scope, call)
        return Action(resource_keys, self._key.action(scope, call, resource_keys), call.tool)

    def _rules_about(self, *calls: CheckpointRequest) -> EffectRules:
        found = [self._rules.about(call) for call in calls]
        return reduce(EffectRules.merged, found) if len(found) > 1 else found[0]

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: Proposal) -> Decision:
        """Return the evaluation with its holds and releases."""
        scope, host, request = incoming.subject.scope, incoming.subject.host, prepared.request
        inputs = _collect(unit, scope, host, prepared)
        if request.canary:
            return Decision(reply=tried(judge(inputs, prepared.classified).evaluation))
        before = evaluations.judged_before(
            unit.tx, scope, host, request.call_id, request.proposal_hash
        )
        if before is not None:
            # A lease that ended took its verdicts with it, however long they were to last.
            ends_at = min(before.expires_at, inputs.lease_expires_at)
            left_ms = max(0, ends_at - unit.now_ms)
            return Decision(reply=msgspec.structs.replace(before, valid_for_ms=left_ms))
        inputs, judgement = judge_once(unit, inputs, prepared.classified)
        payload = Payload(
            scope=scope,
            id=prepared.evaluation_id,
            salt=prepared.salt,
            content=encode(Judged(inputs=inputs, evaluation=judgement.evaluation)),
        )
        return Decision(
            events=_events(unit, inputs, prepared, judgement, payload.commitment),
            payloads=(payload,),
            reply=judgement.evaluation,
        )


def _check_definition(request: CheckpointRequest) -> None:
    if request.definition is not None:
        pinned, shown = request.tool.definition_hash, definition_hash(request.definition)
        if pinned != shown:
            raise HashMismatchError("$.tool.definition_hash", pinned, shown)


def _collect(unit: UnitOfWork, scope: str, host: str, proposal: Proposal) -> Inputs:
    tx, request = unit.tx, proposal.request
    lease = leases.bind(tx, scope, host, request.lease_id, request.generation)
    named = request.premortem.evidence_ids if request.premortem else ()
    cited = evidence.cited(tx, scope, (*request.evidence_ids, *named))
    plan = request.plan_call_id
    last = None if cited else evidence.last_of_host(tx, scope, host)
    return Inputs(
        scope=scope,
        host=host,
        evaluation_id=proposal.evaluation_id,
        now_ms=unit.now_ms,
        request=request,
        rules=proposal.rules,
        state_folders=proposal.state_folders,
        authority=lease.authority,
        lease_generation=lease.generation,
        stopped=stops.in_force(tx) is not None,
        resumed=lease.resumed,
        lease_expires_at=lease.expires_at if lease.state == "live" else 0,
        resource_keys=proposal.resource_keys,
        evidence=cited,
        last_evidence_id=last[0] if last else None,
        last_evidence_at=last[1] if last else None,
        holds=holds.on_resources(tx, proposal.resource_keys),
        history=outcomes.history(tx, scope, proposal.fingerprint, request.tool),
        lesson=lessons.mature(tx, scope, proposal.fingerprint),
        pending=evaluations.pending(tx, scope, host),
        steps=tuple([_known(tx, scope, step) for step in proposal.steps]),
        grounding=_grounding(tx, scope, proposal, lease.authority.writable_roots),
        plan_held=plan is not None and evaluations.plan_held(tx, scope, host, plan),
        derived=derived.standing(tx, scope, host, request.goal, unit.now_ms),
        self_model_version_id=self_models.current(tx, scope),
        critique=proposal.critique,
        critic_required=proposal.critic_required,
    )


def _grounding(
    tx: Transaction, scope: str, proposal: Proposal, roots: tuple[str, ...]
) -> Grounding:
    effect = proposal.classified.effect
    if proposal.request.kind != "tool" or effect == "inspect_local":
        return Grounding()
    return ground(
        proposal.request,
        effect,
        payloads.newest_excerpts(tx, scope),
        about=proposal.resource_keys,
        roots=roots,
    )


def _known(tx: Transaction, scope: str, step: Action) -> StepKnown:
    return StepKnown(
        resource_keys=step.resource_keys,
        history=outcomes.history(tx, scope, step.fingerprint, step.tool),
        lesson=lessons.mature(tx, scope, step.fingerprint),
    )


def _events(
    unit: UnitOfWork, inputs: Inputs, proposal: Proposal, judgement: Judgement, commitment: str
) -> tuple[Event, ...]:
    sender: dict[str, Any] = {"scope": inputs.scope, "host": inputs.host, "at_ms": unit.now_ms}
    whose = sender | {"evaluation_id": inputs.evaluation_id}
    cited = tuple(item.evidence_id for item in inputs.evidence)
    evaluated = _evaluated(whose, proposal, judgement, cited, commitment)
    released = tuple(
        HoldReleased(**whose, hold_id=release.hold_id, evidence_ids=release.evidence_ids)
        for release in judgement.released
    )
    approved = (*approval_events(inputs, judgement, sender),)
    if judgement.hold_reason is None:
        return (evaluated, *released, *approved)
    placed = HoldPlaced(
        **whose,
        hold_id=inputs.evaluation_id,  # an evaluation places one hold at most
        effect=evaluated.effect,
        resource_keys=judgement.hold_keys,
        reason=judgement.hold_reason,
        lift=judgement.hold_lift,
        cited=tuple(dict.fromkeys((*cited, *inputs.grounding.goal_ids))),
    )
    return (evaluated, *released, *approved, placed)


def _evaluated(
    whose: Mapping[str, Any],
    proposal: Proposal,
    judgement: Judgement,
    cited: tuple[str, ...],
    commitment: str,
) -> Evaluated:
    request, evaluation = proposal.request, judgement.evaluation
    check, plan = evaluation.execution_check, evaluation.plan_check
    receipt = request.expected_receipt
    return Evaluated(
        **whose,
        call_id=request.call_id,
        kind=request.kind,
        proposal_hash=request.proposal_hash,
        lease_id=request.lease_id,
        generation=request.generation,
        status=evaluation.checkpoint_status,
        effect=check.effect,
        reversibility=check.reversibility,
        server=request.tool.server,
        tool=request.tool.name,
        fingerprint=proposal.fingerprint,
        resource_keys=proposal.resource_keys,
        cited=cited,
        reasons=evaluation.reasons,
        failure_mode=plan.forecast.mode,
        failure_probability=plan.forecast.probability,
        material=plan.material,
        mitigated=plan.mitigated,
        expected_receipt_kind=None if receipt is None else receipt.kind,
        expected_receipt_digest=None if receipt is None else receipt.digest,
        expires_at=evaluation.expires_at,
        commitment=commitment,
    )
