"""Phrases that ask, oblige or speak to an agent: a pattern is tried where a literal of it is.

Each match of a pattern holds one of its literals, so leaving the pattern out where none
of them is changes no answer. A text of a tool holds few, and literals are found far sooner.
"""

import re
from typing import Final

__all__ = ["ADDRESSES", "ASKS", "OUTRIGHT", "Phrases", "one_matches"]

Phrases = tuple[tuple[str, re.Pattern[str]], ...]
"""Patterns over folded text, each beside every literal of which each of its matches holds one."""


def one_matches(phrases: Phrases, folded: str) -> bool:
    """Return whether one of the patterns matches somewhere in a folded text."""
    for literal, pattern in phrases:
        if literal in folded and pattern.search(folded) is not None:
            return True
    return False


def _rule(pattern: str, literals: str) -> Phrases:
    compiled = re.compile(pattern)
    return tuple((literal, compiled) for literal in literals.split(","))


ASKS: Final[Phrases] = (
    *_rule(
        r"\b(?:you|i|we|they|he|she|it|agents?|assistants?|ai|models?|users?|everyone|everybody|"
        r"contributors?|developers?|maintainers?|engineers?|reviewers?|members?|employees?|"
        r"customers?|tenants?|team|staff) (?:\w+ ){0,2}?(?:must|should|shall|need to|needs to|"
        r"have to|has to|ought|will need|are required|is required|are to|are asked|are expected|"
        r"are instructed)\b",
        " must, should, shall, need to, needs to, have to, has to, ought, will need,"
        " are required, is required, are to, are asked, are expected, are instructed",
    ),
    *_rule(
        r"\b(?:please|kindly)\b(?! (?:note|find|see|be advised)\b)|\b(?:make|be) sure\b|"
        r"\bensure (?:that|you|to)\b|\bremember to\b",
        "please,kindly,make sure,be sure,ensure ,remember to",
    ),
    *_rule(
        r"\b(?:do not|don't) (?:forget|tell|mention|inform|ask|ignore|stop)\b",
        "do not ,don't ",
    ),
    *_rule(
        r"\b(?:can|could|would|will) (?:you|everybody|everyone|someone|somebody|anyone)\b",
        "can ,could ,would ,will ",
    ),
    *_rule(
        r"\b(?:i|we)(?: would|'d)? (?:need|want|like|ask|urge|request|expect|require) "
        r"(?:you\b|that\b)",
        " need , want , like , ask , urge , request , expect , require ",
    ),
    *_rule(
        r"\bit is (?:important|necessary|required|essential|mandatory|crucial|vital|critical)\b",
        "it is ",
    ),
    *_rule(
        r"\b(?:action|step|setup|task)s? (?:is |are )?required\b|\bmandatory\b|"
        r"\bis required to\b|\bto[- ]?do\b",
        " required,mandatory,to do,to-do,todo",
    ),
    *_rule(
        r"\byour (?:new |next |only |real |main )?(?:task|job|goal|duty|instructions?|mission)\b",
        "your ",
    ),
    *_rule(
        r"\b(?:is|are) to be (?:\w+ed|sent|paid|made|done|run|given)\b|"
        r"\b(?:must|should|need to|have to|needs to) be\b",
        " to be,must be,should be",
    ),
)
"""An obligation or a request, to whomever."""

ADDRESSES: Final[Phrases] = (
    *_rule(
        r"<\s*/?\s*(?:information|system|instructions?|important|admin|user|assistant|task|prompt)"
        r"\b[^>]*>|<\|[^>]*\|>",
        "<",
    ),
    *_rule(r"\[\s*/?\s*(?:system|inst|instructions?|admin|important)\b[^\]]*\]", "["),
    *_rule(
        r"^\W*(?:system|assistant|developer)\s*(?:message|prompt|note|override)?\s*:",
        "system,assistant,developer",
    ),
    *_rule(
        r"\b(?:ai|a\.i\.|large|language) (?:language )?(?:model|assistant|agent)s?\b|"
        r"\b(?:automated|autonomous|coding|virtual) (?:agent|assistant)\b|"
        r"\b(?:dear|attention|note to|message for|instructions? (?:to|for)|to) "
        r"(?:the |any |all )?(?:ai|agents?|assistants?|bots?)\b",
        " model, assistant, agent, ai, bot",
    ),
    *_rule(r"\bllms?\b|\bchat ?gpt\b", "llm,gpt"),
    *_rule(r"\bagents? (?:must|should|shall|need|has to|have to)\b", "agent"),
    *_rule(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?|"
        r"rules|guidelines|guardrails|polic(?:y|ies)|task|request)\b",
        "ignore,disregard,forget,override,bypass",
    ),
    *_rule(
        r"\bbefore you (?:can |may |could )?(?:solve|complete|continue|finish|proceed|answer|do)\b",
        "before you ",
    ),
    *_rule(
        r"\b(?:the|your) (?:original |initial |first |previous |current )"
        r"(?:task|request|instructions?)\b|\bnew (?:instructions?|task)\b",
        " task, request, instruction",
    ),
    *_rule(
        r"\btask that i gave you\b|\buse the (?:tool|function)\b|"
        r"\bthe following (?:arguments|tool)\b|\byou are now\b",
        "task that i gave you,use the ,the following ,you are now",
    ),
    *_rule(
        r"\bwithout (?:asking|telling|informing|notifying|confirming with) "
        r"(?:me|the user|anyone|anybody|them|him|her)\b",
        "without ",
    ),
    *_rule(
        r"\b(?:the )?user (?:has |have )?(?:authorized|approved|agreed|consented|confirmed|"
        r"requested|asked|wants)\b",
        "user ",
    ),
)
"""Speaks to an agent as one, plays a role, or sets rules aside."""

OUTRIGHT: Final[Phrases] = (
    *_rule(
        r"<\s*/?\s*(?:information|system|instructions?|important|admin|assistant)\b[^>]*>|"
        r"<\|[^>]*\|>",
        "<",
    ),
    *_rule(r"\[\s*/?\s*(?:system|inst|instructions?|admin|important)\b[^\]]*\]", "["),
    *_rule(
        r"\b(?:system|assistant|developer)\s*(?:message|prompt|note|override)\s*:",
        "system,assistant,developer",
    ),
    *_rule(
        r"\b(?:ai|a\.i\.|large language|language) (?:language )?(?:model|assistant|agent)s? "
        r"(?:that|who|which|must|should|shall|need|has to|have to|are|is|working|reading)\b|"
        r"\b(?:automated|autonomous|coding|virtual) (?:agent|assistant)s? ?"
        r"(?:[:,]|that|who|must|should|shall|need|has to|have to|are|is|working|reading)|"
        r"\b(?:dear|attention|note to|message for|instructions? (?:to|for)|hi|hello|hey),? "
        r"(?:the |any |all )?(?:ai|coding |automated )?\s?(?:ai|agents?|assistants?|bots?)\b",
        " model, assistant, agent, ai, bot",
    ),
    *_rule(
        r"\b(?:you are|if you're|as) (?:now )?an? (?:ai|llm|bot|language model|agent|assistant|"
        r"coding agent)\b",
        " ai, llm, bot, language, agent, assistant, coding",
    ),
    *_rule(
        r"\b(?:agents?|assistants?|llms?|bots?) (?:must|should|shall|need|has to|have to)\b",
        "agent,assistant,llm,bot",
    ),
    *_rule(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?|"
        r"guardrails)\b",
        "ignore,disregard,forget,override,bypass",
    ),
    *_rule(
        r"\b(?:the|your) (?:original |initial |first |previous )instructions?\b|"
        r"\bnew instructions\b|\bbefore you (?:continue|proceed|finish)\b[^.]{0,20}\btask\b",
        " instruction,before you ",
    ),
    *_rule(r"\btask that i gave you\b|\byou are now\b", "task that i gave you,you are now"),
    *_rule(
        r"\bwithout (?:asking|telling|informing|notifying|confirming with) (?:me|the user)\b",
        "without ",
    ),
    *_rule(
        r"\b(?:the )?user (?:has |have )?(?:already )?(?:authorized|approved|agreed|consented|"
        r"confirmed|asked me|told me|asked you)\b",
        "user ",
    ),
)
"""What the manual of a program has no use for; in part narrower than `ADDRESSES`."""
