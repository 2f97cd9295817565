"""Evidence: content-free envelopes; one key of a host, one envelope."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    ConflictError,
    EvidenceRecorded,
    PayloadRetaken,
    UnknownEvidenceError,
)
from pmcl.judgement import CitedEvidence, Support
from pmcl.ledger.payloads import same_content
from pmcl.store import Reader, Transaction, load_queries

__all__ = [
    "apply_recorded",
    "apply_retaken",
    "attested",
    "cited",
    "is_repeat",
    "lacking",
    "lacks_payload",
    "last_of_host",
    "supports",
]

_queries = load_queries("pmcl.ledger", "evidence")
SCHEMA: Final = _queries.schema

_keys = msgspec.json.Decoder(tuple[str, ...])


def is_repeat(tx: Transaction, envelope: EvidenceRecorded, content: bytes) -> bool:
    """Return whether this very observation is recorded already.

    Raises:
        ConflictError: the key, or the evidence id, stands for other content; that one stays.
    """
    known = tx.one(
        _queries.known,
        scope=envelope.scope,
        host=envelope.host,
        key=envelope.key,
        evidence_id=envelope.evidence_id,
    )
    if known is None:
        return False
    if not known["by_key"]:
        raise ConflictError("$.evidence_id", envelope.evidence_id, "an id used once")
    if not same_content(tx, envelope.scope, known["evidence_id"], content):
        raise ConflictError("$.key", envelope.key, "the same content for the same key")
    return True


def cited(tx: Transaction, scope: str, evidence_ids: Iterable[str]) -> tuple[CitedEvidence, ...]:
    """Return the envelopes of a scope's evidence, each once, in the order given.

    Raises:
        UnknownEvidenceError: an id that the scope does not know.
    """
    return tuple(_cited(tx, scope, evidence_id) for evidence_id in dict.fromkeys(evidence_ids))


def _cited(tx: Transaction, scope: str, evidence_id: str) -> CitedEvidence:
    row = tx.one(_queries.find, scope=scope, evidence_id=evidence_id)
    if row is None:
        raise UnknownEvidenceError("$.evidence_ids", evidence_id, "evidence of this scope")
    return CitedEvidence(
        evidence_id=evidence_id,
        generation=row["generation"],
        trust=row["trust"],
        observed_at=row["observed_at"],
        erased=bool(row["erased"]),
        resource_keys=_keys.decode(row["resource_keys"]),
    )


def supports(tx: Transaction, scope: str, evidence_ids: Iterable[str]) -> dict[str, Support]:
    """Return which of these the scope knows, by id, erased ones as such."""
    ids = msgspec.json.encode(tuple(evidence_ids)).decode()
    return {
        row["evidence_id"]: Support(
            evidence_id=row["evidence_id"],
            trust=row["trust"],
            visibility=row["visibility"],
            erased=bool(row["erased"]),
        )
        for row in tx.all(_queries.supports, scope=scope, evidence_ids=ids)
    }


def last_of_host(tx: Transaction, scope: str, host: str) -> tuple[str, int] | None:
    """Return the id of the host's last committed evidence, and when it was observed."""
    return tx.recall(_last(scope, host), lambda: _read_last(tx, scope, host))


def _last(scope: str, host: str) -> tuple[str, ...]:
    return "evidence.last_of_host", scope, host


def _read_last(tx: Transaction, scope: str, host: str) -> tuple[str, int] | None:
    row = tx.one(_queries.last_of_host, scope=scope, host=host)
    return None if row is None else (row["evidence_id"], row["observed_at"])


def attested(tx: Transaction, scope: str, digest: str) -> str | None:
    """Return evidence that no model wrote and whose detail has this SHA-256."""
    row = tx.one(_queries.attested, scope=scope, digest=digest)
    return None if row is None else row["evidence_id"]


def lacks_payload(tx: Transaction, envelope: EvidenceRecorded) -> bool:
    """Return whether just this envelope is recorded, and its payload neither there nor erased."""
    row = tx.one(_queries.lacking, scope=envelope.scope, evidence_id=envelope.evidence_id)
    if row is None:
        return False
    columns = _columns(envelope)
    return all(row[name] == columns[name] for name in columns if name != "commitment")


async def lacking(reader: Reader, newest: int) -> dict[tuple[str, str], int]:
    """Return which of the newest envelopes lack their payload, unerased: scope and id to place."""
    rows = await reader.all(_queries.all_lacking, newest=newest)
    return {(row["scope"], row["evidence_id"]): row["sequence"] for row in rows}


def _columns(event: EvidenceRecorded) -> dict[str, Any]:
    return {
        "scope": event.scope,
        "evidence_id": event.evidence_id,
        "host": event.host,
        "key": event.key,
        "generation": event.generation,
        "source": event.source,
        "trust": event.trust,
        "domain": event.domain,
        "modality": event.modality,
        "confidence": event.confidence,
        "visibility": event.visibility,
        "observed_at": event.observed_at,
        "evidence_ids": msgspec.json.encode(event.evidence_ids).decode(),
        "resource_keys": msgspec.json.encode(event.resource_keys).decode(),
        "commitment": event.commitment,
        "size_bytes": event.size_bytes,
    }


def apply_recorded(tx: Transaction, event: EvidenceRecorded) -> None:
    """Record an envelope."""
    tx.run(_queries.record, **_columns(event))
    tx.remember(_last(event.scope, event.host), (event.evidence_id, event.observed_at))


def apply_retaken(tx: Transaction, event: PayloadRetaken) -> None:
    """Record what the payload, taken again, commits to."""
    changed = tx.run(
        _queries.commit_anew,
        scope=event.scope,
        evidence_id=event.evidence_id,
        commitment=event.commitment,
    )
    assert changed == 1
