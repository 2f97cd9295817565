"""The redrive worker: a dead letter is dealt with by its worker once, however often it is redriven.

Its own number was closed when it died, so that its host's watermark went on. It is marked in the
inbox under an epoch that is made of the one it came with: the same letter has the same mark for
ever, and no host's number is touched.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from ulid_transform import bytes_to_ulid

from pmcl.bus import DEADLETTERS, Connection, Message, stored_message
from pmcl.contracts import (
    BusError,
    BusyError,
    Cause,
    Contract,
    ContractError,
    DeadLetter,
    DeadLetteredError,
    Kind,
    LetterRedriven,
    Redrive,
    Redriven,
    UnknownDeadLetterError,
    decode,
    headers,
    limits,
    parse_subject,
    sha256,
)
from pmcl.outbox import UnitOfWork, inbox
from pmcl.workers.operators import operator_of
from pmcl.workers.requests import epoch_of, whole_number
from pmcl.workers.worker import Decision, Done, Incoming, Reject, Retry, StreamWorker

__all__ = ["LETTER_MAX_BYTES", "RedriveWorker", "redrive_epoch"]

LETTER_MAX_BYTES = 2 * limits.MESSAGE_MAX_BYTES
"""A payload is base64 in its letter."""


class Letter(msgspec.Struct, frozen=True):
    """A dead letter, ready to be decided by its worker."""

    worker: StreamWorker[Any]
    incoming: Incoming
    prepared: Any


def redrive_epoch(epoch: str) -> str:
    """Return the epoch under which a letter's number is marked when it is redriven."""
    return bytes_to_ulid(bytes.fromhex(sha256(f"redrive/{epoch}".encode()))[:16])


class RedriveWorker:
    """Decides dead letters by the rules of the workers that they were meant for."""

    name: str = "redrive"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {"redrive": Redrive}

    def __init__(self, connection: Connection, workers: Sequence[StreamWorker[Any]]) -> None:
        self._connection = connection
        self._workers = {worker.name: worker for worker in workers}

    async def prepare(self, incoming: Incoming) -> Letter:
        """Return the letter, prepared by its worker.

        Raises:
            UnknownDeadLetterError: there is none at this sequence.
            RefusedError: it is refused once more; it stays where it is.
        """
        sequence = incoming.body.sequence
        try:
            stored = await stored_message(self._connection, DEADLETTERS, sequence)
        except BusError as error:
            raise BusyError("$", DEADLETTERS, "an answer of the stream") from error
        if stored is None:
            raise UnknownDeadLetterError("$.sequence", sequence, f"a message of {DEADLETTERS}")
        return await self._read(stored)

    async def _read(self, stored: Message) -> Letter:
        name = stored.subject.rpartition(".")[2]
        worker = self._workers.get(name)
        if worker is None:
            raise ContractError("subject.worker", name, ", ".join(self._workers))
        letter = decode(stored.data, DeadLetter, max_bytes=LETTER_MAX_BYTES)
        incoming = Incoming(
            subject=parse_subject(letter.subject),
            body=decode(letter.payload, *worker.accepts),
            epoch=redrive_epoch(epoch_of(letter.headers)),
            number=whole_number(letter.headers, headers.NUMBER),
        )
        return Letter(worker, incoming, await worker.prepare(incoming))

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: Letter) -> Decision:
        """Return what the letter's worker decides, if nobody has redriven it before."""
        letter = prepared.incoming
        scope, host, epoch = letter.subject.scope, letter.subject.host, letter.epoch
        if inbox.is_marked(unit.tx, scope, host, epoch, letter.number):
            return Decision(reply=Redriven(result="repeat"))
        decision = prepared.worker.decide(unit, letter, prepared.prepared)
        match decision.settlement:
            case Retry(after_ms=after_ms):
                raise BusyError("$", prepared.worker.name, f"another try after {after_ms} ms")
            case Reject(reason=reason):
                raise DeadLetteredError("$", reason, "a message that works")
            case Done():
                pass
        if incoming.body.dry_run:
            return Decision(reply=Redriven(result="done"))
        inbox.mark(unit.tx, scope, host, epoch, letter.number)
        redriven = LetterRedriven(
            scope=scope,
            host=host,
            at_ms=unit.now_ms,
            sequence=incoming.body.sequence,
            worker=prepared.worker.name,
            by=operator_of(incoming.body.label),
        )
        cause = Cause(epoch=epoch, number=letter.number)
        events = (*decision.events, redriven)
        return msgspec.structs.replace(
            decision,
            events=tuple(msgspec.structs.replace(event, cause=cause) for event in events),
            reply=Redriven(result="done"),
        )
