"""Content goes on an operator's word; envelopes, the chain and what was decided stay.

What rested on erased evidence alone loses that support in the same unit. Source: SPEC B3.
"""

from collections.abc import Iterator, Sequence

from ulid_transform import ulid_now

from pmcl.contracts import (
    CELL_HOST,
    CELL_SCOPE,
    ContractError,
    EraseContent,
    Erasure,
    ErasureBegan,
    ErasureEnded,
    Event,
    OutcomeUnverified,
    PayloadErased,
)
from pmcl.ledger import backups, erasures, evidence, outcomes, payloads
from pmcl.ledger.erasures import ErasureRow
from pmcl.outbox import UnitOfWork
from pmcl.workers.learning import unlearn
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision

__all__ = ["begin_erasure", "end_erasure", "erase_payloads"]


def begin_erasure(asked: EraseContent, unit: UnitOfWork) -> Decision:
    """Return the erasure that begins, or only what it would be about.

    Raises:
        UnknownEvidenceError: single observations are named, and one is not of the scope.
        ContractError: a host beside single observations.
    """
    if asked.evidence_ids and asked.host is not None:
        raise ContractError("$.host", asked.host, "none beside single observations")
    known = evidence.cited(unit.tx, asked.scope, asked.evidence_ids)
    observations: int = sum(not one.erased for one in known)
    evaluations: int | None = None
    if not known:
        observations, evaluations = erasures.counts(unit.tx, asked.scope, asked.host)
    began = ErasureBegan(
        scope=CELL_SCOPE,
        host=CELL_HOST,
        at_ms=unit.now_ms,
        erasure_id=ulid_now(),
        of_scope=asked.scope,
        of_host=asked.host,
        evidence_ids=tuple(one.evidence_id for one in known),
        by=operator_of(asked.label),
    )
    reply = Erasure(
        erasure_id=None if asked.dry_run else began.erasure_id,
        observations=observations,
        evaluations=evaluations,
        backups=tuple(backups.known(unit.tx)),
    )
    return Decision(events=() if asked.dry_run else (began,), reply=reply)


def erase_payloads(erasure: ErasureRow, ids: Sequence[str], unit: UnitOfWork) -> Iterator[Event]:
    """Yield that payloads are gone, and what loses its support; one that is gone already, nothing.

    Each must be recorded before the next is taken.
    """
    for payload_id in ids:
        found = erasures.host_of_whole(unit.tx, erasure.scope, payload_id)
        if found is None:
            continue
        host, is_evidence = found
        digest = payloads.detail_digest_of(unit.tx, erasure.scope, payload_id)
        yield PayloadErased(
            scope=erasure.scope,
            host=host,
            at_ms=unit.now_ms,
            erasure_id=erasure.erasure_id,
            payload_id=payload_id,
        )
        yield from unlearn(unit, erasure.scope, host, payload_id)
        if not is_evidence or digest is None:
            continue
        if evidence.attested(unit.tx, erasure.scope, digest) is not None:
            continue
        for outcome_id in outcomes.verified_by(unit.tx, erasure.scope, digest):
            yield OutcomeUnverified(
                scope=erasure.scope,
                host=host,
                at_ms=unit.now_ms,
                outcome_id=outcome_id,
                evidence_id=payload_id,
            )


def end_erasure(erasure: ErasureRow, messages: int, unit: UnitOfWork) -> Iterator[Event]:
    """Yield that nothing of the content is left."""
    yield ErasureEnded(
        scope=CELL_SCOPE,
        host=CELL_HOST,
        at_ms=unit.now_ms,
        erasure_id=erasure.erasure_id,
        messages=messages,
    )
