"""A `tools/call` is exactly one canonical call: what is judged is what is forwarded, byte for byte.

Source: SPEC C1, G2; Model Context Protocol, revisions 2025-11-25 and 2026-07-28.
"""

from collections.abc import Callable
from typing import Any, Final, TypeGuard

import msgspec

from pmcl.contracts import ContractError, canonical, limits, sha256
from pmcl.hosts.guard.headers import version_of
from pmcl.hosts.guard.messages import Id, Message, folded

__all__ = ["CALL", "STATED", "CallFrame", "continuation_key", "is_call", "is_id", "read_call"]

CALL: Final = "tools/call"
STATED: Final = "_pmcl"
"""The argument in which the model says what it thinks of its own call."""

_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_PARAMS: Final = frozenset({"name", "arguments", "_meta", "task", "inputResponses", "requestState"})
_ID_MAX: Final = 2**53 - 1
_ID_MAX_CHARS: Final = 256
_SHOWN_CHARS: Final = 64


class CallFrame(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a client, in both revisions of the protocol.

    Attributes:
        stated: the value of `_pmcl`, which never reaches the tool; `None` without one.
        params: all of them, without `_pmcl`.
        is_modern: of revision 2026-07-28 or later, whose results name their type.
    """

    id: Id
    name: str
    arguments: dict[str, Any]
    stated: Any
    params: dict[str, Any]
    is_modern: bool

    @property
    def continues(self) -> bool:
        """Whether it goes on with a call that asked for input."""
        return "requestState" in self.params or "inputResponses" in self.params

    def encode(self) -> bytes:
        """Return the frame that the server gets.

        Raises:
            ContractError: it has no canonical form.
        """
        params = {**self.params, "arguments": self.arguments}
        return (
            canonical({"jsonrpc": "2.0", "id": self.id, "method": CALL, "params": params}) + b"\n"
        )


def is_call(method: object) -> bool:
    """Return whether somebody could take the method for `tools/call`."""
    return isinstance(method, str) and folded(method) == CALL


def is_id(value: object) -> TypeGuard[Id]:
    """Return whether a request may have this id: text or a whole number."""
    if isinstance(value, str):
        return len(value) <= _ID_MAX_CHARS
    return type(value) is int and abs(value) <= _ID_MAX


def read_call(message: Message, has_stated: Callable[[str], bool]) -> CallFrame:
    """Return the call in a message whose method reads like `tools/call` and whose id `is_id`.

    Args:
        message: the client's.
        has_stated: whether the tool of this name has an argument `_pmcl` of its own.

    Raises:
        ContractError: it is not exactly one call; the field is named.
    """
    _check("$.method", message["method"] == CALL, message["method"], CALL)
    _check("$.jsonrpc", message.get("jsonrpc") == "2.0", message.get("jsonrpc"), "2.0")
    _check_names("$", message, _MEMBERS)
    params = message.get("params")
    if not isinstance(params, dict):
        raise ContractError("$.params", type(params).__name__, "an object")
    _check_names("$.params", params, _PARAMS)
    name, given, meta = params.get("name"), params.get("arguments"), params.get("_meta", {})
    if not isinstance(name, str) or not name:
        raise ContractError("$.params.name", type(name).__name__, "a tool's name")
    _check("$.params.name", name.isprintable(), name[:_SHOWN_CHARS], "signs that can be seen")
    arguments = {} if given is None else given
    _check("$.params.arguments", isinstance(arguments, dict), type(given).__name__, "an object")
    _check("$.params._meta", isinstance(meta, dict), type(meta).__name__, "an object")
    size_bytes = len(canonical(arguments))
    limit = f"{limits.ARGUMENTS_MAX_BYTES} bytes"
    _check("$.params.arguments", size_bytes <= limits.ARGUMENTS_MAX_BYTES, size_bytes, limit)
    stated = None
    if STATED in arguments and not has_stated(name):
        stated = {} if arguments[STATED] is None else arguments[STATED]
        arguments = {key: value for key, value in arguments.items() if key != STATED}
    return CallFrame(
        id=message["id"],
        name=name,
        arguments=arguments,
        stated=stated,
        params={key: value for key, value in params.items() if key != "arguments"},
        is_modern=version_of(message) is not None,
    )


def continuation_key(name: str, arguments: dict[str, Any], state: object) -> str:
    """Return what the call that asked for input has in common with the one that brings it."""
    return sha256(canonical([name, arguments]) + repr(state).encode("utf-8", "backslashreplace"))


def _check_names(field: str, found: Message, allowed: frozenset[str]) -> None:
    for name in found.keys() - allowed:
        raise ContractError(f"{field}.{name[:_SHOWN_CHARS]}", "", ", ".join(sorted(allowed)))


def _check(field: str, holds: bool, value: object, limit: str) -> None:  # noqa: FBT001
    if not holds:
        raise ContractError(field, value, limit)
