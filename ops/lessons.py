"""`pmcl lessons`: which actions have succeeded often enough to be relied on; nothing is changed."""

from typing import Any, Final

import msgspec

from pmcl.contracts import Resource
from pmcl.judgement import LESSON_MATURE_FROM, fallback_resource
from pmcl.ledger.evaluations import Judged
from pmcl.ops.console import console, shown_minute, shown_whole
from pmcl.ops.lines import shown_resources
from pmcl.ops.reach import check_ledger
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.store import Reader, Row, load_queries, open_reader

__all__ = ["CountedRun", "LessonView", "list_lessons", "show_lessons"]

_queries = load_queries("pmcl.ops", "lessons")
_LISTED_MAX: Final = 256
_judged = msgspec.json.Decoder(Judged)


class CountedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that counts, and the evidence that stands for it and for no other."""

    outcome_id: str
    evaluation_id: str
    evidence_id: str


class LessonView(msgspec.Struct, frozen=True, kw_only=True):
    """One lesson as an operator sees it.

    Attributes:
        fingerprint: the keyed digest by which the ledger knows the action.
        resources: what it touches; `None` when no run counts or what it proposed was erased.
        state: `gathering`, `mature` or `demoted`.
        reason: why it was demoted.
        changed_by: the outcome or the erased content that changed it last.
        changed_at: milliseconds since the epoch.
    """

    scope: str
    fingerprint: str
    server: str
    tool: str
    effect: str
    resources: tuple[Resource, ...] | None
    state: str
    reason: str | None
    changed_by: str
    changed_at: int
    runs: tuple[CountedRun, ...]


async def list_lessons(
    settings: Settings, *, scope: str | None = None, state: str | None = None
) -> dict[str, Any]:
    """Return the lessons, the last changed first: `{"lessons": [LessonView], "more": bool}`.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        rows = await reader.all(_queries.listed, scope=scope, state=state, max_rows=_LISTED_MAX + 1)
        lessons = [await _view(reader, row) for row in rows[:_LISTED_MAX]]
    return {"lessons": lessons, "more": len(rows) > _LISTED_MAX}


async def _view(reader: Reader, row: Row) -> LessonView:
    name = {"scope": row["scope"], "fingerprint": row["fingerprint"]}
    runs = await reader.all(_queries.runs, **name)
    return LessonView(
        **name,
        server=row["server"],
        tool=row["tool"],
        effect=row["effect"],
        resources=_resources(row["content"]),
        state=row["state"],
        reason=row["reason"],
        changed_by=row["changed_by"],
        changed_at=row["changed_at"],
        runs=tuple(CountedRun(**dict(zip(run.keys(), run, strict=True))) for run in runs),
    )


def _resources(content: bytes | None) -> tuple[Resource, ...] | None:
    if content is None:
        return None
    request = _judged.decode(content).inputs.request
    return request.resources or (fallback_resource(request.tool, request.arguments),)


def show_lessons(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["lessons"]:
        console.print("No verified run has taught anything yet.")
        return
    names = ("state", "runs", "scope", "changed", "action", "on")
    rows = [
        (
            lesson.state,
            f"{len(lesson.runs)} of {LESSON_MATURE_FROM}",
            lesson.scope,
            f"{shown_minute(lesson.changed_at)} {lesson.reason or ''}",
            shown_whole(f"{lesson.server}/{lesson.tool}"),
            "-" if lesson.resources is None else shown_resources(lesson.resources),
        )
        for lesson in found["lessons"]
    ]
    print_rows(names, rows)
    if found["more"]:
        console.print("There are more: narrow it with --scope or --state.")
