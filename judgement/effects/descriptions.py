"""What a tool's description says it does, for choosing among effects and for raising one.

It is written by an untrusted party: by itself it shows no inspection. Only the verbs are read that
say what the tool does, those that lead its first sentence and, as `Creates …`, a later one; what
it tells the model to do is none of them.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from pmcl.contracts import Effect
from pmcl.judgement.effects.lexicon import DATA_NOUNS, DOUBLE, INSPECTING, MONEY, PLAIN
from pmcl.judgement.effects.risk import riskiest

__all__ = ["DescriptionSays", "chosen", "from_description"]

_READ_CHARS: Final = 2048
_sentence = re.compile(r"[.!?;\n]\s")
_word = re.compile(r"[A-Za-z]{1,32}|,")
_LEAD_IN: Final = frozenset(
    "a an the this that tool function method api use used uses can will allow allows lets "
    "enables you user users to for which and it is helps".split()
)
_ALSO: Final = frozenset(("and", "or", "then", "also", ","))
_RETURNS: Final = frozenset(("return", "returns", "provide", "provides", "access", "accesses"))


class DescriptionSays(msgspec.Struct, frozen=True):
    """What a description says.

    Attributes:
        reads: it leads with an inspecting verb and names nothing else.
        acts: the effects of its other verbs.
    """

    reads: bool
    acts: tuple[Effect, ...]


@lru_cache(maxsize=1024)
def from_description(description: str) -> DescriptionSays:
    """Return what the description says the tool does; never raises."""
    first, *later = _sentence.split(description[:_READ_CHARS].strip())
    reads, acts = _first(_words(first))
    for sentence in later:
        words = _words(sentence)
        start = 1 if words[:1] in (["also"], ["it"], ["then"]) else 0
        if len(words) > start and words[start].endswith("s"):  # `Sends …`, not `Send …`
            acts.extend(_acts(words[start:]))
    return DescriptionSays(reads and not acts, tuple(acts))


def _first(words: list[str]) -> tuple[bool, list[Effect]]:
    start = next((at for at, word in enumerate(words) if word not in _LEAD_IN), 0)
    verbs = _chain(words, start)
    acts = [effect for verb in verbs for effect in _acts(verb)]
    return bool(verbs) and all(_reads(verb) for verb in verbs), acts


def _chain(words: list[str], start: int) -> list[list[str]]:
    """Return where the leading verbs stand: `List, create, and delete documents` has three."""
    chain = [words[start:]] if words[start:] else []
    for at in range(start + 1, len(words)):
        joined = words[at - 1] in _ALSO
        if joined and (_base(words[at]) in PLAIN or words[at] in INSPECTING):
            chain.append(words[at:])
    return chain


def _reads(words: list[str]) -> bool:
    verb = words[0]
    if verb in ("access", "accesses"):
        return not DATA_NOUNS.isdisjoint(words)
    return _base(verb) in INSPECTING or verb in _RETURNS


def _acts(words: list[str]) -> list[Effect]:
    verb = _base(words[0])
    if verb == "send" and not MONEY.isdisjoint(words):
        return ["mutation"]
    if verb in PLAIN:
        return [PLAIN[verb]]
    if verb in DOUBLE and words[0] not in _RETURNS:
        return [DOUBLE[verb]]
    return []


def _base(word: str) -> str:
    """Return the verb without the ending of `retrieves`, `searches` or `modifies`."""
    for ending, instead in (
        ("", ""),
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ing", ""),
        ("ing", "e"),
    ):
        if word.endswith(ending):
            base = word.removesuffix(ending) + instead
            if base in INSPECTING or base in PLAIN or base in DOUBLE:
                return base
    return word


def _words(sentence: str) -> list[str]:
    return [word.lower() for word in _word.findall(sentence)]


def chosen(says: DescriptionSays) -> Effect | None:
    """Return the external effect that a description gives a tool whose name says nothing.

    Only mutation and communication: nobody lowers an unknown tool further by describing it.
    """
    told: list[Effect] = [effect for effect in says.acts if effect in ("mutation", "communication")]
    return riskiest(told) if told and len(told) == len(says.acts) else None
