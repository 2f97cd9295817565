"""Rows that are relayed at once go on in the trace of what they came from.

The journal does not know of traces: a row that is read from it, after an outage, a restart or a
repair, goes to LOG without one.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from pmcl.bus import SpanKind, begin_span, fail_span, traceparent
from pmcl.contracts import BusError
from pmcl.outbox.journal import JournalRow

__all__ = ["RowTraces"]

_WAITING_MAX: Final = 4096
_NONE: Final[Mapping[int, str]] = {}


class RowTraces:
    """Knows the traces of rows that wait, and forgets them when LOG has the rows."""

    def __init__(self) -> None:
        self._waiting: dict[int, str] = {}

    def offer(self, rows: Sequence[JournalRow], trace: str) -> None:
        """Keep the trace of these rows, unless too many wait."""
        if trace and len(self._waiting) < _WAITING_MAX:
            self._waiting.update((row.sequence, trace) for row in rows)

    @contextmanager
    def appending(self, rows: Sequence[JournalRow]) -> Iterator[Mapping[int, str]]:
        """Yield the `traceparent` that each row goes out with; the block is its append."""
        if not self._waiting:
            yield _NONE
            return
        spans = {
            row.sequence: begin_span(
                "pmcl.relay", self._waiting[row.sequence], kind=SpanKind.PRODUCER
            )
            for row in rows
            if row.sequence in self._waiting
        }
        try:
            yield {sequence: traceparent(span) for sequence, span in spans.items()}
        except BusError as error:
            for span in spans.values():
                fail_span(span, error)
            raise
        finally:
            for span in spans.values():
                span.end()

    def appended(self, last: int) -> None:
        """LOG has every row up to `last`."""
        for sequence in [known for known in self._waiting if known <= last]:
            del self._waiting[sequence]
