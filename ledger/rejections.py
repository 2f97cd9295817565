"""Rejections: proposals that were not admitted, each once for each reason why not."""

from typing import Final

import msgspec

from pmcl.contracts import ProposalRejected, Proposed
from pmcl.ledger import resting
from pmcl.ledger.proposals import read_proposal
from pmcl.store import Reader, Transaction, load_queries

__all__ = ["Rejection", "apply_rejected", "is_known", "listed", "shown"]

_queries = load_queries("pmcl.ledger", "rejections")
SCHEMA: Final = _queries.schema


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal that was not admitted.

    Attributes:
        code, field, limit: the rule that it broke, where, and what the rule allows.
        said: what was proposed; None when its payload is gone or was not brought back.
    """

    scope: str
    proposal_id: str
    host: str
    cycle_id: str
    kind: str
    code: str
    field: str
    limit: str
    evidence_ids: tuple[str, ...]
    rejected_at: int
    erased: bool
    said: Proposed | None


def is_known(tx: Transaction, scope: str, statement_key: str, code: str) -> bool:
    """Return whether just this was rejected for just that reason before."""
    found = tx.one(_queries.known, scope=scope, statement_key=statement_key, code=code)
    return found is not None


async def listed(
    reader: Reader, *, scope: str | None, kind: str | None, before: int, max_rows: int
) -> list[tuple[int, Rejection]]:
    """Return rejections with their place, newest first."""
    rows = await reader.all(
        _queries.listed, scope=scope, kind=kind, before=before, max_rows=max_rows
    )
    return [(row["place"], read_proposal(Rejection, row)) for row in rows]


async def shown(reader: Reader, proposal_id: str) -> Rejection | None:
    """Return a rejection."""
    row = await reader.one(_queries.shown, proposal_id=proposal_id)
    return None if row is None else read_proposal(Rejection, row)


def apply_rejected(tx: Transaction, event: ProposalRejected) -> None:
    """Record a proposal beside the reason why it was not admitted."""
    tx.run(
        _queries.reject,
        scope=event.scope,
        proposal_id=event.proposal_id,
        host=event.host,
        cycle_id=event.cycle_id,
        kind=event.kind,
        code=event.code,
        field=event.field,
        limit=event.limit,
        evidence_ids=msgspec.json.encode(event.evidence_ids).decode(),
        statement_key=event.statement_key,
        commitment=event.commitment,
        size_bytes=event.size_bytes,
        at_ms=event.at_ms,
    )
    resting.rest(tx, event.scope, event.proposal_id, event.evidence_ids)
