"""A text that holds none of some literals is known in a microsecond, so that it is not scanned.

A literal is looked for only where its rarest letter is, or the two letters that begin a
family: several times quicker than one pattern.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

__all__ = ["Hints", "hints", "holds_one", "joined"]

# The letters of English, of code and of paths, the rarest first.
_RAREST_FIRST: Final = "~_AJGKqv-92:zjkwbygpfumdh/clrnisota.e 0134567B8CDEFHILMNOPQRSTUVWXYZ"
_FAMILY: Final = 4


class Hints(msgspec.Struct, frozen=True):
    """Literals by what is looked for first.

    Attributes:
        exact: those that count as they are written.
        lowered: those that count in any case.
        run: a pattern that begins with one certain letter, so that it is as quick.
    """

    exact: tuple[tuple[str, tuple[str, ...]], ...]
    lowered: tuple[tuple[str, tuple[str, ...]], ...]
    run: re.Pattern[str] | None = None


def hints(
    exact: Iterable[str], lowered: Iterable[str], run: re.Pattern[str] | None = None
) -> Hints:
    """Return the hints for literals as they are written, and for lower-case ones in any case."""
    return Hints(_gated(exact), _gated(lowered), run)


def joined(*parts: Hints, implied: Iterable[str] = ()) -> Hints:
    """Return the hints that hold where any of the parts does; one of them at most has a run.

    What is found with another literal is left out, and so are the `implied` ones, which the caller
    knows to stand only beside others.
    """
    exact = _literals(part.exact for part in parts)
    lowered = _literals(part.lowered for part in parts) - {*implied}
    lowered = {literal for literal in lowered if not _holds_other(literal, lowered)}
    exact = {
        literal
        for literal in exact
        if not _holds_other(literal, exact) and not _holds_other(literal.lower(), lowered)
    }
    return hints(exact, lowered, next((part.run for part in parts if part.run is not None), None))


def holds_one(text: str, wanted: Hints) -> bool:
    """Return whether the text holds one of the literals."""
    if _holds(text, wanted.exact) or _holds(text.lower(), wanted.lowered):
        return True
    return wanted.run is not None and wanted.run.search(text) is not None


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


def _literals(gated: Iterable[tuple[tuple[str, tuple[str, ...]], ...]]) -> set[str]:
    return {literal for gates in gated for _, literals in gates for literal in literals}


def _holds_other(literal: str, others: set[str]) -> bool:
    return any(other in literal for other in others if other != literal)
