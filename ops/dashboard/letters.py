"""Dead letters by worker and reason, and a second chance for them, after a dry run."""

from collections import Counter
from typing import Any, Final

from pmcl.ops.dashboard.access import PageRefusedError
from pmcl.ops.dashboard.running import check_running
from pmcl.ops.dashboard.streams import read_streams
from pmcl.ops.dashboard.templates import counted
from pmcl.ops.dashboard.visit import Done, Page, Visit, number_of
from pmcl.ops.dead_letters import (
    LetterView,
    Wanted,
    letter_lines,
    list_letters,
    read_letter,
)
from pmcl.ops.redriving import RedriveReport, redrive

__all__ = ["ask_redrive", "do_redrive", "letter", "letters"]

_PAGE_ROWS: Final = 100
_COUNTED_MAX: Final = 1_000
_REDRIVEN_MAX: Final = 256


async def letters(visit: Visit) -> Page:
    """Return how many there are by worker and reason, and a page of them, oldest first."""
    by_worker = (await read_streams(visit.settings)).letters
    after = _number(visit.asked("after") or "0")
    worker, reason = visit.asked("worker"), visit.asked("reason")
    every = await list_letters(visit.settings, Wanted(limit=_COUNTED_MAX))
    shown = every
    if after or worker or reason or every["more"]:
        wanted = Wanted(worker=worker, reason=reason, after=after, limit=_PAGE_ROWS)
        shown = await list_letters(visit.settings, wanted)
    rows: list[LetterView] = shown["letters"][:_PAGE_ROWS]
    counts = Counter((each.worker, each.reason) for each in every["letters"])
    facts = {
        "worker": worker,
        "reason": reason,
        "after": after,
        "by_worker": by_worker,
        "counts": sorted(counts.items()),
        "counted_all": not every["more"],
        "counted_max": _COUNTED_MAX,
        "letters": rows,
        "more": shown["more"] or len(shown["letters"]) > _PAGE_ROWS,
    }
    return Page("letters.html", "Dead letters", facts)


async def letter(visit: Visit) -> Page:
    """Return one letter with its content, secrets marked."""
    check_running(visit.settings)
    found = await read_letter(visit.settings, _number(visit.named))
    facts = {"letter": found["letter"], "lines": list(letter_lines(found))}
    return Page("letter.html", "Dead letter", facts)


async def ask_redrive(visit: Visit) -> Page:
    """Return what a redrive would do, by a dry run of it."""
    check_running(visit.settings)
    chosen = {name: visit.asked(name) or "" for name in ("sequence", "worker", "reason")}
    report = RedriveReport(dry_run=True)
    await redrive(visit.settings, _wanted(chosen, _REDRIVEN_MAX), report)
    facts: dict[str, Any] = {**chosen, "report": report, "redriven_max": _REDRIVEN_MAX}
    return Page("redrive.html", "Redrive dead letters?", facts)


async def do_redrive(visit: Visit) -> Done:
    """So many letters as the dry run found, and no more, have had their second chance."""
    check_running(visit.settings)
    found = _number(visit.form.get("found", ""))
    if not 1 <= found <= _REDRIVEN_MAX:
        raise PageRefusedError(400, f"found is a number from 1 to {_REDRIVEN_MAX}.")
    report = RedriveReport()
    await redrive(visit.settings, _wanted(visit.form, found), report)
    stay = "".join(f"; {count} stay: {code}" for code, count in sorted(report.left.items()))
    dealt = f"{counted(report.done, 'dead letter')} dealt with"
    told = f"{dealt}, {report.repeats} had been before{stay}."
    return Done("/deadletters", told)


def _wanted(chosen: dict[str, str], limit: int) -> Wanted:
    sequence = chosen.get("sequence")
    return Wanted(
        sequence=_number(sequence) if sequence else None,
        worker=chosen.get("worker") or None,
        reason=chosen.get("reason") or None,
        limit=limit,
    )


def _number(text: str) -> int:
    return number_of(text, "A number of letters, or of one of them, has digits alone.")
