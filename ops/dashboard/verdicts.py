"""Verdicts as rows: a page of the ledger's, or one that was just told."""

from typing import Any, Final

import msgspec

from pmcl.contracts import Evaluated
from pmcl.ops.console import shown_time, shown_whole
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.judge import judge_again, judgement_lines
from pmcl.ops.reach import check_ledger
from pmcl.store import Reader, Row, load_queries, open_reader

__all__ = ["VerdictRow", "newest", "row_of", "verdict", "verdicts"]

_queries = load_queries("pmcl.ops.dashboard", "verdicts")
_strings = msgspec.json.Decoder(tuple[str, ...])
_PAGE_ROWS: Final = 100
STATUSES: Final = ("passed", "held", "degraded")


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict in a list.

    Attributes:
        at: milliseconds since the epoch.
        took_ms: see `Feed.took_ms`.
    """

    id: str
    at: int
    status: str
    effect: str
    tool: str
    host: str
    reasons: str
    took_ms: int | None


async def newest(reader: Reader, feed: Feed, max_rows: int) -> list[VerdictRow]:
    """Return the newest verdicts, newest first."""
    rows = await reader.all(_queries.page, before=None, status=None, max_rows=max_rows)
    return [_row(row, feed) for row in rows]


def row_of(event: Evaluated, feed: Feed) -> VerdictRow:
    """Return the row of a verdict that the journal tells of."""
    return VerdictRow(
        id=event.evaluation_id,
        at=event.at_ms,
        status=event.status,
        effect=event.effect,
        tool=shown_whole(f"{event.server}/{event.tool}"),
        host=f"{event.scope}/{event.host}",
        reasons=", ".join(event.reasons),
        took_ms=feed.took_ms(event.evaluation_id),
    )


async def verdicts(visit: Visit) -> Page:
    """Return a page of verdicts, newest first, of one status or all."""
    status = visit.asked("status")
    status = status if status in STATUSES else None
    check_ledger(visit.settings)
    async with open_reader(visit.settings.ledger_path) as reader:
        rows = await reader.all(
            _queries.page, before=visit.asked("before"), status=status, max_rows=_PAGE_ROWS + 1
        )
    facts = {
        "rows": [_row(row, visit.feed) for row in rows[:_PAGE_ROWS]],
        "more": len(rows) > _PAGE_ROWS,
        "before": visit.asked("before"),
        "status": status,
        "statuses": STATUSES,
    }
    return Page("verdicts.html", "Verdicts", facts)


async def verdict(visit: Visit) -> Page:
    """Return one verdict, line by line, with what judging it again says and what came of it."""
    report = await judge_again(visit.settings, visit.named)
    async with open_reader(visit.settings.ledger_path) as reader:
        outcome = await reader.one(_queries.outcome, evaluation_id=visit.named)
    lines = [("decided", shown_time(report["decided_at"])), *judgement_lines(report)]
    if outcome is not None:
        lines.append(("outcome", _came_of_it(outcome)))
    facts: dict[str, Any] = {"lines": lines, "report": report}
    return Page("verdict.html", "Verdict", facts)


def _row(row: Row, feed: Feed) -> VerdictRow:
    return VerdictRow(
        id=row["evaluation_id"],
        at=row["decided_at"],
        status=row["status"],
        effect=row["effect"],
        tool=shown_whole(f"{row['server']}/{row['tool']}"),
        host=f"{row['scope']}/{row['host']}",
        reasons=", ".join(_strings.decode(row["reasons"])),
        took_ms=feed.took_ms(row["evaluation_id"]),
    )


def _came_of_it(outcome: Row) -> str:
    mode = f" ({outcome['failure_mode']})" if outcome["failure_mode"] else ""
    verified = ", verified by evidence" if outcome["verified"] else ""
    finished = shown_time(outcome["finished_at"])
    return f"{outcome['status']}{mode}, said by the {outcome['reported_by']}, {finished}{verified}"
