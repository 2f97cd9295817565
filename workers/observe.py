"""The observe worker: an observation becomes one envelope and one erasable payload.

Source: SPEC A7, B1, B2.
"""

import os
from collections.abc import Callable
from typing import Any, Final, Literal

import anyio.to_thread
import msgspec
import structlog

from pmcl.contracts import (
    Contract,
    Event,
    EvidenceRecorded,
    Kind,
    LeaseNotFoundError,
    NumberClosed,
    Observation,
    OutcomeVerified,
    StaleGenerationError,
    Subject,
    TrustLabel,
    TrustNotAllowedError,
    Void,
    encode,
    sha256,
)
from pmcl.judgement import (
    TRUSTED,
    Excerpt,
    read_goal,
    read_text,
    redact_observation,
    unread_text,
)
from pmcl.ledger import LedgerKey, evidence, leases, outcomes
from pmcl.ledger.payloads import SALT_BYTES, Payload
from pmcl.outbox import UnitOfWork
from pmcl.workers.learning import learn_from_evidence
from pmcl.workers.requests import where
from pmcl.workers.worker import Decision, Incoming

__all__ = ["AllowedTrust", "ObserveWorker"]

log = structlog.get_logger()

_READ_AT_ONCE_CHARS: Final = 4096

AllowedTrust = Callable[[str, str], frozenset[TrustLabel]]
"""Which trust labels the credential of (scope, host) may assert."""


class ObserveWorker:
    """Records evidence, once for each key of a host."""

    name: str = "observe"
    kind: Kind = "observation"
    accepts: tuple[type[Contract], ...] = (Observation, Void)

    def __init__(self, key: LedgerKey, allowed_trust: AllowedTrust) -> None:
        self._key = key
        self._allowed_trust = allowed_trust

    async def prepare(self, incoming: Incoming) -> tuple[EvidenceRecorded, Payload] | None:
        """Return the envelope and the payload, secrets redacted once more; None for a void."""
        if isinstance(incoming.body, Void):
            return None
        subject, observation = incoming.subject, incoming.body
        allowed = self._allowed_trust(subject.scope, subject.host)
        if observation.trust not in allowed:
            raise TrustNotAllowedError("$.trust", observation.trust, ", ".join(sorted(allowed)))
        redacted = redact_observation(observation, self._key.secret)
        excerpt = await _excerpt(redacted)
        payload = _payload(subject.scope, redacted, excerpt)
        return self._envelope(subject, redacted, payload), payload

    def _envelope(
        self, subject: Subject, observation: Observation, payload: Payload
    ) -> EvidenceRecorded:
        keys = dict.fromkeys(
            self._key.resource(subject.scope, resource) for resource in observation.resources
        )
        return EvidenceRecorded(
            scope=subject.scope,
            host=subject.host,
            at_ms=0,
            evidence_id=observation.evidence_id,
            key=observation.key,
            generation=observation.generation,
            source=observation.source,
            trust=observation.trust,
            domain=observation.domain,
            modality=observation.modality,
            confidence=observation.confidence,
            visibility=observation.visibility,
            observed_at=observation.observed_at,
            evidence_ids=observation.evidence_ids,
            resource_keys=tuple(keys),
            commitment=payload.commitment,
            size_bytes=len(payload.content),
        )

    def decide(
        self,
        unit: UnitOfWork,
        incoming: Incoming,
        prepared: tuple[EvidenceRecorded, Payload] | None,
    ) -> Decision:
        """Return the recorded envelope, or that the number closed without one."""
        whose: dict[str, Any] = {
            "scope": incoming.subject.scope,
            "host": incoming.subject.host,
            "at_ms": unit.now_ms,
        }
        if prepared is None:
            reason: Literal["lost", "void"] = "lost" if incoming.body.lost else "void"
            return Decision(events=(NumberClosed(**whose, reason=reason),))
        envelope, payload = prepared
        _check_generation(unit, envelope)
        if evidence.is_repeat(unit.tx, envelope, payload.content):
            return Decision(events=(NumberClosed(**whose, reason="repeat"),))
        evidence.cited(unit.tx, envelope.scope, envelope.evidence_ids)
        recorded = msgspec.structs.replace(envelope, at_ms=unit.now_ms)
        return Decision(events=(recorded, *_verified(unit, recorded, payload)), payloads=(payload,))


def _payload(scope: str, observation: Observation, excerpt: Excerpt) -> Payload:
    # What a repeat may differ in stays out, so that a repeat has the same content.
    content = msgspec.structs.replace(
        observation, evidence_id="0" * 26, generation=0, observed_at=0
    )
    detail = observation.detail
    return Payload(
        scope=scope,
        id=observation.evidence_id,
        salt=os.urandom(SALT_BYTES),
        content=encode(content),
        detail_digest=None if detail is None else sha256(detail.encode()),
        told=observation.trust in TRUSTED,
        excerpt=excerpt,
    )


async def _excerpt(observation: Observation) -> Excerpt:
    text = observation.summary if observation.detail is None else observation.detail
    if len(text) <= _READ_AT_ONCE_CHARS:
        return _read(text, observation.trust)
    return await anyio.to_thread.run_sync(_read, text, observation.trust)  # tens of milliseconds


def _read(text: str, trust: TrustLabel) -> Excerpt:
    """Return what checks read of a text; a model has seen also the one that breaks the reader."""
    told = trust in TRUSTED
    try:
        return read_goal(text) if told else read_text(text)
    except Exception as error:  # noqa: BLE001 - whatever it is, the text must count
        log.error("observe.unread", trust=trust, **where(error))
        return unread_text(told=told)


def _check_generation(unit: UnitOfWork, envelope: EvidenceRecorded) -> None:
    # An older generation's evidence may still be under way when a newer one begins; it is kept,
    # as evidence of that older generation.
    lease = leases.current(unit.tx, envelope.scope, envelope.host)
    if lease is None:
        raise LeaseNotFoundError("$.generation", envelope.generation, "a generation that began")
    if not 1 <= envelope.generation <= lease.generation:
        raise StaleGenerationError("$.generation", envelope.generation, lease.generation)


def _verified(unit: UnitOfWork, recorded: EvidenceRecorded, payload: Payload) -> tuple[Event, ...]:
    digest = payload.detail_digest
    if digest is None or recorded.trust == "model":
        return ()
    awaiting = outcomes.awaiting_receipt(unit.tx, recorded.scope, digest)
    verified = [
        OutcomeVerified(
            scope=recorded.scope,
            host=recorded.host,
            at_ms=unit.now_ms,
            outcome_id=outcome_id,
            evidence_id=recorded.evidence_id,
        )
        for outcome_id in awaiting
    ]
    return (*verified, *learn_from_evidence(unit, recorded, digest, awaiting))
