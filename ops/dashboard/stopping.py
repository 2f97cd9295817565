"""Stop and resume: what either would do is asked of the sidecar first."""

from pmcl.ops import stopping
from pmcl.ops.asking import operator_label
from pmcl.ops.dashboard.visit import Done, Page, Visit

__all__ = ["ask_stop", "resume", "stop"]


async def ask_stop(visit: Visit) -> Page:
    """Return the page that asks whether to stop, or, under a stop, whether to resume."""
    state = await stopping.stop(visit.settings, dry_run=True)
    title = "Resume?" if state.stopped else "Stop?"
    return Page("stop.html", title, {"state": state, "by": operator_label()})


async def stop(visit: Visit) -> Done:
    """Only local inspections go on."""
    state = await stopping.stop(visit.settings)
    if not state.changed:
        return Done("/stop", f"It was stopped already, by {state.by}.")
    return Done("/stop", f"Stopped by {state.by}: {stopping.shown_leases(state)} ended.")


async def resume(visit: Visit) -> Done:
    """Everything is judged again."""
    state = await stopping.resume(visit.settings)
    if not state.changed:
        return Done("/stop", "Nothing was stopped.")
    return Done("/stop", f"Resumed by operator/{operator_label()}. Hosts ask again.")
