"""What a check later needs of a text, bounded: instructions, fields, prose.

An excerpt is content: it is stored beside the payload and erased with it. It keeps folded text
only. What does not fit is cut, prose first, and `truncated` says so.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pmcl.judgement.grounding.speech import Sentence

__all__ = ["EXCERPT_MAX_BYTES", "SNIPPET_MIN", "TRUSTED", "WRITING", "Excerpt", "bounded"]

SNIPPET_MIN: Final = 12
"""As many letters and digits a line has that cannot be the same by chance."""
WRITING: Final = frozenset({"change", "create", "delete"})
"""Kinds of action that an order to write something names."""
EXCERPT_MAX_BYTES: Final = 16 * 1024
_KINDS_BYTES: Final = 64
TRUSTED: Final = frozenset({"user", "operator"})
"""The trust labels whose text grounds a value or a goal. Source: SPEC A7."""


class Excerpt(msgspec.Struct, frozen=True, array_like=True):
    """A text as a check reads it.

    Attributes:
        instructions: sentences that tell somebody to do something.
        fields: scalar values of structured text.
        prose: all other sentences.
        speaks_to_agent: somewhere the text addresses an agent.
        truncated: not all of the text is here.
        claims: sentences and named fields that tell of a change or a detour.
        code: instructions that stand in code, which speaks to nobody as long as it stays there.
        outright: somewhere the text addresses an agent in words that have no other use.
        snippets: squeezed lines that an instruction or a claim leads to: `add this to it: ...`.
        unread: nothing is known of the text; what anybody else said may order and name anything.
    """

    instructions: tuple[Sentence, ...] = ()
    fields: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()
    speaks_to_agent: bool = False
    truncated: bool = False
    claims: tuple[str, ...] = ()
    code: tuple[Sentence, ...] = ()
    outright: bool = False
    snippets: tuple[str, ...] = ()
    unread: bool = False


def bounded(whole: Excerpt) -> Excerpt:
    """Return what of an excerpt fits; what tells most stays first."""
    kept, left = _within(whole.instructions, EXCERPT_MAX_BYTES)
    code, left = _within(whole.code, left)
    snippets = _fitting(whole.snippets, left)
    left -= sum(map(_size, snippets))
    claims = _fitting(whole.claims, left)
    left -= sum(map(_size, claims))
    fields = _fitting(whole.fields, left)
    prose = _fitting(whole.prose, left - sum(map(_size, fields)))
    fitted = (kept, code, snippets, claims, fields, prose)
    had = (whole.instructions, whole.code, whole.snippets, whole.claims, whole.fields, whole.prose)
    return msgspec.structs.replace(
        whole,
        instructions=kept,
        fields=fields,
        prose=prose,
        truncated=whole.truncated or fitted != had,
        claims=claims,
        code=code,
        snippets=snippets,
    )


def _within(sentences: Sequence[Sentence], left: int) -> tuple[tuple[Sentence, ...], int]:
    """Return those that fit, and what is left; below zero when some did not."""
    kept = []
    for sentence in sentences:
        left -= len(sentence.text.encode()) + _KINDS_BYTES
        if left < 0:
            break
        kept.append(sentence)
    return tuple(kept), left


def _size(text: str) -> int:
    return len(text.encode()) + 4


def _fitting(texts: Sequence[str], left: int) -> tuple[str, ...]:
    kept = []
    for text in texts:
        left -= _size(text)
        if left < 0:
            break
        kept.append(text)
    return tuple(kept)
