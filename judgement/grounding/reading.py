"""Reading a text once: what it orders, states and shows, sorted into an excerpt.

An order is kept with what it asks for; a statement of a program, and what is quoted, asks for
nothing.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from pmcl.judgement.grounding.claims import claim_in, is_claim, is_claim_key, names_secret
from pmcl.judgement.grounding.excerpts import SNIPPET_MIN, WRITING, Excerpt, bounded
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

__all__ = ["read_goal", "read_text"]

_READ_MAX_CHARS: Final = 64 * 1024
_FIELD_MAX_CHARS: Final = 120
_FIELD_MAX_WORDS: Final = 8
_BESIDE_MAX_WORDS: Final = 2
"""As many words a scalar field has beside an address: `Lena <lena@example.org>`."""
_SPREAD: Final = 4
"""How many paragraphs after one that speaks to an agent are read as its instructions."""
_order = re.compile(r"\b(?:do|execute|follow|perform|run|try|use)\b[^.!?]*:$")


def read_text(text: str) -> Excerpt:
    """Return the excerpt of a text."""
    reading = _Reading()
    for leaf in leaves_of(text[:_READ_MAX_CHARS]):
        reading.take(leaf)
    return bounded(reading.excerpt(truncated=_is_longer(text)))


def read_goal(text: str) -> Excerpt:
    """Return the excerpt of what a user or an operator said: every sentence with what it asks.

    What is quoted asks for nothing, unless an order leads to it (`run this: ...`).
    """
    said: list[Sentence] = []
    for is_quoted, piece in quotes_in(text[:_READ_MAX_CHARS]):
        led = is_quoted and said[-1:] and _orders(said[-1].text)
        read = [_read(part) for part in sentences_of(piece)]
        if is_quoted and not led:
            read = [Sentence(one.text, quoted=True) for one in read]
        said += read
    return bounded(Excerpt(instructions=tuple(said), truncated=_is_longer(text)))


def _orders(folded: str) -> bool:
    """Return whether a sentence of the user's ends with an order to do what follows."""
    return folded.endswith(":") and _order.search(folded) is not None


def _is_longer(text: str) -> bool:
    return len(text) > _READ_MAX_CHARS


class _Reading:
    """Sorts what the pieces of one text say."""

    def __init__(self) -> None:
        self._instructions: list[Sentence] = []
        self._fields: list[str] = []
        self._prose: list[str] = []
        self._claims: list[str] = []
        self._code: list[Sentence] = []
        self._snippets: list[str] = []
        self._addressed = False
        self._outright = False
        self._spread = 0
        self._leads = False

    def take(self, leaf: Leaf) -> None:
        """Sort the next piece; what it says may bear on those that follow."""
        if self._spread == 0 and _is_word(leaf):
            (self._claims if is_claim_key(leaf.key) else self._fields).append(fold(leaf.text))
            return
        said = fold(f"{leaf.key}: {leaf.text}")
        words = words_of(said)
        self._snippets += _led(leaf, whole=self._leads)
        self._leads = (self._leads and bool(leaf.code)) or (leaf.code != "file" and _leads(said))
        if self._is_spoken(leaf, said, speaks=speaks_to_agent(said, words)):
            self._instructions += _spoken(leaf)
        elif leaf.code:
            self._take_code(leaf, instructs(words))
        elif is_claim_key(leaf.key):
            self._claims.append(fold(leaf.text))
        elif _is_field(leaf):
            self._fields.append(fold(leaf.text))
        else:
            self._take_prose(leaf, instructs(words))

    def _is_spoken(self, leaf: Leaf, said: str, *, speaks: bool) -> bool:
        """Return whether the piece speaks to an agent, or follows one that does."""
        self._addressed = self._addressed or speaks
        self._outright = self._outright or (speaks and speaks_outright(said))
        if not speaks and self._spread <= 0:
            return False
        begins = speaks and (not leaf.key or speaks_to_agent(fold(f"{leaf.key}:")))
        self._spread = _SPREAD if begins else self._spread - 1
        return True

    def _take_code(self, leaf: Leaf, instructing: Callable[[str], bool]) -> None:
        """Sort the sentences of code; a statement asks for nothing, its comments may."""
        for is_comment, said in statements_of(leaf.text):
            before = ""
            for part in sentences_of(said):
                folded = fold(part)
                if instructing(folded):
                    asks = is_comment and is_worded(folded)
                    self._code.append(_read(folded) if asks else Sentence(folded))
                else:
                    self._state(folded, before)
                before = folded

    def _take_prose(self, leaf: Leaf, instructing: Callable[[str], bool]) -> None:
        leads, before = False, ""
        text = f"{leaf.key}: {leaf.text}" if leaf.stated else leaf.text
        for part in sentences_of(text):
            folded = fold(part)
            if leads or instructing(folded):
                self._instructions.append(_read(folded))
                leads = folded.endswith(":")
            else:
                self._state(folded, before)
            before = folded

    def _state(self, folded: str, before: str) -> None:
        claim = claim_in(folded, before)
        if claim:
            self._claims.append(claim)
        else:
            self._prose.append(folded)

    def excerpt(self, *, truncated: bool) -> Excerpt:
        """Return all that was read."""
        return Excerpt(
            instructions=tuple(self._instructions),
            fields=tuple(dict.fromkeys(self._fields)),
            prose=tuple(self._prose),
            speaks_to_agent=self._addressed,
            truncated=truncated,
            claims=tuple(self._claims),
            code=tuple(self._code),
            outright=self._outright,
            snippets=tuple(dict.fromkeys(self._snippets)),
        )


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


def _read(sentence: str) -> Sentence:
    folded = fold(sentence)
    return Sentence(folded, *asks_of(tokens(reworded(folded))))
