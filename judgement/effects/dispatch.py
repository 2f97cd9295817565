"""A call that is hidden in another call's arguments is found, or the outer one is an execution."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from pmcl.contracts import ContractError, parse_strict
from pmcl.judgement.effects.lexicon import DISPATCH_WORDS

__all__ = ["InnerCall", "inner_calls", "is_dispatcher"]

_NAMES: Final = (
    "tool_name", "toolName", "tool", "recipient_name", "function_name", "function", "name"
)  # fmt: skip
_ARGUMENTS: Final = (
    "arguments", "args", "parameters", "params", "tool_input", "input", "kwargs", "payload"
)  # fmt: skip
_SERVERS: Final = ("server", "server_name", "serverName")
_BESIDE: Final = frozenset("all by many name named on one sequential server the with".split())
_DEEPEST: Final = 8


class InnerCall(msgspec.Struct, frozen=True):
    """A call found in arguments.

    Attributes:
        server: `None` where it is the outer one's.
        name: of its tool; empty where nobody can know it.
        arguments: `None` where there are none that can be read.
    """

    server: str | None
    name: str
    arguments: dict[str, Any] | None


def is_dispatcher(words: list[str]) -> bool:
    """Return whether a name says no more than that some tool is called."""
    return not DISPATCH_WORDS.isdisjoint(words) and set(words) <= DISPATCH_WORDS | _BESIDE


def inner_calls(arguments: Any) -> Iterator[InnerCall]:
    """Yield each outermost call in the arguments, in their order; never raises."""
    yield from _calls(arguments, _DEEPEST)


def _calls(value: Any, levels: int) -> Iterator[InnerCall]:
    if levels == 0:
        yield InnerCall(None, "", {})  # too deep to be read: a name that nobody knows
    elif isinstance(value, dict):
        call = _call(value)
        if call is not None and call.arguments is not None:
            yield call
            return
        within = _within(value.values(), levels)
        first = next(within, call)
        if first is not None:
            yield first
        yield from within
    elif isinstance(value, list | tuple):
        yield from _within(value, levels)


def _within(values: Iterable[Any], levels: int) -> Iterator[InnerCall]:
    for value in values:
        if isinstance(value, dict | list | tuple):
            yield from _calls(value, levels - 1)


def _call(value: dict[str, Any]) -> InnerCall | None:
    named = next((key for key in _NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in _ARGUMENTS if key in value), None)
    if named is None or (given is None and named == "name"):  # many things have a name
        return None
    server = next((value[key] for key in _SERVERS if isinstance(value.get(key), str)), None)
    arguments = _object(given)
    if arguments is None and isinstance(given, str) and given.lstrip().startswith("{"):
        return InnerCall(None, "", {})  # written for a parser that is not ours
    return InnerCall(server, value[named], arguments)


def _object(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):  # as OpenAI's `function.arguments`
        try:
            value = parse_strict(value.encode())  # of a key that stands twice either may count
        except (ContractError, UnicodeEncodeError):
            return None
    return value if isinstance(value, dict) else None
