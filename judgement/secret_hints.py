"""A text that holds none of some literals is known in a microsecond, so that it is not scanned.

A literal is looked for only where its rarest letter is, or the two letters that begin a
family: several times quicker than one pattern.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

__all__ = ["Hints", "hints", "holds_one", "joined"]

# The letters of English, of code and of paths, the rarest first.
_RAREST_FIRST: Final = "_AJG-92:qzjxkvwbygpfumdh/clrnisota.e 013BCDEFHIKLMNOPQRSTUVWXYZ"
_FAMILY: Final = 4


class Hints(msgspec.Struct, frozen=True):
    """Literals by what is looked for first.

    Attributes:
        exact: those that count as they are written.
        lowered: those that count in any case.
    """

    exact: tuple[tuple[str, tuple[str, ...]], ...]
    lowered: tuple[tuple[str, tuple[str, ...]], ...]


def hints(exact: Iterable[str], lowered: Iterable[str]) -> Hints:
    """Return the hints for literals as they are written, and for lower-case ones in any case."""
    return Hints(_gated(exact), _gated(lowered))


def joined(*parts: Hints) -> Hints:
    """Return the hints that hold where any of the parts does."""
    return hints(
        {literal for part in parts for _, literals in part.exact for literal in literals},
        {literal for part in parts for _, literals in part.lowered for literal in literals},
    )


def holds_one(text: str, wanted: Hints) -> bool:
    """Return whether the text holds one of the literals."""
    return _holds(text, wanted.exact) or _holds(text.lower(), wanted.lowered)


def _holds(text: str, gated: tuple[tuple[str, tuple[str, ...]], ...]) -> bool:
    for gate, literals in gated:
        if gate in text:
            for literal in literals:
                if literal in text:
                    return True
    return False


def _gated(literals: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    given = sorted(literals)
    begin = Counter(literal[:2] for literal in given)
    by_gate: dict[str, list[str]] = {}
    for literal in given:
        family = literal[:2]
        is_family = begin[family] >= _FAMILY and "_" not in literal
        gate = family if is_family else min(literal, key=_RAREST_FIRST.find)
        by_gate.setdefault(gate, []).append(literal)
    return tuple((gate, tuple(found)) for gate, found in by_gate.items())
