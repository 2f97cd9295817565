"""JetStream's own questions and answers, as JSON requests under our connection's rules.

nats-py's JetStream context waits without regard to a lost connection, so it is not used.
"""

import base64
from typing import Any, Final

import anyio
import msgspec

from pmcl.bus.connection import Connection
from pmcl.bus.errors import JetStreamError, NoRespondersError, StreamMissingError
from pmcl.bus.message import Message, known_headers
from pmcl.contracts import BusError

__all__ = [
    "API_TIMEOUT_S",
    "MESSAGE_NOT_FOUND",
    "ConsumerState",
    "StreamState",
    "call",
    "consumer_state",
    "delete_message",
    "stored_message",
    "stored_messages",
    "stream_state",
]

API_TIMEOUT_S = 5.0
MESSAGE_NOT_FOUND: Final = 10037

_STREAM_NOT_FOUND = 10059
_CONSUMER_NOT_FOUND = 10014
_SEQUENCE_NOT_FOUND = 10043
_AT_ONCE: Final = 64


class StreamState(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream holds.

    A fresh stream has first 0 and last 0; one created with first sequence n has first n and last
    n - 1; a purged one keeps its last. So whether it is empty is told by `messages` alone.

    Attributes:
        max_bytes: what it may hold; -1 is no limit of its own.
    """

    first: int
    last: int
    messages: int
    bytes: int
    max_bytes: int


async def call(
    connection: Connection, verb: str, body: Any = None, *, timeout_s: float = API_TIMEOUT_S
) -> dict[str, Any]:
    """Return the answer to `$JS.API.<verb>`.

    Raises:
        StreamMissingError: the stream or consumer is not there.
        JetStreamError: any other refusal.
        BusError: no answer.
    """
    data = b"" if body is None else msgspec.json.encode(body)
    subject = f"$JS.API.{verb}"
    try:
        reply = await connection.request(subject, data, timeout_s=timeout_s)
    except NoRespondersError as error:
        raise StreamMissingError(verb) from error
    answer = msgspec.json.decode(reply.data, type=dict[str, Any])
    if "error" in answer:
        code = answer["error"].get("err_code", 0)
        if code in (_STREAM_NOT_FOUND, _CONSUMER_NOT_FOUND):
            raise StreamMissingError(verb)
        raise JetStreamError(verb, code, answer["error"].get("description", ""))
    return answer


async def stream_state(
    connection: Connection, name: str, *, timeout_s: float = API_TIMEOUT_S
) -> StreamState | None:
    """Return what the stream holds now, None if there is no such stream.

    Raises:
        BusError: no answer.
    """
    try:
        info = await call(connection, f"STREAM.INFO.{name}", timeout_s=timeout_s)
    except StreamMissingError:
        return None
    state = info["state"]
    return StreamState(
        first=state["first_seq"],
        last=state["last_seq"],
        messages=state["messages"],
        bytes=state["bytes"],
        max_bytes=info["config"]["max_bytes"],
    )


class ConsumerState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a consumer is.

    Attributes:
        pending: messages not delivered yet.
        unacked: delivered, but not acknowledged.
        floor: the sequence up to which every message was acknowledged; that of a consumer with a
            filter stays at its own last message.
    """

    pending: int
    unacked: int
    floor: int


async def consumer_state(
    connection: Connection, stream: str, durable: str, *, timeout_s: float = API_TIMEOUT_S
) -> ConsumerState:
    """Return how far a consumer is.

    Raises:
        StreamMissingError: stream or consumer is not there.
        BusError: no answer.
    """
    info = await call(connection, f"CONSUMER.INFO.{stream}.{durable}", timeout_s=timeout_s)
    return ConsumerState(
        pending=info["num_pending"],
        unacked=info["num_ack_pending"],
        floor=info["ack_floor"]["stream_seq"],
    )


async def stored_message(
    connection: Connection, name: str, sequence: int, *, timeout_s: float = API_TIMEOUT_S
) -> Message | None:
    """Return the message at `sequence` of the stream, None if it or the stream is not there.

    Raises:
        BusError: no answer.
    """
    try:
        asked = {"seq": sequence}
        answer = await call(connection, f"STREAM.MSG.GET.{name}", asked, timeout_s=timeout_s)
    except StreamMissingError:
        return None
    except JetStreamError as error:
        if error.code == MESSAGE_NOT_FOUND:
            return None
        raise
    stored = answer["message"]
    return Message(
        subject=stored["subject"],
        data=base64.b64decode(stored.get("data", "")),
        headers=known_headers(_headers(base64.b64decode(stored.get("hdrs", "")))),
    )


async def stored_messages(
    connection: Connection, name: str, first: int, last: int, *, timeout_s: float = API_TIMEOUT_S
) -> list[Message | None]:
    """Return the messages from `first` to `last`, in order; None for each that is not there.

    All are held at once, so the caller bounds the range. Raises as `stored_message`.
    """
    found: dict[int, Message | None] = {}
    waiting = iter(range(first, last + 1))

    async def ask() -> None:
        for sequence in waiting:
            found[sequence] = await stored_message(connection, name, sequence, timeout_s=timeout_s)

    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(min(_AT_ONCE, last - first + 1)):
                tasks.start_soon(ask)
    except* BusError as errors:
        raise errors.exceptions[0] from None
    return [found[sequence] for sequence in range(first, last + 1)]


async def delete_message(
    connection: Connection, name: str, sequence: int, *, overwrite: bool
) -> None:
    """The message is not in the stream any more; one that is not is fine.

    Args:
        connection: may delete of the stream.
        name: of the stream.
        sequence: of the message.
        overwrite: its bytes as well, for which the server writes all of its block, up to 8 MiB.

    Raises:
        BusError: no answer, or refused.
    """
    asked = {"seq": sequence, "no_erase": not overwrite}
    try:
        await call(connection, f"STREAM.MSG.DELETE.{name}", asked)
    except StreamMissingError:
        return
    except JetStreamError as error:
        if error.code not in (MESSAGE_NOT_FOUND, _SEQUENCE_NOT_FOUND):
            raise


def _headers(block: bytes) -> dict[str, str]:
    found = {}
    for line in block.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        found[name.decode(errors="replace")] = value.strip().decode(errors="replace")
    return found
