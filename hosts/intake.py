"""A numbered message counts as sent when the stream has said so, and only then.

The same number is sent under the same message id as often as needed: the stream stores one.
"""

import asyncio
from collections.abc import Sequence

import msgspec
import structlog

from pmcl.bus import Connection, JetStreamError, Message, traceparent
from pmcl.contracts import BusError, headers
from pmcl.outbox import message_id

__all__ = ["Numbered", "headers_of", "store_each"]

Answer = asyncio.Future[Message]

log = structlog.get_logger()


class Numbered(msgspec.Struct, frozen=True):
    """One message of the host to INTAKE."""

    subject: str
    epoch: str
    number: int
    body: bytes


class _Error(msgspec.Struct, frozen=True):
    err_code: int = 0
    description: str = ""


class _PubAck(msgspec.Struct, frozen=True):
    seq: int = 0
    error: _Error | None = None


_acks = msgspec.json.Decoder(_PubAck)


def headers_of(message: Numbered) -> dict[str, str]:
    """Return the headers of a numbered message."""
    fields = {
        headers.EPOCH: message.epoch,
        headers.NUMBER: str(message.number),
        headers.MSG_ID: message_id(message.epoch, message.number, message.body),
    }
    trace = traceparent()
    return fields | {headers.TRACEPARENT: trace} if trace else fields


async def store_each(
    connection: Connection, messages: Sequence[Numbered], timeout_s: float
) -> list[int]:
    """Send all at once and return the numbers of those that are known to be stored."""
    begun: list[Answer] = []
    try:
        for message in messages:
            begun.append(await _begin(connection, message, timeout_s))  # noqa: PERF401 - may be cut
    except BusError as error:
        log.debug("intake.cut_short", begun=len(begun), error=type(error).__name__)
    try:
        # `begun` is shorter when the connection went down between two of them.
        pairs = list(zip(messages, begun, strict=False))
        return [message.number for message, answer in pairs if await _is_accepted(message, answer)]
    finally:
        for answer in begun:
            answer.cancel()


async def _is_accepted(message: Numbered, answer: Answer) -> bool:
    try:
        await _accept(message, answer)
    except BusError as error:
        log.debug("intake.not_stored", number=message.number, error=type(error).__name__)
        return False
    return True


async def _begin(connection: Connection, message: Numbered, timeout_s: float) -> Answer:
    return await connection.send_request(
        message.subject, message.body, headers=headers_of(message), timeout_s=timeout_s
    )


async def _accept(message: Numbered, answer: Answer) -> None:
    reply = await answer
    try:
        ack = _acks.decode(reply.data)
    except msgspec.MsgspecError as error:
        raise JetStreamError(message.subject, 0, "no acknowledgement") from error
    if ack.error is not None:
        raise JetStreamError(message.subject, ack.error.err_code, ack.error.description)
    if ack.seq < 1:
        raise JetStreamError(message.subject, 0, "no sequence in the acknowledgement")
