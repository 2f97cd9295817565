"""Servers that forgive: what each of them would execute of the bytes that it gets."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["executed"]

_line_ends = re.compile("\r\n|\n|\r|\x0b|\x0c|\x85|\u2028|\u2029")
_not_letters = re.compile(r"[^a-z/]")


def executed(sent: bytes) -> set[str]:
    """Return the calls that some forgiving reader would execute."""
    text = sent.decode("utf-8", "replace")
    pieces = {*_line_ends.split(text), *text.split("\n")}
    return {call for piece in pieces for value in _read(piece) for call in _calls(value)}


def _read(piece: str) -> Iterator[Any]:
    hooks: tuple[Callable[[list[tuple[str, Any]]], Any], ...] = (dict, _first, _folded)
    for hook in hooks:
        for text in (piece, piece.lstrip("\ufeff\x00 ")):
            try:
                yield json.JSONDecoder(object_pairs_hook=hook, strict=False).raw_decode(text)[0]
            except (ValueError, RecursionError):
                continue


def _first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _folded(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name.casefold(): value for name, value in pairs}


def _calls(value: Any) -> Iterator[str]:
    for message in value if isinstance(value, list) else [value]:
        if not isinstance(message, dict):
            continue
        method, params = message.get("method"), message.get("params")
        named = method[0] if isinstance(method, list) and method else method
        if _not_letters.sub("", str(named).casefold()) == "tools/call":
            yield json.dumps(params, sort_keys=True)
