"""Lag and outboxes: what is committed and not yet told, and what waits in the streams."""

from typing import Final

from pmcl.bus import DEADLETTERS, INTAKE, LOG
from pmcl.ops.dashboard.streams import read_streams
from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.outbox import list_outboxes

__all__ = ["queues"]

_WHAT: Final = {
    INTAKE: "observations and outcomes of hosts, kept until it is three quarters full",
    LOG: "the journal's rows, for whoever reads them",
    DEADLETTERS: "messages that could not be dealt with",
}


async def queues(visit: Visit) -> Page:
    """Return both kinds of outbox, and the streams."""
    streams = await read_streams(visit.settings)
    report = await list_outboxes(visit.settings)
    return Page("queues.html", "Queues", {"report": report, "streams": streams, "what": _WHAT})
