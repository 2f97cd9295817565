"""Content goes on an operator's word; envelopes, the chain and what was decided stay.

What rested on erased evidence alone loses that support in the same unit. Source: SPEC B3.
"""

from collections.abc import Iterator, Sequence
from typing import Any

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
    ItemClosed,
    OutcomeUnverified,
    PayloadErased,
)
from pmcl.ledger import backups, erasures, evidence, outcomes, payloads, resting
from pmcl.ledger.erasures import ErasureRow, Whole
from pmcl.outbox import UnitOfWork
from pmcl.workers.learning import unlearn
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision

__all__ = ["begin_erasure", "end_erasure", "erase_payloads"]


def begin_erasure(asked: EraseContent, unit: UnitOfWork) -> Decision:
    """Return the erasure that begins, or only what it would be about.

    Raises:
        UnknownEvidenceError: single observations are named, and one is not of the scope.
        ContractError: a host beside single observations, or nobody of this name ever spoke.
    """
    if asked.evidence_ids and asked.host is not None:
        raise ContractError("$.host", asked.host, "none beside single observations")
    if not erasures.is_known(unit.tx, asked.scope, None):
        raise ContractError("$.scope", asked.scope, "a scope that the ledger knows")
    if not erasures.is_known(unit.tx, asked.scope, asked.host):
        raise ContractError("$.host", asked.host, f"a host of {asked.scope} that the ledger knows")
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
        found = erasures.whole(unit.tx, erasure.scope, payload_id)
        if found is None:
            continue
        digest = payloads.detail_digest_of(unit.tx, erasure.scope, payload_id)
        yield from _gone(erasure, payload_id, found, unit)
        yield from unlearn(unit, erasure.scope, found.host, payload_id)
        if not found.is_evidence:
            continue
        # What was derived from it may quote it.
        for derived_id in resting.on_evidence(unit.tx, erasure.scope, payload_id):
            derived = erasures.whole(unit.tx, erasure.scope, derived_id)
            if derived is not None:
                yield from _gone(erasure, derived_id, derived, unit)
        if digest is None or evidence.attested(unit.tx, erasure.scope, digest) is not None:
            continue
        for outcome_id in outcomes.verified_by(unit.tx, erasure.scope, digest):
            yield OutcomeUnverified(
                scope=erasure.scope,
                host=found.host,
                at_ms=unit.now_ms,
                outcome_id=outcome_id,
                evidence_id=payload_id,
            )


def _gone(erasure: ErasureRow, payload_id: str, found: Whole, unit: UnitOfWork) -> Iterator[Event]:
    """Yield that an item counts no longer, and that the payload is gone."""
    whose: dict[str, Any] = {
        "scope": erasure.scope,
        "host": found.host,
        "at_ms": unit.now_ms,
    }
    if found.is_live:
        yield ItemClosed(**whose, item_id=payload_id, reason="unsupported", by=erasure.erasure_id)
    yield PayloadErased(**whose, erasure_id=erasure.erasure_id, payload_id=payload_id)


def end_erasure(erasure: ErasureRow, messages: int, unit: UnitOfWork) -> Iterator[Event]:
    """Yield that nothing of the content is left."""
    yield ErasureEnded(
        scope=CELL_SCOPE,
        host=CELL_HOST,
        at_ms=unit.now_ms,
        erasure_id=erasure.erasure_id,
        messages=messages,
    )
