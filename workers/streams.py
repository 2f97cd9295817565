"""Streams: every message is settled once for ever by the inbox, whatever the server redelivers."""

import time
from collections import Counter
from typing import Any, Final

import anyio
import msgspec
import structlog

from pmcl.bus import Connection, Delivery, Message, SpanKind, span
from pmcl.contracts import (
    BusError,
    DeadLetter,
    DeadLetteredError,
    DetectorMissingError,
    RefusedError,
    decode,
    encode,
    headers,
    parse_subject,
    sha256,
)
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers.requests import epoch_of, where, whole_number
from pmcl.workers.units import Units
from pmcl.workers.worker import Done, Incoming, Reject, Retry, Settlement, StreamWorker

__all__ = ["StreamHandler"]

log = structlog.get_logger()

_ATTEMPTS: Final = 5
_RETRY_MS: Final = 200
_DOUBLED_MAX: Final = 4
_REPAIR_MS: Final = 5_000
_STORE_TIMEOUT_S: Final = 5.0
_UNNUMBERED: Final = "unnumbered"


class StreamHandler:
    """Settles the deliveries of one stream worker."""

    def __init__(self, connection: Connection, units: Units, worker: StreamWorker[Any]) -> None:
        self.connection = connection
        self._units = units
        self.worker = worker
        # Only messages that failed are counted, so the count is bounded by what is outstanding.
        self._failures: Counter[tuple[str, int]] = Counter()
        self._numbers: dict[tuple[str, str, int], anyio.Event | None] = {}

    async def handle(self, delivery: Delivery) -> None:
        """Settle one delivery: ack, delayed nak, or dead letter and then term."""
        message = delivery.message
        with span(f"pmcl.{self.worker.name}", parent=message.headers, kind=SpanKind.CONSUMER):
            await self._handle(delivery, (message.subject, delivery.stream_sequence))

    async def _handle(self, delivery: Delivery, key: tuple[str, int]) -> None:
        settlement = await self._process_once(delivery, key)
        with span("pmcl.settle", attributes={"pmcl.settlement": type(settlement).__name__.lower()}):
            await self._settle(delivery, key, settlement)

    async def _settle(
        self, delivery: Delivery, key: tuple[str, int], settlement: Settlement
    ) -> None:
        match settlement:
            case Done():
                self._failures.pop(key, None)
                await delivery.ack()
            case Retry(after_ms=after_ms):
                await delivery.nak(after_ms)
            case Reject(reason=reason):
                await self._bury(delivery, key, reason)

    async def _process_once(self, delivery: Delivery, key: tuple[str, int]) -> Settlement:
        try:
            return await self.process(delivery.message)
        except StoreBusyError as error:
            log.warning("stream.postponed", worker=self.worker.name, error=type(error).__name__)
            return Retry(_RETRY_MS)
        except StoreUnavailableError as error:
            log.warning("stream.postponed", worker=self.worker.name, error=type(error).__name__)
            # All that wait would else try as fast as they can, beside the verdicts.
            doubled = min(delivery.attempt - 1, _DOUBLED_MAX)
            return Retry(_RETRY_MS * 2**doubled)
        except DetectorMissingError as error:
            log.warning("stream.postponed", worker=self.worker.name, error=type(error).__name__)
            return Retry(_REPAIR_MS)
        except Exception as error:  # noqa: BLE001 - a poison message must not end the worker
            self._failures[key] += 1
            attempt = self._failures[key]
            log.error("stream.failed", worker=self.worker.name, attempt=attempt, **where(error))
            if attempt < _ATTEMPTS:
                return Retry(_RETRY_MS * 2**attempt)
            return Reject(type(error).__name__)

    async def process(self, message: Message, *, dry_run: bool = False) -> Settlement:
        """Return how a message was settled; with `dry_run`, how it would be: nothing is written.

        Raises:
            StoreBusyError, StoreUnavailableError, DetectorMissingError: it must wait.
            Exception: whatever the worker raised; nothing was written.
        """
        subject = parse_subject(message.subject)
        if subject.kind != self.worker.kind:
            return Done()
        incoming = Incoming(subject=subject, body=None, epoch=_UNNUMBERED, number=_own(message))
        try:
            incoming = Incoming(
                subject=subject,
                body=None,
                epoch=epoch_of(message.headers),
                number=whole_number(message.headers, headers.NUMBER),
            )
            body = decode(message.data, *self.worker.accepts)
            incoming = msgspec.structs.replace(incoming, body=body)
            return await self._in_turn(incoming, dry_run=dry_run)
        except DetectorMissingError:
            raise  # no fault of the message, which was acknowledged: it waits for the repair
        except RefusedError as refused:
            if not dry_run:
                log.info("stream.refused", subject=message.subject, code=refused.code)
            return await self._units.refused(incoming, refused, dry_run=dry_run)

    async def _in_turn(self, incoming: Incoming, *, dry_run: bool) -> Settlement:
        """Decide messages of one number in the order of the stream.

        A void prepares nothing, and would overtake the observation that was stored before it.
        """
        key = (str(incoming.subject), incoming.epoch, incoming.number)
        while key in self._numbers:
            earlier = self._numbers[key] = self._numbers[key] or anyio.Event()
            await earlier.wait()
        self._numbers[key] = None  # an event only where somebody waits, which is hardly ever
        try:
            return await self._decide(incoming, dry_run=dry_run)
        finally:
            waited_for = self._numbers.pop(key)
            if waited_for is not None:
                waited_for.set()

    async def _decide(self, incoming: Incoming, *, dry_run: bool) -> Settlement:
        with span("pmcl.prepare"):
            prepared = await self.worker.prepare(incoming)
        with span("pmcl.decide"):
            return await self._units.numbered(self.worker, incoming, prepared, dry_run=dry_run)

    async def _bury(self, delivery: Delivery, key: tuple[str, int], reason: str) -> None:
        """Store the dead letter first, then close the number, then terminate the message."""
        message = delivery.message
        letter = DeadLetter(
            subject=message.subject,
            headers=dict(message.headers),
            payload=message.data,
            reason=reason,
            attempts=self._failures[key],
            at=time.time_ns() // 1_000_000,
        )
        try:
            await self.connection.request(
                f"pmcl.v1.deadletter.{self.worker.name}",
                encode(letter),
                timeout_s=_STORE_TIMEOUT_S,
            )
            await self._close(message)
        except (BusError, StoreBusyError, StoreUnavailableError) as error:
            log.warning("stream.dead_letter_postponed", error=type(error).__name__)
            await delivery.nak(_RETRY_MS)
            return
        self._failures.pop(key, None)
        log.error("stream.dead_letter", worker=self.worker.name, reason=reason)
        await delivery.term()

    async def _close(self, message: Message) -> None:
        """Close the number, else its host's watermark would wait for it for ever."""
        try:
            incoming = Incoming(
                subject=parse_subject(message.subject),
                body=None,
                epoch=epoch_of(message.headers),
                number=whole_number(message.headers, headers.NUMBER),
            )
        except RefusedError:
            return  # it is no number of a host
        await self._units.refused(incoming, DeadLetteredError("$", "", "a message that works"))


def _own(message: Message) -> int:
    """Return a number made of the message itself, so that each is refused once."""
    return int(sha256(message.subject.encode() + b"\0" + message.data)[:13], 16)
