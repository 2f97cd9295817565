"""What a tool's name says: its verb decides, and what follows the verb is only its object.

A local inspection is shown by an inspecting verb that leads the name, or it is execution.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

import msgspec

from pmcl.contracts import Effect
from pmcl.judgement.effects.lexicon import (
    CONJUNCTIONS,
    DATA_NOUNS,
    DOUBLE,
    INSPECTING,
    MONEY,
    OWN_PLACE,
    PHRASAL,
    PLAIN,
    PROGRAM_WORDS,
    SENSING_NOUNS,
    SENSING_OBJECTS,
    SENSING_VERBS,
    WEB_WORDS,
)
from pmcl.judgement.effects.risk import riskiest

__all__ = ["NAME_MAX_CHARS", "NameSays", "from_name", "own_words", "words_of"]

_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_part = re.compile(r"[./:]|__")
NAME_MAX_CHARS: Final = 256
_OF_HOSTS: Final = ("default_api", "functions", "tools")
_PROGRAMS: Final[dict[str, Effect]] = dict.fromkeys(PROGRAM_WORDS, "execution")
_PLACES: Final = frozenset(("location", "position", "whereabouts"))

Lead = Literal["inspects", "subject_first", "acts", "unknown"]


class NameSays(msgspec.Struct, frozen=True):
    """What a name says.

    Attributes:
        lead: an inspecting verb leads it; one follows an unknown subject (`MailboxListItems`, or
            `frobnicate_list`); it has another verb; or no verb that is known.
        effect: of its verbs and nouns, the riskiest.
        reason: the code of the rule that decided.
    """

    lead: Lead
    effect: Effect
    reason: str


@lru_cache(maxsize=4096)
def from_name(tool_name: str, server: str = "") -> NameSays:
    """Return what the name alone says; never raises.

    `server` is what the host calls the tool's server: `slack_list_channels` of `slack` leads with
    its verb.
    """
    if not tool_name.isascii():
        # A look-alike letter would hide a risky word, or borrow the name of a trusted tool.
        return NameSays("unknown", "execution", "name.not_ascii")
    *prefix, last = [words_of(part) for part in _part.split(tool_name)]
    acts = _acts(last) + [PLAIN[word] for part in prefix for word in part if word in PLAIN]
    if any(word in PROGRAM_WORDS for part in prefix for word in part):
        acts.append("execution")
    if acts:
        return NameSays("acts", riskiest([*acts, *_nouns(last)]), "name.verb")
    if _only_senses(last):
        return NameSays("acts", "sensing", "name.verb")
    if not _inspecting_at(last):
        return NameSays("unknown", "execution", "name.unknown")
    nouns = _nouns([word for part in (*prefix, last) for word in part])
    before = last[: _inspecting_at(last) - 1]
    subjects = WEB_WORDS | SENSING_NOUNS | set(words_of(server))
    leads = subjects.issuperset(before) and not _joins_unknown(last)
    lead: Lead = "inspects" if leads else "subject_first"
    if nouns:
        return NameSays(lead, riskiest(nouns), "name.noun")
    return NameSays(lead, "inspect_local", "name.inspects")


def words_of(name: str) -> list[str]:
    """Return the words of a name, lower case: `read_file`, `readFile` and `READ-FILE` are one.

    More than 256 characters are not read.
    """
    return list(_words_of(name[:NAME_MAX_CHARS]))


@lru_cache(maxsize=4096)
def _words_of(name: str) -> tuple[str, ...]:
    return tuple([word.lower() for word in _word.findall(name) if not word.isdigit()])


def own_words(tool_name: str) -> list[str]:
    """Return the words of a name without the prefix that some hosts give to every tool."""
    prefix, _, last = tool_name.rpartition(".")
    return words_of(last if prefix in _OF_HOSTS else tool_name)


def _acts(words: list[str]) -> list[Effect]:
    """Return the effects of the name's verbs that do more than inspect."""
    if tuple(words[:2]) in PHRASAL:
        return ["mutation"]
    acts: list[Effect] = []
    may_act = DOUBLE | _PROGRAMS
    verb_is_due = True  # until a verb was met, and again behind `and`
    inspects_later = _inspecting_at(words) > 1
    for at, word in enumerate(words):
        if word in PLAIN:
            acts.append(_sent(words, word))
        elif word in may_act and verb_is_due and not inspects_later:
            acts.append(may_act[word])  # but `MessageSearch` searches messages
        if word in PLAIN or word in DOUBLE or word in INSPECTING:
            verb_is_due = False
        if word in CONJUNCTIONS and at:
            verb_is_due, inspects_later = True, False
    return acts


def _sent(words: list[str], verb: str) -> Effect:
    return "mutation" if verb == "send" and not MONEY.isdisjoint(words) else PLAIN[verb]


def _inspecting_at(words: list[str]) -> int:
    """Return the place, from 1, of the first inspecting verb; 0 without one."""
    for at, word in enumerate(words, start=1):
        if word in INSPECTING:
            return at
        if word == "access" and not DATA_NOUNS.isdisjoint(words[at:]):
            return at + 1  # never quite the first: its description must say so, too
    return 0


def _joins_unknown(words: list[str]) -> bool:
    """Return whether an unknown verb may stand behind `and`: plurals are things."""
    return any(
        one in CONJUNCTIONS and other not in INSPECTING and not other.endswith("s")
        for one, other in pairwise(words)
    )


def _nouns(words: list[str]) -> list[Effect]:
    found: list[Effect] = []
    if not WEB_WORDS.isdisjoint(words) or words == ["fetch"]:
        found.append("network")
    if _senses(words):
        found.append("sensing")
    return found


def _only_senses(words: list[str]) -> bool:
    """Return whether nothing but sensing is named: `take_screenshot`, `screenshot`."""
    leads = words[:1] and (words[0] in SENSING_VERBS or SENSING_NOUNS.issuperset(words))
    return bool(leads) and _senses(words)


def _senses(words: list[str]) -> bool:
    if not SENSING_NOUNS.isdisjoint(words):
        return True
    if not SENSING_VERBS.isdisjoint(words) and not SENSING_OBJECTS.isdisjoint(words):
        return True
    for before, word in zip(["", *words], words, strict=False):
        if word in _PLACES and (
            before in OWN_PLACE or (before in INSPECTING and word == words[-1])
        ):
            return True
    return False
