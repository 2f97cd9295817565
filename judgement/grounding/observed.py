"""What was observed in a scope, as a check reads it, and whether a text names a value."""

from typing import Final

import msgspec

from pmcl.contracts import Effect
from pmcl.judgement.grounding.excerpts import Excerpt
from pmcl.judgement.grounding.folding import compact, numbers_in
from pmcl.judgement.grounding.values import Value

__all__ = ["Observed", "Texts", "says", "squeezed_text"]

_COMPACT_MIN: Final = 8


class Observed(msgspec.Struct, frozen=True):
    """An excerpt with the evidence it belongs to; `told` marks a user's or an operator's text.

    One that was set aside belongs to none: its id is empty.
    """

    evidence_id: str
    told: bool
    excerpt: Excerpt
    resource_keys: tuple[str, ...] = ()


class Texts(msgspec.Struct, frozen=True):
    """All that was observed, and what the user's words come to.

    Attributes:
        asked: one of the user's texts is a request, whatever for.
    """

    goal: str
    goal_compact: str
    goal_id: str | None
    delegated: bool
    effect: Effect
    untrusted: tuple[Observed, ...]
    asked: bool


def says(text: str, value: Value, squeezed: str | None = None) -> bool:
    """Return whether a folded text names the value, whole and not inside of a longer word."""
    if value.kind == "amount":
        return value.number is not None and value.number in numbers_in(text)
    start = text.find(value.text)
    while start >= 0:
        end = start + len(value.text)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(value.text, start + 1)
    if value.kind != "endpoint" or len(value.compacted) < _COMPACT_MIN:
        return False
    return value.compacted in (compact(text) if squeezed is None else squeezed)


def squeezed_text(excerpt: Excerpt) -> str:
    """Return the letters and digits of all that is left of a text."""
    told = [one.text for one in excerpt.instructions + excerpt.code]
    return compact(
        " ".join((*told, *excerpt.claims, *excerpt.fields, *excerpt.prose)).replace("\\n", " ")
    )
