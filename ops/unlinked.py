"""`pmcl outcomes`: which outcomes are linked to no evaluation, and why; nothing is changed.

A parked one names an evaluation that the ledger does not have (yet) and is linked when it comes.
A listed one can never be linked; it is kept for whoever must find out what happened.
Source: SPEC D2.
"""

from typing import Any, Final

import msgspec

from pmcl.contracts import Outcome, OutcomeStatus, decode
from pmcl.ops.console import console, shown_minute, shown_whole
from pmcl.ops.reach import check_ledger
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.store import Row, load_queries, open_reader

__all__ = ["UNLINKED_MAX", "UnlinkedOutcome", "list_unlinked", "show_unlinked"]

_queries = load_queries("pmcl.ops", "unlinked")
UNLINKED_MAX: Final = 256

_WHY: Final = {
    "parked": "its evaluation is not known yet",
    "not_a_call": "its evaluation is of no tool call",
    "not_passed": "its evaluation had not passed",
    "other_proposal": "its evaluation is of another proposal",
    "repeated": "its evaluation has an outcome already",
}


class UnlinkedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome as it was reported, and why it stands alone.

    Attributes:
        why: `parked`, or the reason for which it is listed.
        since, finished_at: milliseconds since the epoch; by the ledger, and by the host.
    """

    why: str
    scope: str
    host: str
    outcome_id: str
    evaluation_id: str
    status: OutcomeStatus
    failure_mode: str | None
    since: int
    finished_at: int


async def list_unlinked(
    settings: Settings,
    *,
    scope: str | None = None,
    host: str | None = None,
    limit: int = UNLINKED_MAX,
) -> dict[str, Any]:
    """Return the newest first: `{"outcomes": [UnlinkedOutcome], "more": bool}`.

    Args:
        settings: name the ledger; the sidecar may run meanwhile.
        scope: of this scope alone.
        host: of hosts of this name alone.
        limit: so many at most.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        rows = await reader.all(_queries.unlinked, scope=scope, host=host, max_rows=limit + 1)
    return {"outcomes": [_view(row) for row in rows[:limit]], "more": len(rows) > limit}


def _view(row: Row) -> UnlinkedOutcome:
    outcome = decode(row["outcome"].encode(), Outcome)
    return UnlinkedOutcome(
        why=row["why"],
        scope=row["scope"],
        host=row["host"],
        outcome_id=row["outcome_id"],
        evaluation_id=row["evaluation_id"],
        status=outcome.status,
        failure_mode=outcome.failure_mode,
        since=row["since"],
        finished_at=outcome.finished_at,
    )


def show_unlinked(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["outcomes"]:
        console.print("Every outcome is linked to its evaluation.")
        return
    names = ("since", "host", "outcome", "evaluation", "status", "why")
    rows = []
    for outcome in found["outcomes"]:
        mode = "" if outcome.failure_mode is None else f" {shown_whole(outcome.failure_mode)}"
        rows.append(
            (
                shown_minute(outcome.since),
                f"{outcome.scope}/{outcome.host}",
                outcome.outcome_id,
                outcome.evaluation_id,
                f"{outcome.status}{mode}",
                f"{outcome.why}: {_WHY[outcome.why]}",
            )
        )
    print_rows(names, rows)
    if found["more"]:
        console.print("There are more: narrow it with --scope or --host, or raise --limit.")
