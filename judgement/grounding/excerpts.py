"""What a check later needs of a text, read once and bounded: instructions, fields, prose.

An excerpt is content: it is stored beside the payload and erased with it. It keeps folded text
only. What does not fit is cut, prose first, and `truncated` says so.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from pmcl.judgement.grounding.claims import claim_in, is_claim, is_claim_key, names_secret
from pmcl.judgement.grounding.folding import compact, fold, tokens
from pmcl.judgement.grounding.listings import is_worded, quotes_in, statements_of
from pmcl.judgement.grounding.phrases import words_of
from pmcl.judgement.grounding.speech import (
    Sentence,
    asks_of,
    instructs,
    is_instruction,
    reworded,
    sentences_of,
    speaks_outright,
    speaks_to_agent,
    tells_of_readers_code,
)
from pmcl.judgement.grounding.structure import Leaf, leaves_of
from pmcl.judgement.grounding.values import beside_endpoints

__all__ = [
    "EXCERPT_MAX_BYTES",
    "SNIPPET_MIN",
    "TRUSTED",
    "WRITING",
    "Excerpt",
    "read_goal",
    "read_text",
]

SNIPPET_MIN: Final = 12
"""As many letters and digits a line has that cannot be the same by chance."""
WRITING: Final = frozenset({"change", "create", "delete"})
"""Kinds of action that an order to write something names."""
EXCERPT_MAX_BYTES: Final = 16 * 1024
READ_MAX_CHARS: Final = 64 * 1024
_FIELD_MAX_CHARS: Final = 120
_FIELD_MAX_WORDS: Final = 8
_BESIDE_MAX_WORDS: Final = 2
"""As many words a scalar field has beside an address: `Lena <lena@example.org>`."""
_KINDS_BYTES: Final = 64
_SPREAD: Final = 4
"""How many paragraphs after one that speaks to an agent are read as its instructions."""

_order = re.compile(r"\b(?:do|execute|follow|perform|run|try|use)\b[^.!?]*:$")

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


def read_text(text: str) -> Excerpt:
    """Return the excerpt of a text."""
    instructions: list[Sentence] = []
    fields: list[str] = []
    prose: list[str] = []
    claims: list[str] = []
    code: list[Sentence] = []
    snippets: list[str] = []
    addressed, outright, spread, leads = False, False, 0, False
    for leaf in leaves_of(text[:READ_MAX_CHARS]):
        if spread == 0 and _is_word(leaf):
            (claims if is_claim_key(leaf.key) else fields).append(fold(leaf.text))
            continue
        said = fold(f"{leaf.key}: {leaf.text}")
        words = words_of(said)
        snippets += _led(leaf, whole=leads)
        leads = (leads and bool(leaf.code)) or (leaf.code != "file" and _leads(said))
        speaks = speaks_to_agent(said, words)
        addressed = addressed or speaks
        outright = outright or (speaks and speaks_outright(said))
        if speaks or spread > 0:
            begins = speaks and (not leaf.key or speaks_to_agent(fold(f"{leaf.key}:")))
            spread = _SPREAD if begins else spread - 1
            instructions += _spoken(leaf)
        elif leaf.code:
            _read_code(leaf, instructs(words), code, prose, claims)
        elif is_claim_key(leaf.key):
            claims.append(fold(leaf.text))
        elif _is_field(leaf):
            fields.append(fold(leaf.text))
        else:
            _read_prose(leaf, instructs(words), instructions, prose, claims)
    return _bounded(
        Excerpt(
            instructions=tuple(instructions),
            fields=tuple(dict.fromkeys(fields)),
            prose=tuple(prose),
            speaks_to_agent=addressed,
            truncated=_is_longer(text),
            claims=tuple(claims),
            code=tuple(code),
            outright=outright,
            snippets=tuple(dict.fromkeys(snippets)),
        )
    )


def read_goal(text: str) -> Excerpt:
    """Return the excerpt of what a user or an operator said: every sentence with what it asks.

    What is quoted asks for nothing, unless an order leads to it (`run this: ...`).
    """
    said: list[Sentence] = []
    for is_quoted, piece in quotes_in(text[:READ_MAX_CHARS]):
        led = is_quoted and said[-1:] and _orders(said[-1].text)
        read = [_read(part) for part in sentences_of(piece)]
        if is_quoted and not led:
            read = [Sentence(one.text, quoted=True) for one in read]
        said += read
    return _bounded(Excerpt(instructions=tuple(said), truncated=_is_longer(text)))


def _orders(folded: str) -> bool:
    """Return whether a sentence of the user's ends with an order to do what follows."""
    return folded.endswith(":") and _order.search(folded) is not None


def _is_longer(text: str) -> bool:
    return len(text) > READ_MAX_CHARS


def _is_word(leaf: Leaf) -> bool:
    text = leaf.text
    return not leaf.stated and len(text) <= _FIELD_MAX_CHARS and len(text.split()) < 2


def _is_field(leaf: Leaf) -> bool:
    text = leaf.text
    if leaf.stated or len(text) > _FIELD_MAX_CHARS or len(text.split()) > _FIELD_MAX_WORDS:
        return False
    folded = fold(text)
    beside = beside_endpoints(folded)
    if beside is not None and (":" in beside or len(tokens(beside)) > _BESIDE_MAX_WORDS):
        return False
    if (beside is not None or names_secret(folded)) and is_claim(folded):
        return False
    return not any(is_instruction(fold(part)) for part in sentences_of(text))


def _leads(folded: str) -> bool:
    """Return whether a text ends with an order or a claim about what follows."""
    if not folded.endswith(":"):
        return False
    last = sentences_of(folded)[-1]
    ordered = is_instruction(last) and not WRITING.isdisjoint(_read(last).verbs)
    return is_worded(last) and (ordered or is_claim(last) or tells_of_readers_code(last))


def _led(leaf: Leaf, *, whole: bool) -> Iterator[str]:
    """Yield the lines that an order or a claim leads to, all of a leaf or what follows in it.

    In a program a comment leads to no statement, since both were there before.
    """
    if whole:
        yield from _telling(leaf.text)
        return
    if ":" not in leaf.text and leaf.text.isascii():
        return
    leads = False
    for _, text in statements_of(leaf.text) if leaf.code else [(True, leaf.text)]:
        leads = leads and leaf.code == "block"
        for part in sentences_of(text):
            if leads:
                yield from _telling(part)
            leads = leads or _leads(fold(part))


def _telling(text: str) -> Iterator[str]:
    lines = [compact(fold(line)) for line in text.splitlines()]
    return (line for line in lines if len(line) >= SNIPPET_MIN)


def _spoken(leaf: Leaf) -> Iterator[Sentence]:
    """Yield each sentence beside words to an agent; a statement of a program asks for nothing."""
    for is_comment, said in statements_of(leaf.text) if leaf.code else [(True, leaf.text)]:
        for part in sentences_of(said):
            yield _read(part) if is_comment or is_worded(part) else Sentence(fold(part))


def _read_code(
    leaf: Leaf,
    instructing: Callable[[str], bool],
    code: list[Sentence],
    prose: list[str],
    claims: list[str],
) -> None:
    """Sort the sentences of code; a statement asks for nothing, its comments may."""
    for is_comment, said in statements_of(leaf.text):
        before = ""
        for part in sentences_of(said):
            folded = fold(part)
            if instructing(folded):
                asks = is_comment and is_worded(folded)
                code.append(_read(folded) if asks else Sentence(folded))
            elif claim := claim_in(folded, before):
                claims.append(claim)
            else:
                prose.append(folded)
            before = folded


def _read_prose(
    leaf: Leaf,
    instructing: Callable[[str], bool],
    instructions: list[Sentence],
    prose: list[str],
    claims: list[str],
) -> None:
    leads, before = False, ""
    text = f"{leaf.key}: {leaf.text}" if leaf.stated else leaf.text
    for part in sentences_of(text):
        folded = fold(part)
        if leads or instructing(folded):
            instructions.append(_read(folded))
            leads = folded.endswith(":")
        elif claim := claim_in(folded, before):
            claims.append(claim)
        else:
            prose.append(folded)
        before = folded


def _read(sentence: str) -> Sentence:
    folded = fold(sentence)
    return Sentence(folded, *asks_of(tokens(reworded(folded))))


def _bounded(whole: Excerpt) -> Excerpt:
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
