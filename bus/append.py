"""Messages are stored in order behind a known last sequence, or the caller learns otherwise.

There are three ends: stored, refused (nothing of the batch is stored), and uncertain, which is
settled by reading the stream back and by nothing else. A lost connection ends the wait at once.

Source: facts/relay, sections 2 and 3.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final

import msgspec

from pmcl.bus.connection import Connection
from pmcl.bus.errors import (
    AppendRefusedError,
    BusBusyError,
    BusClosedError,
    BusTimeoutError,
    NoRespondersError,
    StreamMissingError,
    UncertainAppendError,
    WrongSequenceError,
)
from pmcl.bus.message import (
    BATCH_COMMIT,
    BATCH_ID,
    BATCH_SEQUENCE,
    EXPECTED_LAST,
    EXPECTED_STREAM,
    Message,
)
from pmcl.bus.streams import LOG
from pmcl.contracts import headers

__all__ = [
    "LogRow",
    "Outgoing",
    "Stored",
    "append_batch",
    "append_pipelined",
    "publish_batch",
    "publish_stored",
]

_WRONG_SEQUENCE: Final = (10071, 10164)
_last_sequence = re.compile(r"wrong last sequence: (\d+)")


class LogRow(msgspec.Struct, frozen=True):
    """One row of the journal on its way to LOG.

    Attributes:
        hash: travels as the header `Pmcl-Hash`.
        traceparent: travels under its own name, if it is known. It is no part of the record: a row
            that is appended from the journal later has none.
    """

    subject: str
    body: bytes
    hash: str
    traceparent: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the row itself has in LOG."""
        chained = {headers.CHAIN_HASH: self.hash}
        return chained | {headers.TRACEPARENT: self.traceparent} if self.traceparent else chained


class Outgoing(msgspec.Struct, frozen=True):
    """One message of a host on its way to INTAKE, with its own headers."""

    subject: str
    body: bytes
    headers: Mapping[str, str]


class Stored(msgspec.Struct, frozen=True):
    """The stream's word that it has a message on disk.

    Attributes:
        duplicate: it had the same `Nats-Msg-Id` already, and stored nothing.
    """

    sequence: int
    duplicate: bool = False


async def append_pipelined(
    connection: Connection, rows: Sequence[LogRow], expected_last: int, timeout_s: float
) -> int:
    """Every row is stored in LOG behind `expected_last`, in order; returns the new last sequence.

    One plain publish for each row, all on their way at once: the fastest for up to about ten.

    Raises:
        WrongSequenceError: LOG ends elsewhere. Some rows may be stored, each at its own number:
            behind an end that is nearer than believed, the later rows fit.
        AppendRefusedError, StreamMissingError: LOG took none, or only the first rows.
        UncertainAppendError: it is not known which rows are stored.
        BusClosedError, BusBusyError: none was sent.
    """
    sent: list[asyncio.Future[Message]] = []
    try:
        for offset, row in enumerate(rows):
            fence = {EXPECTED_LAST: str(expected_last + offset), EXPECTED_STREAM: LOG}
            sent.append(
                await connection.send_request(
                    row.subject, row.body, headers=fence | row.headers, timeout_s=timeout_s
                )
            )
        await asyncio.wait(sent)
        for offset, future in enumerate(sent):
            last = _stored(LOG, future, expected_last + offset).sequence
            if last != expected_last + offset + 1:
                raise UncertainAppendError(f"stored at {last}, not behind {expected_last + offset}")
        return expected_last + len(rows)
    except (BusBusyError, BusClosedError) as error:
        if not sent:
            raise
        raise UncertainAppendError("only some rows were sent") from error
    finally:
        for future in sent:
            future.cancel()


async def append_batch(
    connection: Connection,
    stream: str,
    rows: Sequence[LogRow],
    expected_last: int,
    timeout_s: float,
) -> int:
    """All rows are stored behind `expected_last`, as one; returns the new last sequence.

    Raises:
        WrongSequenceError, AppendRefusedError, StreamMissingError: nothing is stored.
        BusClosedError, BusBusyError: nothing is stored, for the commit was not sent.
        UncertainAppendError: all or nothing is stored.
    """
    messages = [Outgoing(row.subject, row.body, row.headers) for row in rows]
    fence = {EXPECTED_LAST: str(expected_last), EXPECTED_STREAM: stream}
    last = await _commit(connection, stream, messages, fence, timeout_s)
    if last != expected_last + len(rows):
        raise UncertainAppendError(f"stream ends at {last}, expected {expected_last + len(rows)}")
    return last


async def publish_batch(
    connection: Connection, stream: str, messages: Sequence[Outgoing], timeout_s: float
) -> int:
    """All messages are stored, as one; returns the sequence of the last.

    Raises:
        AppendRefusedError: nothing is stored; code 10201 when one was stored before or stands
            twice in the batch: send them one by one then.
        StreamMissingError: nobody takes these subjects; nothing is stored.
        BusClosedError, BusBusyError: nothing is stored, for the commit was not sent.
        UncertainAppendError: all or nothing is stored.
    """
    return await _commit(connection, stream, messages, {}, timeout_s)


async def publish_stored(
    connection: Connection,
    subject: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    timeout_s: float,
) -> Stored:
    """The message is on the disk of the stream that takes its subject.

    Raises:
        AppendRefusedError, StreamMissingError: it is not stored.
        UncertainAppendError: it may be stored; the same `Nats-Msg-Id` again is safe.
        BusClosedError, BusBusyError: it was not sent.
    """
    future = await connection.send_request(subject, body, headers=headers, timeout_s=timeout_s)
    await asyncio.wait([future])
    return _stored(subject, future, 0)


async def _commit(
    connection: Connection,
    stream: str,
    messages: Sequence[Outgoing],
    fence: Mapping[str, str],
    timeout_s: float,
) -> int:
    """Send one atomic batch and return the sequence of its last message."""
    asked: list[asyncio.Future[Message]] = []
    try:
        for number, headers_ in enumerate(_batch_headers(messages, fence), start=1):
            subject, body = messages[number - 1].subject, messages[number - 1].body
            if number in (1, len(messages)):
                asked.append(
                    await connection.send_request(
                        subject, body, headers=headers_, timeout_s=timeout_s
                    )
                )
            else:
                await connection.publish(subject, body, headers=headers_)
        await asyncio.wait(asked[-1:])
        return _committed(stream, asked, int(fence.get(EXPECTED_LAST, 0)))
    finally:
        for future in asked:
            future.cancel()


def _batch_headers(
    messages: Sequence[Outgoing], fence: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield the headers of each message. Source: the table in facts/relay, section 3."""
    batch = token_hex(16)  # new each time: an id that a killed writer left open is refused
    for number, message in enumerate(messages, start=1):
        batched = {**message.headers, BATCH_ID: batch, BATCH_SEQUENCE: str(number)}
        if number == 1:
            batched |= fence
        if number == len(messages):
            batched[BATCH_COMMIT] = "1"
        yield batched


def _committed(stream: str, asked: Sequence[asyncio.Future[Message]], expected: int) -> int:
    try:
        return _stored(stream, asked[-1], expected).sequence
    except AppendRefusedError:
        # The commit says no more than "incomplete" when the first message was refused.
        first = asked[0]
        if first.done() and first.exception() is None and first.result().data:
            _stored(stream, first, expected)
        raise


def _stored(stream: str, future: asyncio.Future[Message], expected: int) -> Stored:
    try:
        answer = msgspec.json.decode(future.result().data, type=dict[str, Any])
    except NoRespondersError as error:
        raise StreamMissingError(stream) from error
    except (BusTimeoutError, BusClosedError, msgspec.DecodeError) as error:
        raise UncertainAppendError(f"{stream}: {error}") from error
    if "error" not in answer:
        return Stored(answer["seq"], answer.get("duplicate", False))
    code, description = answer["error"].get("err_code", 0), answer["error"].get("description", "")
    if code in _WRONG_SEQUENCE:
        found = _last_sequence.search(description)
        raise WrongSequenceError(expected, int(found[1]) if found else None)
    raise AppendRefusedError(stream, code, description)
