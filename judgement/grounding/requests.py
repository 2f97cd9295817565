"""Whether what the user said asks for work at all: anything but a mere question or a no.

It says nothing of the kind of work, so it licenses only what stays in the user's own project.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pmcl.judgement.grounding.folding import tokens
from pmcl.judgement.grounding.lexicon import verbs_of
from pmcl.judgement.grounding.speech import Sentence

__all__ = ["asks_for_work"]

_FILLERS: Final = frozenset(
    "actually also and but great hello hey hi kindly nice no now ok okay please right so sorry "
    "sure thanks then well yes you".split()
)
_ASSENTS: Final = frozenset(
    "do go yes y yep yeah ok okay sure continue proceed next more again right".split()
)
_ASKING: Final = frozenset(
    "am are can could did do does has have how is may might shall should was were what when where "
    "which who whom whose why will would".split()
)
_TELLING: Final = frozenset(
    "analyse analyze answer ask compare count describe explain find list look outline read remind "
    "report review say search see show summarise summarize tell think walk".split()
)
_REFUSALS: Final = frozenset("cancel don't never no nothing stop wait".split())
_PRAISE: Final = frozenset(
    "a all awesome cool done excellent fine for good great it job looks much nice perfect so thank "
    "thanks that the this very well work works you your".split()
)
_polite = re.compile(
    r"^(?:can|could|would|will) (?:you|we)(?: (?:mind|please|also|now|then|just|kindly|maybe))* "
    r"(\w+)|^(?:let's|let us|shall we|how about|what about|why don't you|why not) (\w+)"
)
_hands_off = re.compile(
    r"\b(?:do not|don't|without|never|no need to) (?:\w+ ){0,1}?(?:chang|edit|modif|touch|writ)\w* "
    r"(?:anything|any|the code|code|files?|it\b)|"
    r"\bread[- ]only\b(?! \w*(?:file|field|flag|list|mount|option|path|propert|variable|volume))|"
    r"\b(?:only|just) (?:explain|describe|look|read|review|tell|answer)\b"
)
_keeps: Final = re.compile(
    r"\b(?:not|don't|never|without|avoid) (?:\w+ ){0,2}?(?:push|publi|deploy|release|ship|submit|"
    r"upload|merg|open|comment|post|send|share|sync|apply|roll)"
)
_PEOPLE: Final = frozenset(
    "any anybody anyone he i it she that there these they this we you".split()
)
_no_work = re.compile(
    r"(?:don't|never) (?:\w+ly |even |just )?(?:add|answer|bother|chang|commit|continu|creat|delet|"
    r"do|edit|fix|go|implement|install|make|merg|modif|mov|proceed|push|remov|renam|run|start|touch|"
    r"try|worry|writ)\w*\b"
)
"""What an agent does to a project; `don't log in tests` tells what the program shall not do."""
_CHANGES: Final = frozenset({"change", "create", "delete", "run"})


def asks_for_work(newest: Sequence[Sentence], *earlier: Sequence[Sentence]) -> bool:
    """Return whether one of the user's texts is a request, and the newest forbids no change."""
    if any(_hands_off.search(sentence.text) for sentence in newest):
        return False
    return any(_is_request(sentence) for text in (newest, *earlier) for sentence in text)


def _is_request(sentence: Sentence) -> bool:
    words = tokens(sentence.text)
    while len(words) > 1 and words[0] in _FILLERS:
        words = words[1:]
    said = " ".join(words)
    if not words or (words[0] in _REFUSALS and not _forbids_the_program(said)):
        return False
    polite = _polite.match(said)
    if polite is not None:
        return (polite[1] or polite[2]) not in _TELLING
    if sentence.text.endswith("?") or (words[0] in _ASKING - _ASSENTS and not _has_done(words)):
        return False
    if words[0] in _TELLING:
        return _goes_on(words)
    return (len(words) == 1 and words[0] in _ASSENTS) or not _PRAISE.issuperset(words)


def _forbids_the_program(said: str) -> bool:
    """Return whether words tell what a program shall not do, rather than forbid work."""
    if _no_work.match(said) or _keeps.search(said):
        return False
    return said.startswith(("don't ", "never ")) and said.count(" ") > 1


def _has_done(words: Sequence[str]) -> bool:
    """Return whether somebody is to have something done: `have the list sorted`, no question."""
    return words[0] == "have" and len(words) > 2 and words[1] not in _PEOPLE


def _goes_on(words: Sequence[str]) -> bool:
    """Return whether a wish to be told something is followed by another: `... and fix it`."""
    return any(
        word in ("and", "then") and not _CHANGES.isdisjoint(verbs_of(follows))
        for word, follows in pairwise(words)
    )
