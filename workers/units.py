"""Units of work: mark, decide, keep the content, record the facts; all of it commits, or none."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from pmcl.bus import traceparent
from pmcl.contracts import (
    Cause,
    Contract,
    Event,
    Observation,
    Received,
    Refused,
    RefusedError,
    Speaker,
    TrustNotAllowedError,
)
from pmcl.judgement import TRUSTED
from pmcl.ledger import payloads, record
from pmcl.outbox import UnitOfWork, inbox, journal
from pmcl.store import StoreUnavailableError, Transaction, Writer
from pmcl.workers.commits import CommitSignal
from pmcl.workers.signals import RuntimeSignals
from pmcl.workers.sweep import sweep
from pmcl.workers.worker import (
    Decision,
    Done,
    Incoming,
    RequestWorker,
    Settlement,
    StreamWorker,
)

T = TypeVar("T")

__all__ = ["Behind", "Sender", "Units"]

_STOPPED: Final = ".cell-stopped"


class Behind(Exception):  # noqa: N818 - no error: the request waits for the next commit
    """The ledger has not committed all that the sender had acknowledged."""


class _Postponed(Exception):  # noqa: N818 - carries a settlement out of the rolled back unit
    def __init__(self, settlement: Settlement) -> None:
        self.settlement = settlement


Sender = tuple[str, str, str]
"""Scope, host and the epoch of its file."""

Offer = Callable[[Sequence[journal.JournalRow], str], None]
"""Takes the journal rows of a unit once they are committed, and the `traceparent` of its span."""


def _ignore(rows: Sequence[journal.JournalRow], trace: str) -> None:
    """Let the relay read the rows."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class Units:
    """Runs the workers' decisions as units of the one writer.

    Attributes:
        stops: notified of each commit that records a stop.
    """

    def __init__(
        self,
        writer: Writer,
        now_ms: Callable[[], int] = _wall_ms,
        offer: Offer = _ignore,
        signals: RuntimeSignals | None = None,
    ) -> None:
        self._writer = writer
        self._now_ms = now_ms
        self._offer = offer
        self._signals = signals or RuntimeSignals()
        self.stops = CommitSignal()

    async def numbered(
        self,
        worker: StreamWorker[Any],
        incoming: Incoming,
        prepared: Any,
        *,
        dry_run: bool = False,
    ) -> Settlement:
        """Return how a numbered message was settled; one seen before changes nothing.

        With `dry_run` it is only decided, and nothing is written.
        """
        unit = _rehearsed if dry_run else _numbered
        try:
            return await self._run(partial(unit, worker, incoming, prepared))
        except _Postponed as postponed:
            return postponed.settlement

    async def refused(
        self, incoming: Incoming, error: RefusedError, *, dry_run: bool = False
    ) -> Done:
        """Mark a numbered message and record that it was refused, without its content.

        With `dry_run` it is only looked whether it was marked before.
        """
        return await self._run(partial(_refused, incoming, error, dry_run))

    async def received(self, senders: Iterable[Sender]) -> dict[Sender, Received]:
        """Return what the ledger has of each host's file, as committed."""
        return await self._run(
            lambda unit: {sender: inbox.received(unit.tx, *sender) for sender in senders}
        )

    async def answer(
        self, worker: RequestWorker[Any], incoming: Incoming, prepared: Any
    ) -> Contract:
        """Return the committed reply of a request, with the sender's receipts.

        Raises:
            Behind: the worker needs the sender's watermark, and the ledger is not there yet.
        """
        return await self._run(partial(_answer, worker, incoming, prepared))

    async def missing(self, scope: str, host: str, epoch: str, number: int) -> tuple[int, ...]:
        """Return the lowest numbers up to this one that no message has come for."""
        return await self._run(lambda unit: inbox.missing(unit.tx, scope, host, epoch, number))

    async def record(self, decide: Callable[[UnitOfWork], Decision]) -> Decision:
        """Return what was decided and is committed; for what no message asked for."""

        def recorded(unit: UnitOfWork) -> Decision:
            decision = decide(unit)
            _write(unit, decision)
            return decision

        return await self._run(recorded)

    async def look(self, read: Callable[[UnitOfWork], T]) -> T:
        """Return what was read, as committed and at one time; it writes nothing."""
        return await self._run(read)

    async def tell(self, events: Callable[[UnitOfWork], Iterable[Event]]) -> int:
        """Return how many facts were recorded, each before the next was taken."""
        return await self._run(partial(_tell, events))

    async def sweep(self) -> int:
        """Return how many facts the passing of time alone has brought about."""
        return await self.tell(sweep)

    async def _run(self, work: Callable[[UnitOfWork], T]) -> T:
        def run(tx: Transaction) -> tuple[T, list[journal.JournalRow]]:
            unit = UnitOfWork(tx, self._now_ms())
            return work(unit), unit.published

        began_s = time.perf_counter()
        try:
            result, published = await self._writer.run(run)
        except StoreUnavailableError:
            self._signals.not_committed()
            raise
        self._signals.committed(time.perf_counter() - began_s)
        self._offer(published, traceparent())
        if any(row.subject.endswith(_STOPPED) for row in published):
            self.stops.notify()
        return result


def _write(unit: UnitOfWork, decision: Decision, cause: Cause | None = None) -> None:
    for payload in decision.payloads:
        payloads.keep(unit.tx, payload)
    for event in decision.events:
        record(unit, event if cause is None else msgspec.structs.replace(event, cause=cause))


def _mark(tx: Transaction, incoming: Incoming) -> bool:
    subject = incoming.subject
    return inbox.mark(tx, subject.scope, subject.host, incoming.epoch, incoming.number)


def _is_marked(tx: Transaction, incoming: Incoming) -> bool:
    subject = incoming.subject
    return inbox.is_marked(tx, subject.scope, subject.host, incoming.epoch, incoming.number)


def _numbered(
    worker: StreamWorker[Any], incoming: Incoming, prepared: Any, unit: UnitOfWork
) -> Settlement:
    if not _mark(unit.tx, incoming):
        return Done("repeat")
    decision = worker.decide(unit, incoming, prepared)
    if not isinstance(decision.settlement, Done):
        raise _Postponed(decision.settlement)
    _write(unit, decision, Cause(epoch=incoming.epoch, number=incoming.number))
    return Done()


def _rehearsed(
    worker: StreamWorker[Any], incoming: Incoming, prepared: Any, unit: UnitOfWork
) -> Settlement:
    if _is_marked(unit.tx, incoming):
        return Done("repeat")
    return worker.decide(unit, incoming, prepared).settlement


def _refused(incoming: Incoming, error: RefusedError, dry_run: bool, unit: UnitOfWork) -> Done:  # noqa: FBT001
    if dry_run:
        return Done("repeat" if _is_marked(unit.tx, incoming) else error.code)
    if not _mark(unit.tx, incoming):
        return Done("repeat")
    refused = Refused(
        scope=incoming.subject.scope,
        host=incoming.subject.host,
        at_ms=unit.now_ms,
        cause=Cause(epoch=incoming.epoch, number=incoming.number),
        code=error.code,
        field=error.field,
        limit=error.limit,
        speaker=_speaker(incoming, error),
    )
    record(unit, refused)
    return Done(error.code)


def _speaker(incoming: Incoming, error: RefusedError) -> Speaker | None:
    """Return whose words a refused observation holds; a label that is not allowed tells nothing."""
    if incoming.subject.kind != "observation":
        return None
    if not isinstance(incoming.body, Observation):
        return "unknown"
    told = incoming.body.trust in TRUSTED and not isinstance(error, TrustNotAllowedError)
    return "told" if told else "others"


def _answer(
    worker: RequestWorker[Any], incoming: Incoming, prepared: Any, unit: UnitOfWork
) -> Contract:
    received = _received(unit.tx, incoming)
    if worker.needs_watermark and (received.through if received else 0) < incoming.number:
        raise Behind
    decision = worker.decide(unit, incoming, prepared)
    _write(unit, decision)
    assert decision.reply is not None
    if received is None:
        return decision.reply
    return msgspec.structs.replace(decision.reply, received=received)


def _received(tx: Transaction, incoming: Incoming) -> Received | None:
    if not incoming.epoch:
        return None
    return inbox.received(tx, incoming.subject.scope, incoming.subject.host, incoming.epoch)


def _tell(events: Callable[[UnitOfWork], Iterable[Event]], unit: UnitOfWork) -> int:
    count = 0
    for count, event in enumerate(events(unit), start=1):  # noqa: B007 - counted to the end
        record(unit, event)
    return count
