"""An erasure that began goes on until nothing of its content is left, through every restart.

Each step finds what is still there and takes it away, so all of them can be run again: payloads of
the ledger, the write-ahead log, INTAKE, dead letters, ledgers that were set aside. INTAKE loses no
message that was not dealt with: its number would be missing for ever.

Source: SPEC B3; DESIGN section 6.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import msgspec
import structlog

from pmcl.bus import (
    DEADLETTERS,
    INTAKE,
    Connection,
    Identity,
    Message,
    delete_message,
    drop_trimmed,
    move_dead_letters,
    observed_through,
    stored_messages,
    stream_state,
)
from pmcl.contracts import BusError, DeadLetter, LedgerError, RefusedError, parse_subject
from pmcl.ledger import erasures, payloads
from pmcl.ledger.erasures import KINDS, ErasureRow
from pmcl.ops.record.asides import clean_asides, empty_log
from pmcl.store import Reader, Writer, open_reader
from pmcl.workers import Units, end_erasure, erase_payloads

__all__ = ["Eraser"]

log = structlog.get_logger()

_LOOK_S: Final = 1.0
_RETRY_S: Final = 0.2
_READ_ROWS: Final = 100
_NAMING: Final = KINDS[:2]
"""Of single observations: they themselves, and all that names them."""


class _Named(msgspec.Struct):
    """What is read of an observation."""

    evidence_id: str = ""
    key: str = ""


class Eraser:
    """Does the erasures of one ledger, one after another."""

    def __init__(
        self,
        ledger: Path,
        writer: Writer,
        units: Units,
        connect: Callable[[Identity], AbstractAsyncContextManager[Connection]],
    ) -> None:
        self._ledger = ledger
        self._writer = writer
        self._units = units
        self._connect = connect

    async def run(self) -> None:
        """Look for erasures for ever."""
        while True:
            try:
                erasure = await self._writer.run(erasures.first_open)
                if erasure is not None:
                    await self.erase(erasure)
                    continue
            except (BusError, LedgerError) as error:
                log.warning("erasure.interrupted", error=type(error).__name__)
            await anyio.sleep(_LOOK_S)

    async def erase(self, erasure: ErasureRow) -> None:
        """Nothing of the erasure's content is left, and that is recorded.

        Raises:
            BusError, LedgerError: it is not done; to be run again.
        """
        async with open_reader(self._ledger) as reader:
            await self._payloads(reader, erasure)
            async with self._connect("admin") as admin, self._connect("worker") as working:
                messages = await self._intake(admin, reader, erasure)
                await drop_trimmed(admin)  # only now: what it purges may stay in part
                await move_dead_letters(admin, working)  # those that were redriven leave bytes
                messages += await self._dead_letters(admin, reader, erasure)
            await clean_asides(self._ledger, reader)
        await self._writer.run(payloads.optimize_words)
        await empty_log(self._writer)
        await self._units.tell(partial(end_erasure, erasure, messages))
        log.warning("erasure.ended", erasure=erasure.erasure_id, messages=messages)

    async def _payloads(self, reader: Reader, erasure: ErasureRow) -> None:
        for kind, after in _NAMING if erasure.evidence_ids else KINDS:
            place = 0 if erasure.evidence_ids else after
            while (found := await erasures.next_names(reader, erasure, kind, place)) is not None:
                ids, place = found
                await self._units.tell(partial(erase_payloads, erasure, ids))

    async def _intake(self, admin: Connection, reader: Reader, erasure: ErasureRow) -> int:
        """Return how many messages were erased, of those that were there when this began."""
        state = await stream_state(admin, INTAKE)
        if state is None or state.messages == 0:
            return 0
        while await observed_through(admin) < state.last:  # noqa: ASYNC110 - the server tells nobody
            await anyio.sleep(_RETRY_S)
        erased = 0
        for first in range(state.first, state.last + 1, _READ_ROWS):
            last = min(first + _READ_ROWS - 1, state.last)
            messages = await stored_messages(admin, INTAKE, first, last)
            for place in await self._content(reader, erasure, messages):
                await delete_message(admin, INTAKE, first + place, overwrite=True)
                erased += 1
        return erased

    async def _dead_letters(self, admin: Connection, reader: Reader, erasure: ErasureRow) -> int:
        state = await stream_state(admin, DEADLETTERS)
        if state is None or state.messages == 0:
            return 0
        erased = 0
        for first in range(state.first, state.last + 1, _READ_ROWS):
            last = min(first + _READ_ROWS - 1, state.last)
            letters = await stored_messages(admin, DEADLETTERS, first, last)
            messages = [None if letter is None else _inside(letter) for letter in letters]
            for place in await self._content(reader, erasure, messages):
                await delete_message(admin, DEADLETTERS, first + place, overwrite=True)
                erased += 1
        return erased

    async def _content(
        self, reader: Reader, erasure: ErasureRow, messages: list[Message | None]
    ) -> list[int]:
        """Return the places of those messages whose content must go."""
        ours = {
            place: (message, _named(message))
            for place, message in enumerate(messages)
            if message is not None and _is_of(erasure, message)
        }
        if erasure.evidence_ids:
            keys = await erasures.keys_of(reader, erasure)
            return [
                place
                for place, (message, named) in ours.items()
                if named.evidence_id in erasure.evidence_ids
                or (parse_subject(message.subject).host, named.key) in keys
            ]
        ids = {named.evidence_id for _, named in ours.values()}
        standing = await erasures.standing(reader, erasure.scope, ids)
        return [place for place, (_, named) in ours.items() if named.evidence_id not in standing]


def _is_of(erasure: ErasureRow, message: Message) -> bool:
    """Return whether the message is content of the scope, and the host, of the erasure."""
    try:
        subject = parse_subject(message.subject)
    except RefusedError:
        return False
    if subject.kind != "observation" or subject.scope != erasure.scope:
        return False
    return erasure.host in (None, subject.host)


def _named(message: Message) -> _Named:
    try:
        return msgspec.json.decode(message.data, type=_Named)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Named()


def _inside(letter: Message) -> Message | None:
    """Return the message that a dead letter holds."""
    try:
        found = msgspec.json.decode(letter.data, type=DeadLetter)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return Message(subject=found.subject, data=found.payload)
