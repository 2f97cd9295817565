"""A payload that an older copy of the ledger lacks is taken from its message in INTAKE again.

It is taken only where the message gives just the envelope that is recorded; nothing is invented.
"""

from functools import partial
from typing import get_args

from pmcl.bus import Message
from pmcl.contracts import (
    EvidenceRecorded,
    Observation,
    PayloadRetaken,
    RefusedError,
    TrustLabel,
    decode,
    parse_subject,
)
from pmcl.ledger import LedgerKey, evidence
from pmcl.ledger.payloads import Payload
from pmcl.outbox import UnitOfWork
from pmcl.workers.observe import ObserveWorker
from pmcl.workers.units import Units
from pmcl.workers.worker import Decision, Incoming

__all__ = ["Retaker"]

_EVERY_LABEL: frozenset[TrustLabel] = frozenset(get_args(TrustLabel))


class Retaker:
    """Gives recorded evidence its content back."""

    def __init__(self, key: LedgerKey, units: Units) -> None:
        # What its host could assert was asked when it was recorded, and may have changed since.
        self._worker = ObserveWorker(key, lambda *_: _EVERY_LABEL)
        self._units = units

    async def retake(self, message: Message) -> bool:
        """Return whether the message gave an envelope the payload that it lacked."""
        try:
            body = decode(message.data, Observation)
            incoming = Incoming(subject=parse_subject(message.subject), body=body)
            prepared = await self._worker.prepare(incoming)
        except RefusedError:
            return False
        assert prepared is not None
        decision = await self._units.record(partial(_retake, *prepared))
        return bool(decision.events)


def _retake(envelope: EvidenceRecorded, payload: Payload, unit: UnitOfWork) -> Decision:
    if not evidence.lacks_payload(unit.tx, envelope):
        return Decision()
    retaken = PayloadRetaken(
        scope=envelope.scope,
        host=envelope.host,
        at_ms=unit.now_ms,
        evidence_id=envelope.evidence_id,
        commitment=payload.commitment,
    )
    return Decision(events=(retaken,), payloads=(payload,))
