"""A result that the host's file could not take is kept in memory until it does.

Nothing else says what came of the call. When the process ends before, its claim is closed as
`unknown` by whoever opens the file next.
"""

from collections import deque

import structlog

from pmcl.contracts import AuditReceipt, HostError, Outcome
from pmcl.outbox import HostFile

__all__ = ["UnrecordedResults"]

log = structlog.get_logger()


class UnrecordedResults:
    """What is to be written, the oldest first: at most one result for each open claim."""

    def __init__(self, file: HostFile) -> None:
        self._file = file
        self._results: deque[tuple[str, Outcome | AuditReceipt]] = deque()

    def add(self, call_id: str, result: Outcome | AuditReceipt) -> None:
        """Keep the result of a call whose claim is still open."""
        self._results.append((call_id, result))

    async def record(self) -> None:
        """All of them are in the file; one whose claim was closed elsewhere is dropped.

        Raises:
            LedgerError: the file cannot be written yet; what is left stays.
        """
        while self._results:
            call_id, result = self._results[0]
            try:
                await self._file.finish(result)
            except HostError as closed:
                log.error("dispatch.unrecorded", call=call_id, reason=str(closed))
            self._results.popleft()
