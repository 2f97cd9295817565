"""A stream of server-sent events: what the journal tells behind the number that a page shows.

Each message holds what came since the last one, cut to as many rows as a list has, with exact
counts; its id is the journal's number, so that a browser that comes back misses nothing.
"""

from collections import Counter
from contextlib import suppress
from typing import Final

import anyio
import msgspec
from starlette.types import Receive, Scope, Send

from pmcl.contracts import (
    EVENTS,
    AuditRecorded,
    Evaluated,
    Event,
    HoldPlaced,
    HoldReleased,
    RefusedError,
    decode,
)
from pmcl.ops.dashboard.access import PageRefusedError
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.looking import Look, Lookout
from pmcl.ops.dashboard.verdicts import VerdictRow, row_of
from pmcl.ops.dashboard.visit import Visit, number_of
from pmcl.ops.reach import check_ledger
from pmcl.ops.settings import Settings
from pmcl.ops.status import Standing, read_standing
from pmcl.outbox import journal
from pmcl.store import Reader, open_reader

__all__ = ["LIVE_ROWS", "EventStream", "open_stream"]

LIVE_ROWS: Final = 30
_STREAMS_MAX: Final = 16
_LOOK_S: Final = 1.0
_PAUSE_S: Final = 0.1
_HEADERS: Final = [(b"content-type", b"text/event-stream")]


class Batch(msgspec.Struct, kw_only=True):
    """What one message tells.

    Attributes:
        rows: the newest verdicts, oldest first.
        counts: how many more there are, by name; what is missing is as it was.
        standing: how things stand now.
    """

    rows: list[VerdictRow]
    counts: dict[str, int]
    standing: Standing


def open_stream(visit: Visit) -> "EventStream":
    """Return the stream that a page asked for.

    Raises:
        PageRefusedError: too many are open, or the page did not say behind which number.
        LedgerError: there is no ledger.
    """
    check_ledger(visit.settings)
    given = visit.request.headers.get("last-event-id") or visit.asked("after") or ""
    after = number_of(given, "after is a number of the journal.")
    if visit.feed.listeners >= _STREAMS_MAX:
        raise PageRefusedError(503, f"{_STREAMS_MAX} pages are open already.")
    return EventStream(visit.settings, visit.feed, visit.lookout, after)


class EventStream:
    """Answers one request until the browser leaves or the dashboard ends."""

    def __init__(self, settings: Settings, feed: Feed, lookout: Lookout, after: int) -> None:
        self._settings = settings
        self._feed = feed
        self._lookout = lookout
        self._looked: Look | None = None
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is, and what comes."""
        with self._feed.listening():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._until_left, receive, tasks.cancel_scope)
                await self._send(send)
                tasks.cancel_scope.cancel()

    async def _until_left(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async with open_reader(self._settings.ledger_path) as reader:
            while not self._feed.closed:
                message = self._look() + await self._message(reader)
                await send({"type": "http.response.body", "body": message, "more_body": True})
                await anyio.sleep(_PAUSE_S)  # so often at most
        await send({"type": "http.response.body", "body": b""})

    def _look(self) -> bytes:
        """Return what needs the operator, once after each look."""
        last = self._lookout.last
        if last is None or last is self._looked:
            return b""
        self._looked = last
        streams = last.streams
        told = {
            "at": last.at,
            "running": last.running,
            "needs": last.needs,
            "waiting": None if streams is None else streams.waiting,
            "dead": None if streams is None else streams.dead,
        }
        return b"event: needs\ndata: %b\n\n" % msgspec.json.encode(told)

    async def _message(self, reader: Reader) -> bytes:
        """Return the next batch, or a comment where nothing came in time."""
        told = self._feed.told > self._after or await self._feed.news(_LOOK_S)
        rows = await journal.read(reader, self._after)
        if told:  # what is committed but not told yet comes with its time, a moment later
            rows = [row for row in rows if row.sequence <= self._feed.told]
        if not rows:
            return b":\n\n"
        self._after = rows[-1].sequence
        batch = _batch(rows, self._feed, await read_standing(reader))
        return b"id: %d\ndata: %b\n\n" % (self._after, msgspec.json.encode(batch))


def _batch(rows: list[journal.JournalRow], feed: Feed, standing: Standing) -> Batch:
    shown: list[VerdictRow] = []
    counts: Counter[str] = Counter()
    for row in rows:
        with suppress(RefusedError):  # of a newer version
            event = decode(row.body, *EVENTS)
            _count(event, counts)
            if isinstance(event, Evaluated):
                shown.append(row_of(event, feed))
    return Batch(rows=shown[-LIVE_ROWS:], counts=dict(counts), standing=standing)


def _count(event: Event, counts: Counter[str]) -> None:
    match event:
        case Evaluated():
            counts[event.status] += 1
        case AuditRecorded():
            counts["audits"] += 1
        case HoldPlaced():
            counts["open_holds"] += 1
        case HoldReleased():
            counts["open_holds"] -= 1
