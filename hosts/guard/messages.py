"""A frame is one JSON value for every reader, or it is no message.

What one reader takes for a ping must not be a tool call to another: keys stand once and are spelled
exactly, no carriage return splits a line for those who take it for an end, and numbers are finite.
Source: JSON-RPC 2.0; RFC 8259; agents' facts, section 2a, pitfalls.
"""

import json
import unicodedata
from typing import Any, Final

import anyio.to_thread
import msgspec

from pmcl.contracts import ContractError, parse_strict

__all__ = [
    "Id",
    "Message",
    "RpcErrorCode",
    "error_reply",
    "folded",
    "is_unanswered",
    "parse_message",
    "tool_error",
    "unanswered",
]

Id = int | str
Message = dict[str, Any]

_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_LONG_BYTES: Final = 64 * 1024
_SHOWN_CHARS: Final = 64
_UNANSWERED: Final = "pmcl/unanswered"


class RpcErrorCode:
    """Source: JSON-RPC 2.0, section 5.1."""

    PARSE: Final = -32700
    REQUEST: Final = -32600
    PARAMS: Final = -32602
    INTERNAL: Final = -32603


async def parse_message(frame: bytes, *, lenient: bool = False) -> Message:
    """Return the members of the message in a frame; a long one is parsed beside the event loop.

    Args:
        frame: one line, with or without its end.
        lenient: take NaN and infinities, which servers write who do not know better.

    Raises:
        ContractError: some reader could see another message in it, or none.
    """
    if len(frame) > _LONG_BYTES:
        return await anyio.to_thread.run_sync(_parse, frame, lenient)
    return _parse(frame, lenient)


def folded(name: str) -> str:
    """Return what a reader sees who looks at neither case nor width, nor at what cannot be seen."""
    letters = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in letters if sign.isprintable() and not sign.isspace())


def error_reply(id: Id | None, code: int, message: str) -> bytes:
    """Return the frame of a JSON-RPC error."""
    error = {"code": code, "message": message}
    return _frame({"jsonrpc": "2.0", "id": id, "error": error})


def unanswered(id: Id, reason: str) -> bytes:
    """Return the frame that says to the client, and to the guard, that no answer came."""
    told = f"PMCL: the server did not answer: {reason}"
    error = {"code": RpcErrorCode.INTERNAL, "message": told, "data": _UNANSWERED}
    return _frame({"jsonrpc": "2.0", "id": id, "error": error})


def is_unanswered(message: Message) -> bool:
    """Return whether nobody knows what became of a request; a server that says so is believed."""
    error = message.get("error")
    return isinstance(error, dict) and error.get("data") == _UNANSWERED


def tool_error(id: Id, text: str, *, is_modern: bool) -> bytes:
    """Return the frame of a tool result that tells the model what went wrong."""
    result: Message = {"content": [{"type": "text", "text": text}], "isError": True}
    if is_modern:
        result["resultType"] = "complete"
    return _frame({"jsonrpc": "2.0", "id": id, "result": result})


def _frame(message: Message) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def _parse(frame: bytes, lenient: bool) -> Message:  # noqa: FBT001 - for the worker thread
    if b"\r" in frame.removesuffix(b"\n").removesuffix(b"\r"):
        raise ContractError("$", "carriage return", "one line for every reader")
    try:
        message = parse_strict(frame)
    except ContractError:
        if not lenient:
            raise
        message = _parse_lenient(frame)
    if not isinstance(message, dict):
        raise ContractError("$", type(message).__name__, "one JSON object, no batch")
    for name in message.keys() - _MEMBERS:
        if folded(name) in _MEMBERS:
            raise ContractError(f"$.{name[:_SHOWN_CHARS]}", "", "a name that reads like no other")
    return message


def _parse_lenient(frame: bytes) -> Any:
    try:
        return json.loads(frame.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ContractError("$", type(error).__name__, "JSON, each key once") from error


def _unique(pairs: list[tuple[str, Any]]) -> Message:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ContractError("$", "duplicate key", "each key once")
    return members
