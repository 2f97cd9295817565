"""A call that is hidden in another call's arguments is found, or the outer one is an execution."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

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
    """A call found in arguments; `server` is `None` where it is the outer one's."""

    server: str | None
    name: str
    arguments: dict[str, Any]


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
        if call is not None:
            yield call
        else:
            yield from _within(value.values(), levels)
    elif isinstance(value, list | tuple):
        yield from _within(value, levels)


def _within(values: Iterable[Any], levels: int) -> Iterator[InnerCall]:
    for value in values:
        if isinstance(value, dict | list | tuple):
            yield from _calls(value, levels - 1)


def _call(value: dict[str, Any]) -> InnerCall | None:
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in _ARGUMENTS if key in value), None)
    arguments = _object(given)
    if name is None or arguments is None:
        return None
    server = next((value[key] for key in _SERVERS if isinstance(value.get(key), str)), None)
    return InnerCall(server, name, arguments)


def _object(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):  # as OpenAI's `function.arguments`
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
    return value if isinstance(value, dict) else None
