"""Stands where tools run, and looks into the ledger at that very moment."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pmcl.hosts import Verdict
from pmcl.ops.replay import Executor
from pmcl.ops.settings import Settings
from pmcl.store import load_queries, open_reader

__all__ = ["Witness"]

_queries = load_queries("pmcl.ops.program", "witness")


class Witness:
    """Counts tools that ran, and those of them that ran under a pass that was committed."""

    def __init__(self) -> None:
        self.ran = 0
        self.passed_before = 0

    @asynccontextmanager
    async def open(self, settings: Settings) -> AsyncIterator[Executor]:
        """Yield the tool that does nothing but look."""
        async with open_reader(settings.ledger_path) as ledger:

            async def look(verdict: Verdict) -> None:
                self.ran += 1
                row = await ledger.one(_queries.verdict, evaluation_id=verdict.claim_id)
                self.passed_before += row is not None and row["status"] == "passed"

            yield look
