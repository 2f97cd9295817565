"""Calls by which an agent would decide for its operator: what may run, and what is kept.

Whoever can run a shell as the operator's user can run the operator's commands. Those that decide
are an operator's to type, whatever anybody says: an agent that grants its own approval has none.
A command that is spelled otherwise than in letters, or stands in a file, is not seen here.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from pmcl.contracts import CheckpointRequest

__all__ = ["decides"]

_WORDS_MAX: Final = 4
_quotes = re.compile(r"['\"\\]")
_between = re.compile(r"[\s,()\[\]]+")
_decision = re.compile(
    rf"(?:^|[ /;|&`$])pmcl (?:[^ ;|&]+ ){{0,{_WORDS_MAX}}}?"
    r"(?:approvals grant|erase|hook uninstall|host (?:add|remove)|memories retract|rebuild|restore|"
    r"resume)\b"
)


def decides(request: CheckpointRequest) -> bool:
    """Return whether a call that runs something runs a command by which an operator decides."""
    return any(_decision.search(_plain(text)) for text in _texts(request.arguments))


def _plain(text: str) -> str:
    """Return the words of a command line, or of a list of them in a program, one blank apart."""
    return _between.sub(" ", _quotes.sub("", text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        if value and all(isinstance(inner, str) for inner in value):
            yield " ".join(value)
        for inner in value:
            yield from _texts(inner)
