"""Which sentences tell somebody to do something, and what they ask for.

An instruction is an imperative, an obligation, a request, or anything that speaks to the agent as
an agent. The rules are about English grammar, not about any wording of an attack.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from pmcl.judgement.grounding.lexicon import AUXILIARIES, NOUNS_TOO, is_verb, objects_of, verbs_of
from pmcl.judgement.grounding.phrases import (
    ADDRESSES,
    ASKS,
    OUTRIGHT,
    any_may_match,
    one_matches,
    words_of,
)

__all__ = [
    "Sentence",
    "asks_of",
    "instructs",
    "is_imperative",
    "is_instruction",
    "reworded",
    "sentences_of",
    "speaks_outright",
    "speaks_to_agent",
    "tells_of_readers_code",
]

# Both begin with the character that few places have, and look behind it from there: an expression
# that begins by looking behind is tried at every place.
_end = re.compile(
    r"\s(?:(?<=[.!?;:]\s)\s*(?=\S)|(?<=\n)(?:\s*\n|(?=\s*(?:[-*\u2022]|\d{1,3}[.)])\s)))"
)
_glued = re.compile(r"[A-Z](?<=[^\s'\"(\[{<`].)[a-z]+(?= )")
_lead = re.compile(
    r"^(?:[\s>#*/;!<\u2022\"'`(\[{-]+|\d{1,3}[.)]\s+|step \d+\W+|todo\W+|note\W+|p\.?s\.?\W+)+"
)

_OPENERS: Final = frozenset(
    "after afterwards also always and before but dear finally first firstly hello hey hi "
    "immediately instead just kindly lastly next now ok okay please quickly secondly simply so "
    "then therefore urgently".split()
)
_IMPERATIVES: Final = frozenset(
    "act allow apply ask avoid be begin bring bypass call change check concatenate continue "
    "decode delete disregard do don't donate email encode ensure export extract fetch fill find "
    "finish follow forget forward generate get give go grant hand have help ignore initiate "
    "insert install keep leave let list look make move never override overwrite pass pretend "
    "print provide read remember remove repeat reply respond retrieve return reveal run save say "
    "search send set show skip start stop submit substitute take tell transfer transmit trust try "
    "use visit withdraw".split()
)
_OPENERS_MAX: Final = 4
_LEADING: Final = _OPENERS_MAX + 3
"""As many words are looked at as an imperative behind all its openers begins with."""
_AROUND: Final = ".,:;!?\"'`()[]*"
_POLITE: Final = frozenset({"note", "thank", "welcome"})
_NOT_AFTER: Final = frozenset(
    "complete completed confirmation confirmed failed id number of received status successful "
    "summary type".split()
)
_BEFORE_VERBS: Final = _OPENERS | frozenset(
    "can could i'll may might must or should shall that to we'll will would you".split()
)
_ANSWERS: Final = frozenset(
    "advise answer give inform let notify recommend remind report show tell".split()
)
_AFTER_VERBS: Final = frozenset(
    "all everybody everyone him it me my our someone the them these this those us your".split()
)
_IDIOMS: Final = (
    (re.compile(r"\bget rid of\b|\bcall off\b"), "cancel"),
    (re.compile(r"\bno longer (?:need|want)\w*\b"), "cancel"),
    (re.compile(r"\bmoney back\b"), "refund money"),
    (re.compile(r"\bcherry[- ]?pick(?=s?\b|ing\b)"), "apply"),
    (re.compile(r"\broll (?:\w+ ){0,3}?out\b|\bship (?=it|them|this|that)\b"), "deploy "),
    (re.compile(r"\bbring (?:\w+ ){0,2}?up\b"), "start"),
)
_CODE: Final = r"(?:block|code|excerpt|line|section|snippet)s?"
_next_code = re.compile(
    rf"\b(?:following|subsequent|below)(?: \w+){{0,2}}? {_CODE}\b|\b{_CODE} below\b"
)
_readers_code = re.compile(
    r"\b(?:your|the code (?:that )?you)\b(?: \w+){0,3}? (?:algorithm|answer|application|code|"
    r"codebase|develop|implementation|module|program|project|response|script|solution|source|"
    r"write)s?\b"
)
_conditional = re.compile(r"^(?:before|after|if|when|once|to|in order|as soon|for|until|while)\b")
_clause = re.compile(r"\s*[,:;\u2014]\s*|\s(?:and|then|and then)\s")


class Sentence(msgspec.Struct, frozen=True, array_like=True):
    """A folded sentence and the kinds of action and of thing that it names.

    What a user only quotes, between fences or behind `>`, is `quoted`.
    """

    text: str
    verbs: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    quoted: bool = False


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a piece of prose; a list entry is a sentence of its own.

    A verb with a capital that follows without a space (`7.2%.Send a link`) starts one too, since
    text that was put in by somebody else often joins so.
    """
    parts = [part for part in _end.split(text) if part and not part.isspace()]
    return [piece for part in parts for piece in _unglued(part)]


def _unglued(part: str) -> list[str]:
    pieces, last = [], 0
    for match in _glued.finditer(part):
        word = match.group().strip().lower()
        if word in _IMPERATIVES or is_verb(word):
            pieces.append(part[last : match.start()])
            last = match.start()
    return [*pieces, part[last:]]


def is_instruction(folded: str) -> bool:
    """Return whether a folded sentence tells somebody to do something."""
    words = words_of(folded)
    return (
        one_matches(ASKS, folded, words)
        or one_matches(ADDRESSES, folded, words)
        or one_matches(OUTRIGHT, folded, words)
        or is_imperative(folded)
    )


def is_imperative(folded: str) -> bool:
    """Return whether a folded sentence is an imperative, perhaps behind a condition."""
    plain = _lead.sub("", folded)
    if _commands(plain):
        return True
    return _conditional.match(plain) is not None and any(map(_commands, _clause.split(plain)[1:]))


def instructs(words: Iterable[str]) -> Callable[[str], bool]:
    """Return `is_instruction` for the sentences of a text of these words, in its cheapest form."""
    return is_instruction if any_may_match(words) else is_imperative


def speaks_to_agent(folded: str, words: Iterable[str] | None = None) -> bool:
    """Return whether a folded text addresses an agent, plays a role or sets rules aside.

    Its words may be given, where they are known.
    """
    words = words_of(folded) if words is None else words
    return one_matches(ADDRESSES, folded, words) or one_matches(OUTRIGHT, folded, words)


def speaks_outright(folded: str) -> bool:
    """Return whether a folded text addresses an agent in words that have no other use.

    The manual of a program also says `use the function` or `ignore these rules`.
    """
    return one_matches(OUTRIGHT, folded, words_of(folded))


def tells_of_readers_code(folded: str) -> bool:
    """Return whether a folded sentence tells what the reader's code shall have: what follows it."""
    return _next_code.search(folded) is not None and _readers_code.search(folded) is not None


def _commands(plain: str) -> bool:
    words = [word.strip(_AROUND) for word in plain[:240].split(maxsplit=_LEADING)[:_LEADING]]
    start = 0
    while start < min(len(words), _OPENERS_MAX) and words[start] in _OPENERS:
        start += 1
    if len(words) - start < 3:
        return False
    first, second = words[start], words[start + 1]
    if second in AUXILIARIES or second in _NOT_AFTER or first in _POLITE:
        return False
    return first in _IMPERATIVES or is_verb(first)


def asks_of(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of action and the kinds of thing that words name, each once."""
    verbs: dict[str, None] = {}
    objects: dict[str, None] = {}
    listed = list(words)
    for position, word in enumerate(listed):
        if _acts(listed, position):
            verbs.update(dict.fromkeys(verbs_of(word)))
        objects.update(dict.fromkeys(objects_of(word)))
    return tuple(verbs), tuple(objects)


def reworded(folded: str) -> str:
    """Return a folded text with some idioms put into one verb."""
    for pattern, verb in _IDIOMS:
        folded = pattern.sub(verb, folded)
    return folded


def _acts(words: list[str], position: int) -> bool:
    """Return whether a word acts: one that may be a noun stands where a verb stands.

    `tell me` asks for an answer, which is no effect, and `thanks` for nothing.
    """
    word = words[position]
    after = words[position + 1] if position + 1 < len(words) else ""
    if word in _ANSWERS and after in ("me", "us"):
        return False
    if word == "thanks" or (word == "thank" and after in ("god", "you")):
        return False
    if word not in NOUNS_TOO and word.removesuffix("s") not in NOUNS_TOO:
        return True
    return position == 0 or words[position - 1] in _BEFORE_VERBS or after in _AFTER_VERBS
