"""Where a value does not fit, and what would, in plain words; the value itself is not repeated.

What was expected is told by the library that converts, in the terms of its types.
"""

import re
from typing import Final

import msgspec

from pmcl.contracts.names import PATTERNS

__all__ = ["Mismatch"]

_place = re.compile(r"(?P<reason>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_expected = re.compile(r"Expected `(?P<kinds>[^`]*)`(?P<bound>.*?)(?:, got `?(?P<got>[^`]*)`?)?")
_bound = re.compile(r"(?P<sized> of length)? ?(?P<sign>[<>]=?)? ?(?P<number>-?[0-9.]+?)(?:\.0)?")
_pattern = re.compile(r"Expected `str` matching regex '(?P<pattern>.*)'")
_missing = re.compile(r"Object missing required field `(.*)`")
_unknown = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)

_KINDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "null",
    "object": "an object",
    "str": "text",
}
_SIGNS: Final = {
    "<=": " of at most ",
    ">=": " of at least ",
    "<": " below ",
    ">": " above ",
    None: " of ",
}
_SIZES: Final = {"array": "items", "object": "members", "str": "characters"}


class Mismatch(msgspec.Struct, frozen=True):
    """What a conversion found.

    Attributes:
        path: of the value, `$` for the whole.
        limit: what would have been accepted.
        unknown: the name of a field that nobody knows, as whoever sent it wrote it.
    """

    path: str
    limit: str
    unknown: str | None = None

    @classmethod
    def of(cls, error: msgspec.ValidationError) -> "Mismatch":
        """Return what an error says; one that is not known here is told as it is."""
        place = _place.fullmatch(str(error))
        assert place is not None
        path, reason = place["path"] or "$", place["reason"]
        if (unknown := _unknown.fullmatch(reason)) is not None:
            return cls(path, "known fields only", unknown[1])
        return cls(path, _in_words(reason))


def _in_words(reason: str) -> str:
    if reason.startswith("Invalid enum value"):  # msgspec repeats the value, whole
        return "one of the values that the contract names"
    if (found := _missing.fullmatch(reason)) is not None:
        return f"the required field {found[1]}"
    if (found := _pattern.fullmatch(reason)) is not None:
        return PATTERNS.get(found["pattern"].replace("\\\\", "\\"), reason)
    if (found := _expected.fullmatch(reason)) is not None:
        return _expected_in_words(found)
    return reason


def _expected_in_words(found: re.Match[str]) -> str:
    kinds = found["kinds"].split(" | ")
    words = " or ".join(_KINDS.get(kind, kind) for kind in kinds)
    got = "" if found["got"] is None else f", not {_KINDS.get(found['got'], found['got'])}"
    bound = _bound.fullmatch(found["bound"])
    if bound is None:
        return f"{words}{found['bound']}{got}"
    size = f" {_SIZES.get(kinds[0], 'long')}" if bound["sized"] else ""
    return f"{words}{_SIGNS[bound['sign']]}{bound['number']}{size}{got}"
