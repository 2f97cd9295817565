"""Part of a stream is read once more, in order and a page at a time; no durable consumer is moved.

Each page has a consumer of its own that wants no acknowledgements and is gone when the page is
read. So nothing about a reading has to be remembered but the next sequence, and messages that come
meanwhile are delivered as if nobody read.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, Final

import anyio
import msgspec

from pmcl.bus.accounts import READER
from pmcl.bus.connection import Connection
from pmcl.bus.errors import BusTimeoutError, StreamMissingError
from pmcl.bus.jetstream import API_TIMEOUT_S, call
from pmcl.bus.message import Message

__all__ = ["Page", "Place", "StoredMessage", "find_place", "read_page"]

_PAGE_BYTES: Final = 4 * 1024**2
_LEFT_NS: Final = 5_000_000_000
_TIME_MAX_MS: Final = 9_214_646_400_000
"""The beginning of 2262: the server counts nanoseconds in 64 bits, and begins anew behind them."""
_TAKEN: Final = "409"  # the next message would be more than the bytes of a page


class StoredMessage(msgspec.Struct, frozen=True):
    """A message and where it stands in its stream."""

    sequence: int
    message: Message


class Page(msgspec.Struct, frozen=True):
    """Messages in their order.

    Attributes:
        is_last: that the stream had no more of them.
    """

    messages: tuple[StoredMessage, ...]
    is_last: bool


class Place(msgspec.Struct, frozen=True):
    """A sequence, and how many wanted messages the stream has from there on."""

    sequence: int
    messages: int


async def find_place(
    connection: Connection,
    stream: str,
    subjects: Sequence[str],
    *,
    first: int = 1,
    since_ms: int | None = None,
) -> Place:
    """Return the place of the first wanted message from a sequence, or a time, on.

    Without one it is the place behind the last message.

    Raises:
        StreamMissingError: there is no such stream.
        BusError: no answer.
    """
    start = _start(first) if since_ms is None else _start_time(since_ms)
    name = f"place-{token_hex(8)}"
    async with _consumer(connection, stream, name, start, subjects) as info:
        return Place(info["delivered"]["stream_seq"] + 1, info["num_pending"])


async def read_page(
    connection: Connection, stream: str, subjects: Sequence[str], first: int, count: int
) -> Page:
    """Return `count` wanted messages from a sequence on, fewer where 4 MiB are full before.

    Pages of one stream are read one after another: they share the consumer's name.

    Raises:
        StreamMissingError: there is no such stream.
        BusError: no answer.
    """
    inbox = connection.new_inbox()
    reading = _Reading(count)
    subscription = await connection.subscribe(inbox, reading.take)
    try:
        async with _consumer(connection, stream, READER, _start(first), subjects):
            asked = {"batch": count, "max_bytes": _PAGE_BYTES, "no_wait": True}
            subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{READER}"
            await connection.publish(subject, msgspec.json.encode(asked), reply=inbox)
            return await reading.page(subject)
    finally:
        await subscription.unsubscribe()


class _Reading:
    """Takes what the server sends until it says that this was all."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._messages: list[StoredMessage] = []
        self._is_last = False
        self._read = anyio.Event()

    def take(self, message: Message) -> None:
        if message.status:
            self._is_last = message.status != _TAKEN
            self._read.set()
            return
        self._messages.append(StoredMessage(_sequence(message.reply), message))
        if len(self._messages) == self._count:
            self._read.set()

    async def page(self, subject: str) -> Page:
        with anyio.move_on_after(API_TIMEOUT_S):
            await self._read.wait()
            return Page(tuple(self._messages), self._is_last)
        raise BusTimeoutError(subject, API_TIMEOUT_S)


def _sequence(reply: str) -> int:
    # $JS.ACK.<stream>.<consumer>.<attempt>.<sequence>.<...>, newer servers with two tokens more
    tokens = reply.split(".")
    return int(tokens[5 if len(tokens) == 9 else 7])


def _start(first: int) -> dict[str, Any]:
    return {"deliver_policy": "by_start_sequence", "opt_start_seq": max(1, first)}


def _start_time(at_ms: int) -> dict[str, Any]:
    within_ms = min(max(at_ms, 0), _TIME_MAX_MS)
    at = datetime.fromtimestamp(within_ms / 1000, UTC).isoformat()
    return {"deliver_policy": "by_start_time", "opt_start_time": at}


@asynccontextmanager
async def _consumer(
    connection: Connection,
    stream: str,
    name: str,
    start: dict[str, Any],
    subjects: Sequence[str],
) -> AsyncIterator[dict[str, Any]]:
    """Yield what the server says of a new consumer; one that was left by a crash makes way."""
    config = start | {
        "name": name,
        "ack_policy": "none",
        "filter_subjects": list(subjects),
        "inactive_threshold": _LEFT_NS,
        "mem_storage": True,
    }
    await _delete(connection, stream, name)
    wanted = {"stream_name": stream, "config": config}
    made = await call(connection, f"CONSUMER.CREATE.{stream}.{name}", wanted)
    try:
        yield made
    finally:
        with anyio.CancelScope(shield=True):  # bounded by its own timeout
            await _delete(connection, stream, name)


async def _delete(connection: Connection, stream: str, name: str) -> None:
    try:
        await call(connection, f"CONSUMER.DELETE.{stream}.{name}")
    except StreamMissingError:
        return
