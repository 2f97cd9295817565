"""Holds: on what, why, and what would lift them; nothing here lifts one."""

from typing import Final

from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.holds import LIFTS, hold_lines, list_holds, read_hold

__all__ = ["hold", "holds"]

_PAGE_ROWS: Final = 100


async def holds(visit: Visit) -> Page:
    """Return a page of the open holds, newest first."""
    before, reason = visit.asked("before"), visit.asked("reason")
    found = await list_holds(visit.settings, reason=reason, before=before, limit=_PAGE_ROWS)
    return Page(
        "holds.html", "Holds", {**found, "before": before, "reason": reason, "lifts": LIFTS}
    )


async def hold(visit: Visit) -> Page:
    """Return one hold, open or released."""
    found = await read_hold(visit.settings, visit.named)
    return Page("hold.html", "Hold", {"hold": found, "lines": list(hold_lines(found))})
