"""Approvals: what exactly waits, and the operator's word, by the functions of `pmcl approvals`."""

from datetime import timedelta
from typing import Any, Final

from pmcl.ops.approvals import (
    approval_lines,
    deny_approval,
    grant_approval,
    list_approvals,
    read_approval,
)
from pmcl.ops.asking import operator_label
from pmcl.ops.dashboard.access import PageRefusedError
from pmcl.ops.dashboard.visit import Done, Page, Visit

__all__ = ["approval", "approvals", "ask_deny", "ask_grant", "deny", "grant"]

MINUTES: Final = (1, 10, 60, 1440)
"""How long a grant can be used, as the page offers it."""


async def approvals(visit: Visit) -> Page:
    """Return those that wait, or with `all` those that are over as well."""
    ended = visit.asked("all") is not None
    found = await list_approvals(visit.settings, ended=ended)
    facts = {"approvals": found.approvals, "more": found.more, "ended": ended}
    return Page("approvals.html", "Approvals", facts)


async def approval(visit: Visit) -> Page:
    """Return one approval, with all that was proposed."""
    return Page("approval.html", "Approval", await _proposed(visit))


async def ask_grant(visit: Visit) -> Page:
    """Return the page that asks whether the proposal may pass."""
    facts = {
        **await _proposed(visit),
        "minutes": MINUTES,
        "usual": visit.settings.approval_ttl_ms / 60_000,
        "by": operator_label(),
    }
    return Page("approval_grant.html", "Grant this approval?", facts)


async def ask_deny(visit: Visit) -> Page:
    """Return the page that asks whether the proposal is held for good."""
    facts = {**await _proposed(visit), "by": operator_label()}
    return Page("approval_deny.html", "Deny this approval?", facts)


async def grant(visit: Visit) -> Done:
    """The proposal may pass once."""
    decided = await grant_approval(visit.settings, visit.named, _expires(visit))
    told = f"{decided.server}/{decided.tool} may pass once, granted by {decided.approver}."
    return Done("/approvals", told)


async def deny(visit: Visit) -> Done:
    """The proposal is held for good."""
    decided = await deny_approval(visit.settings, visit.named)
    told = f"{decided.server}/{decided.tool} is held for good, denied by {decided.approver}."
    return Done("/approvals", told)


async def _proposed(visit: Visit) -> dict[str, Any]:
    found = await read_approval(visit.settings, visit.named)
    return {"approval": found.approval, "lines": list(approval_lines(found))}


def _expires(visit: Visit) -> timedelta | None:
    """Return what was chosen, `None` for what is set."""
    chosen = visit.form.get("minutes", "")
    if chosen and chosen not in map(str, MINUTES):
        raise PageRefusedError(400, f"minutes is one of {', '.join(map(str, MINUTES))}.")
    return timedelta(minutes=int(chosen)) if chosen else None
