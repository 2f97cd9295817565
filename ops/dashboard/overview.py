"""The first page: what runs, what waits, and verdicts as they are decided."""

from pmcl.contracts import BusError
from pmcl.ops.asking import NotRunningError
from pmcl.ops.dashboard.live import LIVE_ROWS
from pmcl.ops.dashboard.queues import Streams, read_streams
from pmcl.ops.dashboard.verdicts import newest
from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.settings import Settings
from pmcl.ops.status import read_status
from pmcl.store import open_reader

__all__ = ["overview"]


async def overview(visit: Visit) -> Page:
    """Return the page; without a ledger it says how one comes about."""
    status = await read_status(visit.settings)
    if "ledger" not in status:
        return Page("overview.html", "Overview", {"ledger": None})
    async with open_reader(visit.settings.ledger_path) as reader:
        rows = await newest(reader, visit.feed, LIVE_ROWS)
    ledger, log = status["ledger"], status.get("log")
    facts = {
        "ledger": ledger,
        "behind": None if log is None else max(0, ledger["journal"] - log["last"]),
        "streams": await _streams(visit.settings),
        "rows": rows,
        "blank": LIVE_ROWS - len(rows),
    }
    return Page("overview.html", "Overview", facts, sequence=ledger["journal"])


async def _streams(settings: Settings) -> Streams | None:
    """Return what the streams hold, `None` where nobody says it."""
    try:
        return await read_streams(settings)
    except (BusError, NotRunningError):
        return None
