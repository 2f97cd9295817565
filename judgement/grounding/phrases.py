"""Phrases that ask, oblige or speak to an agent: a pattern is tried where a word of it stands.

Each match of a pattern holds one of its words, so leaving the pattern out where none of them
stands changes no answer. A text of a tool holds few, and words are found far sooner.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["ADDRESSES", "ASKS", "OUTRIGHT", "Phrases", "any_may_match", "one_matches", "words_of"]

Phrases = Mapping[str, tuple[re.Pattern[str], ...]]
"""Patterns over folded text, under every word of which each of their matches holds one."""

_word = re.compile(r"\w+|[<\[]")


def words_of(folded: str) -> list[str]:
    """Return the words of a folded text, and the brackets that begin a mark."""
    return _word.findall(folded)


def one_matches(phrases: Phrases, folded: str, words: Iterable[str]) -> bool:
    """Return whether one of the patterns matches somewhere in a folded text of these words."""
    for word in phrases.keys() & words:
        for pattern in phrases[word]:
            if pattern.search(folded) is not None:
                return True
    return False


def _indexed(patterns: Mapping[str, str]) -> Phrases:
    """Return by word what stands by words, of which each match holds one."""
    found: dict[str, tuple[re.Pattern[str], ...]] = {}
    for words, pattern in patterns.items():
        compiled = re.compile(pattern)
        for word in words.split():
            found[word] = (*found.get(word, ()), compiled)
    return found


_ROLES: Final = " ".join(
    f"{role}{kind}"
    for role in ("system", "assistant", "developer")
    for kind in ("", "message", "note", "override", "prompt")
)

ASKS: Final = _indexed(
    {
        "must should shall ought need needs have has are required asked expected instructed": (
            r"\b(?:you|i|we|they|he|she|it|agents?|assistants?|ai|models?|users?|everyone|"
            r"everybody|contributors?|developers?|maintainers?|engineers?|reviewers?|members?|"
            r"employees?|customers?|tenants?|team|staff) (?:\w+ ){0,2}?(?:must|should|shall|"
            r"need to|needs to|have to|has to|ought|will need|are required|is required|are to|"
            r"are asked|are expected|are instructed)\b"
        ),
        "please kindly sure ensure remember": (
            r"\b(?:please|kindly)\b(?! (?:note|find|see|be advised)\b)|\b(?:make|be) sure\b|"
            r"\bensure (?:that|you|to)\b|\bremember to\b"
        ),
        "forget tell mention inform ask ignore stop": (
            r"\b(?:do not|don't) (?:forget|tell|mention|inform|ask|ignore|stop)\b"
        ),
        "can could would will": (
            r"\b(?:can|could|would|will) (?:you|everybody|everyone|someone|somebody|anyone)\b"
        ),
        "need want like ask urge request expect require": (
            r"\b(?:i|we)(?: would|'d)? (?:need|want|like|ask|urge|request|expect|require) "
            r"(?:you\b|that\b)"
        ),
        "important necessary required essential mandatory crucial vital critical": (
            r"\bit is "
            r"(?:important|necessary|required|essential|mandatory|crucial|vital|critical)\b"
        ),
        "required mandatory do todo": (
            r"\b(?:action|step|setup|task)s? (?:is |are )?required\b|\bmandatory\b|"
            r"\bis required to\b|\bto[- ]?do\b"
        ),
        "your": (
            r"\byour (?:new |next |only |real |main )?"
            r"(?:task|job|goal|duty|instructions?|mission)\b"
        ),
        "be": (
            r"\b(?:is|are) to be (?:\w+ed|sent|paid|made|done|run|given)\b|"
            r"\b(?:must|should|need to|have to|needs to) be\b"
        ),
    }
)
"""An obligation or a request, to whomever."""

_TAG_END: Final = r"(?:[^>]{0,199}>|[^>]{200})"
_MARK_END: Final = r"(?:[^\]]{0,199}\]|[^\]]{200})"
"""How a mark ends; 200 characters are looked at, and one that is longer counts all the same."""

ADDRESSES: Final = _indexed(
    {
        "<": (
            r"<\s*/?\s*(?:information|system|instructions?|important|admin|user|assistant|task|"
            rf"prompt)\b{_TAG_END}|<\|[^>]{{0,60}}\|>"
        ),
        "[": rf"\[\s*/?\s*(?:system|inst|instructions?|admin|important)\b(?!\.\w){_MARK_END}",
        _ROLES: r"^\W*(?:system|assistant|developer)\s*(?:message|prompt|note|override)?\s*:",
        "model models assistant assistants agent agents ai bot bots": (
            r"\b(?:ai|a\.i\.|large|language) (?:language )?(?:model|assistant|agent)s?\b|"
            r"\b(?:automated|autonomous|coding|virtual) (?:agent|assistant)\b|"
            r"\b(?:dear|attention|note to|message for|instructions? (?:to|for)|to) "
            r"(?:the |any |all )?(?:ai|agents?|assistants?|bots?)\b"
        ),
        "llm llms gpt chatgpt": r"\bllms?\b|\bchat ?gpt\b",
        "agent agents": r"\bagents? (?:must|should|shall|need|has to|have to)\b",
        "ignore disregard forget override bypass": (
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?|"
            r"rules|guidelines|guardrails|polic(?:y|ies)|task|request)\b"
        ),
        "before": (
            r"\bbefore you (?:can |may |could )?"
            r"(?:solve|complete|continue|finish|proceed|answer|do)\b"
        ),
        "task request instruction instructions": (
            r"\b(?:the|your) (?:original |initial |first |previous |current )"
            r"(?:task|request|instructions?)\b|\bnew (?:instructions?|task)\b"
        ),
        "gave use following now": (
            r"\btask that i gave you\b|\buse the (?:tool|function)\b|"
            r"\bthe following (?:arguments|tool)\b|\byou are now\b"
        ),
        "without": (
            r"\bwithout (?:asking|telling|informing|notifying|confirming with) "
            r"(?:me|the user|anyone|anybody|them|him|her)\b"
        ),
        "user": (
            r"\b(?:the )?user (?:has |have )?(?:authorized|approved|agreed|consented|confirmed|"
            r"requested|asked|wants)\b"
        ),
    }
)
"""Speaks to an agent as one, plays a role, or sets rules aside."""

OUTRIGHT: Final = _indexed(
    {
        "<": (
            r"<\s*/?\s*(?:information|system|instructions?|important|admin|assistant)\b"
            rf"{_TAG_END}|"
            r"<\|[^>]{0,60}\|>"
        ),
        "[": rf"\[\s*/?\s*(?:system|inst|instructions?|admin|important)\b(?!\.\w){_MARK_END}",
        _ROLES: r"\b(?:system|assistant|developer)\s*(?:message|prompt|note|override)\s*:",
        "model models assistant assistants agent agents ai bot bots": (
            r"\b(?:ai|a\.i\.|large language|language) (?:language )?(?:model|assistant|agent)s? "
            r"(?:that|who|which|must|should|shall|need|has to|have to|are|is|working|reading)\b|"
            r"\b(?:automated|autonomous|coding|virtual) (?:agent|assistant)s?"
            r"(?: ?[:,]| (?:that|who|must|should|shall|need|has to|have to|are|is|working|"
            r"reading))|"
            r"\b(?:dear|attention|note to|message for|instructions? (?:to|for)|hi|hello|hey),? "
            r"(?:the |any |all )?(?:ai |coding |automated )?(?:ai|agents?|assistants?|bots?)\b"
        ),
        "ai llm bot language agent assistant coding": (
            r"\b(?:you are|if you're|as) (?:now )?an? (?:ai|llm|bot|language model|agent|assistant|"
            r"coding agent)\b"
        ),
        "agent agents assistant assistants llm llms bot bots": (
            r"\b(?:agents?|assistants?|llms?|bots?) (?:must|should|shall|need|has to|have to)\b"
        ),
        "ignore disregard forget override bypass": (
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?|"
            r"guardrails)\b"
        ),
        "instruction instructions before": (
            r"\b(?:the|your) (?:original |initial |first |previous )instructions?\b|"
            r"\bnew instructions\b|\bbefore you (?:continue|proceed|finish)\b[^.]{0,20}\btask\b"
        ),
        "gave now": r"\btask that i gave you\b|\byou are now\b",
        "without": (
            r"\bwithout (?:asking|telling|informing|notifying|confirming with) (?:me|the user)\b"
        ),
        "user": (
            r"\b(?:the )?user (?:has |have )?(?:already )?(?:authorized|approved|agreed|consented|"
            r"confirmed|asked me|told me|asked you)\b"
        ),
    }
)
"""What the manual of a program has no use for; in part narrower than `ADDRESSES`."""

_WORDS: Final = ASKS.keys() | ADDRESSES.keys() | OUTRIGHT.keys()


def any_may_match(words: Iterable[str]) -> bool:
    """Return whether one of all the patterns may match in a text, or a part of it, by its words."""
    return not _WORDS.isdisjoint(words)
