"""The checkpoint worker: a proposal becomes one committed evaluation, and that is the reply.

Source: SPEC C; DESIGN section 4.
"""

import os
from collections.abc import Mapping
from typing import Any

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    CheckpointRequest,
    Contract,
    ContractError,
    Evaluated,
    Event,
    HashMismatchError,
    HoldPlaced,
    HoldReleased,
    Kind,
    NotAvailableError,
    TooLargeError,
    canonical,
    definition_hash,
    encode,
    limits,
    proposal_hash,
)
from pmcl.judgement import EffectRules, Inputs, Judgement, redact_request
from pmcl.ledger import LedgerKey, evaluations, evidence, holds, leases, outcomes
from pmcl.ledger.evaluations import Judged
from pmcl.ledger.payloads import SALT_BYTES, Payload
from pmcl.outbox import UnitOfWork
from pmcl.workers.approving import approval_events, judge_once
from pmcl.workers.worker import Decision, Incoming

__all__ = ["CheckpointWorker", "Proposal"]


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A checked and redacted request with the digests that the ledger knows it by."""

    request: CheckpointRequest
    evaluation_id: str
    resource_keys: tuple[str, ...]
    fingerprint: str
    salt: bytes
    rules: EffectRules


class CheckpointWorker:
    """Decides tool proposals; the same call id and hash again gives the same evaluation."""

    name: str = "checkpoint"
    kind: Kind = "checkpoint"
    needs_watermark: bool = True
    accepts: Mapping[str | None, type[Contract]] = {
        "plan": CheckpointRequest,
        "recommendation": CheckpointRequest,
        "tool": CheckpointRequest,
    }

    def __init__(self, key: LedgerKey, rules: EffectRules | None = None) -> None:
        self._key = key
        self._rules = rules or EffectRules()

    async def prepare(self, incoming: Incoming) -> Proposal:
        """Return the proposal, its hash verified and its secrets redacted once more."""
        subject, request = incoming.subject, incoming.body
        _check(subject.leaf, request)
        expected = proposal_hash(subject.scope, subject.host, request)
        if request.proposal_hash != expected:
            raise HashMismatchError("$.proposal_hash", request.proposal_hash, expected)
        redacted = redact_request(request, self._key.secret)
        resource_keys = self._key.resources_of(subject.scope, redacted)
        return Proposal(
            request=redacted,
            evaluation_id=ulid_now(),
            resource_keys=resource_keys,
            fingerprint=self._key.action(subject.scope, redacted, resource_keys),
            salt=os.urandom(SALT_BYTES),
            rules=self._rules.about(redacted),
        )

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: Proposal) -> Decision:
        """Return the evaluation with its holds and releases."""
        scope, host, request = incoming.subject.scope, incoming.subject.host, prepared.request
        inputs = _collect(unit, scope, host, prepared)
        before = evaluations.judged_before(
            unit.tx, scope, host, request.call_id, request.proposal_hash
        )
        if before is not None:
            left_ms = max(0, before.expires_at - unit.now_ms)
            return Decision(reply=msgspec.structs.replace(before, valid_for_ms=left_ms))
        inputs, judgement = judge_once(unit, inputs)
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


def _check(leaf: str | None, request: CheckpointRequest) -> None:
    if request.kind != leaf:
        raise ContractError("$.kind", request.kind, f"{leaf}, as the subject says")
    if request.kind != "tool":
        raise NotAvailableError("$.kind", request.kind, "tool")
    size = len(canonical(request.arguments))
    if size > limits.ARGUMENTS_MAX_BYTES:
        raise TooLargeError("$.arguments", f"{size} bytes", f"{limits.ARGUMENTS_MAX_BYTES} bytes")
    if request.definition is not None:
        pinned, shown = request.tool.definition_hash, definition_hash(request.definition)
        if pinned != shown:
            raise HashMismatchError("$.tool.definition_hash", pinned, shown)


def _collect(unit: UnitOfWork, scope: str, host: str, proposal: Proposal) -> Inputs:
    tx, request = unit.tx, proposal.request
    lease = leases.bind(tx, scope, host, request.lease_id, request.generation)
    named = request.premortem.evidence_ids if request.premortem else ()
    cited = evidence.cited(tx, scope, (*request.evidence_ids, *named))
    last = None if cited else evidence.last_of_host(tx, scope, host)
    return Inputs(
        scope=scope,
        host=host,
        evaluation_id=proposal.evaluation_id,
        now_ms=unit.now_ms,
        request=request,
        rules=proposal.rules,
        authority=lease.authority,
        lease_generation=lease.generation,
        lease_expires_at=lease.expires_at if lease.state == "live" else 0,
        resource_keys=proposal.resource_keys,
        evidence=cited,
        last_evidence_id=last[0] if last else None,
        last_evidence_at=last[1] if last else None,
        holds=holds.on_resources(tx, proposal.resource_keys),
        history=outcomes.history(tx, scope, proposal.fingerprint),
        pending=evaluations.pending(tx, scope, host),
    )


def _events(
    unit: UnitOfWork, inputs: Inputs, proposal: Proposal, judgement: Judgement, commitment: str
) -> tuple[Event, ...]:
    request, evaluation = proposal.request, judgement.evaluation
    check, forecast = evaluation.execution_check, evaluation.plan_check.forecast
    receipt = request.expected_receipt
    cited = tuple(item.evidence_id for item in inputs.evidence)
    sender: dict[str, Any] = {"scope": inputs.scope, "host": inputs.host, "at_ms": unit.now_ms}
    whose = sender | {"evaluation_id": evaluation.evaluation_id}
    evaluated = Evaluated(
        **whose,
        call_id=request.call_id,
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
        failure_mode=forecast.mode,
        failure_probability=forecast.probability,
        expected_receipt_kind=None if receipt is None else receipt.kind,
        expected_receipt_digest=None if receipt is None else receipt.digest,
        expires_at=evaluation.expires_at,
        commitment=commitment,
    )
    released = tuple(
        HoldReleased(**whose, hold_id=release.hold_id, evidence_ids=release.evidence_ids)
        for release in judgement.released
    )
    approved = (*approval_events(inputs, judgement, sender),)
    if judgement.hold_reason is None:
        return (evaluated, *released, *approved)
    placed = HoldPlaced(
        **whose,
        hold_id=evaluation.evaluation_id,  # an evaluation places one hold at most
        effect=check.effect,
        resource_keys=judgement.hold_keys,
        reason=judgement.hold_reason,
        lift="evidence_about_resource",
        cited=cited,
    )
    return (evaluated, *released, *approved, placed)
