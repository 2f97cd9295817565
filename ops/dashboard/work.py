"""Background work: what waits to be done unasked, and what the record knows of its copies.

What this version does not do is said, and no figure stands for it.
"""

from typing import Final

from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.record.backup import list_backups
from pmcl.ops.record.erase import list_erasures
from pmcl.ops.reflections import list_reflections
from pmcl.store import load_queries, open_reader

__all__ = ["work"]

_queries = load_queries("pmcl.ops.dashboard", "work")
_SHOWN: Final = 20


async def work(visit: Visit) -> Page:
    """Return the jobs of turns, cycles of reflection, erasures and backups."""
    backups = await list_backups(visit.settings)
    erasures = await list_erasures(visit.settings)
    reflections = await list_reflections(visit.settings, limit=_SHOWN)
    async with open_reader(visit.settings.ledger_path) as reader:
        turns = await reader.all(_queries.turns)
    facts = {
        "turns": turns,
        "cycles": reflections["cycles"],
        "erasures": erasures[:_SHOWN],
        "open_erasures": sum(each.ended_at is None for each in erasures),
        "backups": backups[:_SHOWN],
        "shown": _SHOWN,
    }
    return Page("work.html", "Work", facts)
