"""The first page: what needs the operator, what waits, and verdicts as they are decided."""

from typing import Any

import anyio

from pmcl.ops.dashboard.live import LIVE_ROWS
from pmcl.ops.dashboard.verdicts import newest
from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.status import read_status
from pmcl.store import open_reader

__all__ = ["overview"]


async def overview(visit: Visit) -> Page:
    """Return the page; without a ledger it says how one comes about."""
    status: dict[str, Any] = {}

    async def ask() -> None:
        status.update(await read_status(visit.settings))

    async with anyio.create_task_group() as tasks:  # where the server is gone, each waits for it
        tasks.start_soon(ask)
        looked = await visit.lookout.look()
    if "ledger" not in status:
        return Page("overview.html", "Overview", {"ledger": None})
    async with open_reader(visit.settings.ledger_path) as reader:
        rows = await newest(reader, visit.feed, LIVE_ROWS)
    ledger, log = status["ledger"], status.get("log")
    facts = {
        "ledger": ledger,
        "behind": None if log is None else max(0, ledger["journal"] - log["last"]),
        "look": looked,
        "rows": rows,
        "blank": LIVE_ROWS - len(rows),
    }
    return Page("overview.html", "Overview", facts, sequence=ledger["journal"])
