"""Only known headers pass, in both directions, and only what the server will take is sent.

The client library reads a user's header `Status` as the server's own word, and the server closes
the connection for good when a message is over its limits, so both are stopped here.

Source: facts/reliability, hazards 8, 14 and 15.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from pmcl.bus.errors import HeaderError, MessageTooLargeError
from pmcl.contracts import ContractError, headers

__all__ = [
    "BATCH_COMMIT",
    "BATCH_ID",
    "BATCH_SEQUENCE",
    "EXPECTED_LAST",
    "EXPECTED_STREAM",
    "PENDING_MESSAGES",
    "STREAM_SEQUENCE",
    "Message",
    "check_reply",
    "check_subject",
    "frame",
    "known_headers",
    "parse_headers",
]

BATCH_ID: Final = "Nats-Batch-Id"
BATCH_SEQUENCE: Final = "Nats-Batch-Sequence"
BATCH_COMMIT: Final = "Nats-Batch-Commit"
EXPECTED_LAST: Final = "Nats-Expected-Last-Sequence"
EXPECTED_STREAM: Final = "Nats-Expected-Stream"
STREAM_SEQUENCE: Final = "Nats-Sequence"
"""On a republished message: its sequence in the stream."""
PENDING_MESSAGES: Final = "Nats-Pending-Messages"
"""On the end of a pull request: how many messages of it were not sent."""

_READ: Final = headers.HOST_HEADERS | {headers.CHAIN_HASH, PENDING_MESSAGES, STREAM_SEQUENCE}
_SENT: Final = (
    headers.HOST_HEADERS
    | {headers.CHAIN_HASH}
    | {BATCH_ID, BATCH_SEQUENCE, BATCH_COMMIT, EXPECTED_LAST, EXPECTED_STREAM}
)
_NONE: Final[Mapping[str, str]] = {}
_NAMES: Final = {name.encode(): name for name in _READ}
_SUBJECT_MAX_BYTES: Final = 255
_reply = re.compile(r"[^\x00-\x20\x7f]*\Z")
_subject = re.compile(r"[!-)+-=?-~]+\Z")  # printable ASCII without space, `*` and `>`


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message as it came from the bus.

    Attributes:
        subject: who speaks, and what about.
        headers: the known ones only.
        reply: where an answer goes; "" if none is wanted.
        status: the server's own word, as "503"; "" on everything that a client sent.
    """

    subject: str
    data: bytes
    headers: Mapping[str, str] = _NONE
    reply: str = ""
    status: str = ""


def known_headers(received: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return those of the received headers that may be read."""
    if not received:
        return _NONE
    return {name: value for name, value in received.items() if name in _READ}


def parse_headers(block: bytes) -> dict[str, str]:
    """Return those headers that may be read of a block that opens with its version alone."""
    found = {}
    for line in block.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        known = _NAMES.get(name.strip())
        if known is not None:
            found[known] = value.strip().decode(errors="replace")
    return found


def check_subject(subject: str) -> None:
    """Raise unless something may be published to `subject`.

    Raises:
        ContractError: a wildcard, a space, anything but printable ASCII, or over 255 bytes.
    """
    if len(subject) > _SUBJECT_MAX_BYTES or _subject.match(subject) is None:
        raise ContractError("subject", subject, "255 printable characters, no wildcard")


def check_reply(reply: str) -> None:
    """Raise unless `reply` is one word: it may be another's own, so nothing else is asked of it.

    Raises:
        ContractError: white space or a control character.
    """
    if _reply.match(reply) is None:
        raise ContractError("reply", reply, "one word")


def frame(
    subject: str, data: bytes, sent: Mapping[str, str] | None, reply: str, limit_bytes: int
) -> bytes:
    """Return the message as the server reads it, protocol line included.

    `limit_bytes` bounds header block and payload together. `subject` must have been checked, or
    made here.

    Raises:
        HeaderError: a header may not be sent.
        MessageTooLargeError: more than `limit_bytes`.
    """
    block = _header_block(sent) if sent else b""
    size = len(block) + len(data)
    if size > limit_bytes:
        raise MessageTooLargeError(subject, size, limit_bytes)
    to = f"{subject} {reply}" if reply else subject
    line = f"HPUB {to} {len(block)} {size}\r\n" if block else f"PUB {to} {size}\r\n"
    return b"".join((line.encode(), block, data, b"\r\n"))


def _header_block(sent: Mapping[str, str]) -> bytes:
    lines = ["NATS/1.0\r\n"]
    for name, value in sent.items():
        if name not in _SENT:
            raise HeaderError(name, "not one of the known headers")
        if "\r" in value or "\n" in value:
            raise HeaderError(name, "a line break in its value")
        lines.append(f"{name}: {value}\r\n")
    lines.append("\r\n")
    return "".join(lines).encode()
