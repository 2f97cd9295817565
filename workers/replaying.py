"""The replay worker: stored messages are handed to their workers once more; the inbox decides.

What was seen before is told by its number alone and costs no transaction: a mark is never taken
back, so whatever the ledger had seen when the page was begun it has seen for ever. Everything else
goes the way of any delivery. What fails is left where it is: INTAKE still has it.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import anyio
import msgspec
import structlog

from pmcl.bus import INTAKE, Connection, Message, StoredMessage, read_page
from pmcl.contracts import (
    BusError,
    BusyError,
    Contract,
    ContractError,
    Kind,
    LedgerUnavailableError,
    Received,
    RefusedError,
    Replay,
    Replayed,
    headers,
    parse_subject,
)
from pmcl.outbox import UnitOfWork
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers.requests import epoch_of, where, whole_number
from pmcl.workers.streams import StreamHandler
from pmcl.workers.units import Sender, Units
from pmcl.workers.worker import Decision, Done, Incoming, Reject, Retry

__all__ = ["ReplayWorker"]

log = structlog.get_logger()

_PAGE_S: Final = 0.5
"""A page ends when it has taken so long, so that its answer comes within a request's budget."""
_TURN_S: Final = 1.0
_GROUP: Final = 256
_AT_ONCE: Final = 64

Number = tuple[Sender, int]
Seen = Mapping[Sender, Received]


class ReplayWorker:
    """Reads a page of INTAKE and hands it on; what is done goes through the workers' own units."""

    name: str = "replay"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {"replay": Replay}

    def __init__(
        self, connection: Connection, units: Units, handlers: Sequence[StreamHandler]
    ) -> None:
        self._connection = connection
        self._units = units
        self._handlers = handlers
        self._turn = anyio.Lock()

    async def prepare(self, incoming: Incoming) -> Replayed:
        """Hand the page on and return what became of it.

        Raises:
            ContractError: there is no such worker.
            BusyError: others replay, or the stream does not answer; nothing was handed on.
            LedgerUnavailableError: nothing can be written; what was handed on is a repeat now.
        """
        asked: Replay = incoming.body
        handlers = {each.worker.kind: each for each in self._handlers if _is_meant(each, asked)}
        if not handlers:
            names = ", ".join(handler.worker.name for handler in self._handlers)
            raise ContractError("$.selection.worker", asked.selection.worker, names)
        await self._take_turn()
        try:
            return await self._page(asked, handlers)
        except BusError as error:
            raise BusyError("$", INTAKE, "an answer of the stream") from error
        finally:
            self._turn.release()

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: Replayed) -> Decision:
        """Return the answer; all else was committed before."""
        return Decision(reply=prepared)

    async def _take_turn(self) -> None:
        with anyio.move_on_after(_TURN_S):
            await self._turn.acquire()
            return
        raise BusyError("$", "replay", "one page at a time")

    async def _page(self, asked: Replay, handlers: Mapping[Kind, StreamHandler]) -> Replayed:
        ends_s = time.monotonic() + _PAGE_S
        subjects = [asked.selection.subject(kind) for kind in handlers]
        page = await read_page(self._connection, INTAKE, subjects, asked.first, asked.limit)
        wanted = [stored for stored in page.messages if stored.sequence <= asked.last]
        counts = _Counts()
        for group in _groups(wanted):
            await self._hand_on(group, handlers, counts, dry_run=asked.dry_run)
            counts.through = group[-1].sequence
            if time.monotonic() > ends_s and group[-1] is not wanted[-1]:
                return counts.replayed()
        if page.is_last or len(wanted) < len(page.messages):
            counts.through = asked.last
        return counts.replayed()

    async def _hand_on(
        self,
        group: Sequence[StoredMessage],
        handlers: Mapping[Kind, StreamHandler],
        counts: "_Counts",
        *,
        dry_run: bool,
    ) -> None:
        numbers = [_number(stored.message) for stored in group]
        seen = await self._units.received({found[0] for found in numbers if found is not None})
        new = [
            stored.message
            for stored, found in zip(group, numbers, strict=True)
            if found is None or not _is_seen(seen, found)
        ]
        counts.repeats += len(group) - len(new)
        waiting = iter(new)

        async def work() -> None:
            for message in waiting:
                handler = handlers[_kind(message)]
                counts.count(await _settled(handler, message, dry_run=dry_run))

        try:
            async with anyio.create_task_group() as tasks:
                for _ in range(min(_AT_ONCE, len(new))):
                    tasks.start_soon(work)
        except* (StoreBusyError, StoreUnavailableError) as errors:
            raise LedgerUnavailableError("$", "ledger", errors.exceptions[0]) from None


class _Left(msgspec.Struct, frozen=True):
    """A message that was not dealt with, and why."""

    reason: str


class _Counts:
    """What became of the messages of a page so far."""

    def __init__(self) -> None:
        self.through = 0
        self.repeats = 0
        self.done = 0
        self.refused: Counter[str] = Counter()
        self.left: Counter[str] = Counter()

    def count(self, end: Done | _Left) -> None:
        match end:
            case _Left(reason=reason):
                self.left[reason] += 1
            case Done(how="done"):
                self.done += 1
            case Done(how="repeat"):
                self.repeats += 1
            case Done(how=code):
                self.refused[code] += 1

    def replayed(self) -> Replayed:
        return Replayed(
            through=self.through,
            repeats=self.repeats,
            done=self.done,
            refused=dict(self.refused),
            left=dict(self.left),
        )


async def _settled(handler: StreamHandler, message: Message, *, dry_run: bool) -> Done | _Left:
    try:
        settlement = await handler.process(message, dry_run=dry_run)
    except (StoreBusyError, StoreUnavailableError):
        raise
    except Exception as error:  # noqa: BLE001 - one that fails must not keep the others
        log.error("replay.failed", worker=handler.worker.name, **where(error))
        return _Left(type(error).__name__)
    match settlement:
        case Retry():
            return _Left("postponed")
        case Reject(reason=reason):
            return _Left(reason)
        case Done():
            return settlement


def _is_meant(handler: StreamHandler, asked: Replay) -> bool:
    return asked.selection.worker in (None, handler.worker.name)


def _groups(messages: Sequence[StoredMessage]) -> Iterator[Sequence[StoredMessage]]:
    for start in range(0, len(messages), _GROUP):
        yield messages[start : start + _GROUP]


def _kind(message: Message) -> Any:
    return message.subject.split(".", 3)[2]


def _number(message: Message) -> Number | None:
    """Return whose number a message has; None where it has none that counts."""
    try:
        subject = parse_subject(message.subject)
        epoch = epoch_of(message.headers)
        number = whole_number(message.headers, headers.NUMBER)
    except RefusedError:
        return None
    return (subject.scope, subject.host, epoch), number


def _is_seen(seen: Seen, found: Number) -> bool:
    received = seen[found[0]]
    return found[1] <= received.through or found[1] in received.beyond
