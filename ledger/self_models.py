"""Self-models: one sequence of versions for each scope, and the changes that wait.

Version 0 exists in every scope and says nothing. No version follows it but by a commit of the
evolution clock, and a proposal is no commit.
"""

from typing import Final

import msgspec

from pmcl.contracts import EvolutionProposed, Proposed
from pmcl.ledger import resting
from pmcl.ledger.proposals import read_proposal
from pmcl.store import Reader, Transaction, load_queries

__all__ = [
    "FIRST_VERSION",
    "Change",
    "apply_proposed",
    "current",
    "listed",
    "said",
    "shown",
    "waiting",
]

FIRST_VERSION: Final = "self-model/0"

_queries = load_queries("pmcl.ledger", "self_models")
SCHEMA: Final = _queries.schema


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the self-model that waits.

    Attributes:
        said: what was proposed; None when its payload is gone or was not brought back.
    """

    scope: str
    proposal_id: str
    host: str
    cycle_id: str
    part: str
    visibility: str
    confidence: float
    evidence_ids: tuple[str, ...]
    simulated: bool
    risk: str
    impact_radius: str
    reversibility: str
    proposed_at: int
    erased: bool
    said: Proposed | None


def current(tx: Transaction, scope: str) -> str:
    """Return the id of the scope's self-model version."""
    return FIRST_VERSION


def waiting(tx: Transaction, scope: str) -> int:
    """Return how many changes of the scope's self-model wait."""
    row = tx.one(_queries.waiting, scope=scope)
    assert row is not None
    return int(row["waiting"])


def said(tx: Transaction, scope: str, statement_key: str) -> str | None:
    """Return the waiting change that says just this."""
    row = tx.one(_queries.said, scope=scope, statement_key=statement_key)
    return None if row is None else row["proposal_id"]


async def listed(
    reader: Reader, *, scope: str | None, before: int, max_rows: int
) -> list[tuple[int, Change]]:
    """Return changes that wait, with their place, newest first."""
    rows = await reader.all(_queries.listed, scope=scope, before=before, max_rows=max_rows)
    return [(row["place"], read_proposal(Change, row)) for row in rows]


async def shown(reader: Reader, proposal_id: str) -> Change | None:
    """Return a change that waits."""
    row = await reader.one(_queries.shown, proposal_id=proposal_id)
    return None if row is None else read_proposal(Change, row)


def apply_proposed(tx: Transaction, event: EvolutionProposed) -> None:
    """Record a change that waits."""
    tx.run(
        _queries.propose,
        scope=event.scope,
        proposal_id=event.proposal_id,
        host=event.host,
        cycle_id=event.cycle_id,
        part=event.part,
        visibility=event.visibility,
        confidence=event.confidence,
        evidence_ids=msgspec.json.encode(event.evidence_ids).decode(),
        simulated=event.simulated,
        risk=event.risk,
        impact_radius=event.impact_radius,
        reversibility=event.reversibility,
        statement_key=event.statement_key,
        commitment=event.commitment,
        size_bytes=event.size_bytes,
        at_ms=event.at_ms,
    )
    resting.rest(tx, event.scope, event.proposal_id, event.evidence_ids)
