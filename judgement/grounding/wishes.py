"""What of a user's sentence is wanted done now: no question, no report, no refusal, no permission.

`did you delete it?`, `I have deleted it` and `do not delete it` all speak of deleting, and none
asks for it. What is left of a sentence keeps its text and the things that it names; only the
actions that nobody wants are taken out. Source: SPEC C6.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from pmcl.judgement.grounding.folding import tokens
from pmcl.judgement.grounding.speech import Sentence, asks_of, is_imperative, reworded

__all__ = ["asks_to_be_told", "parts_of", "refused", "says_no", "wanted"]

_LOOKING: Final = frozenset({"run", "sense", "visit"})
"""Kinds of action that answer a question."""
_noted: Final = re.compile(
    r"^(?:(?:please|and|also|so|just|always) )*(?:remember|memori[sz]e|note|keep in mind|"
    r"bear in mind|know|for the record|make a note|write down|learn|store|save)\b[^?]*?"
    r"\b(?:permitted|allowed|approved|authori[sz]ed|pre-?approved|whitelisted|permission|"
    r"may (?:always )?\w+|no (?:approval|confirmation))\b"
)
_permits: Final = re.compile(
    r"\b(?:pre-?approved|whitelisted|(?:needs?|requires?) no (?:approval|confirmation|permission)|"
    r"(?:is|are) (?:(?:always|generally|now|hereby) )?(?:permitted|authori[sz]ed))\b"
)
_question: Final = re.compile(
    r"^(?:(?:and|but|hey|hi|hello|also|so|then|ok|okay|sorry|well)[ ,]+)*"
    r"(?:(?:did|does|was|were|had|why|who|whose|whom)\b|"
    r"(?:do|have|has) the\b(?=.*\?$)|(?:should|must) \w+\b(?!.*\bplease\b)(?=.*\?$)|"
    r"(?:do|have|has) (?:you|we|they|i|he|she|it|anybody|anyone|somebody|someone)\b|"
    r"(?:what|when|where|which|is|are)\b(?=.*\?$))"
)
_wish_too: Final = re.compile(
    r"\bplease\b|\b(?:can|could|would|will) (?:you|i|we)\b|\blet(?:'s|s| us)\b|"
    r"\bi(?:'d| would)? (?:want|need|like)\b|\bwhy (?:don't|not)\b|"
    r"\b(?:able|possible|way|chance|option)\b"
)
_reported: Final = re.compile(
    r"\b(?:i|we|you|he|she|they|who|already|been|was|were|i've|we've|you've|they've)"
    r"(?: (?:have|has|had|already|just|also|\w+ly))* \w+ed\b|"
    r"\b(?:last|previous|earlier|recent) (?:\w+ )?\w+|"
    r"\b(?:the|my|our|your|this|that|an?) (?:\w+ ){1,6}?(?:failed|broke|bounced)\b"
)
_part: Final = re.compile(r"[,;:()]|\s[-\u2014]+\s|\b(?:but|then|instead|otherwise|however)\b")
_all_but: Final = re.compile(r"\b(anything|everything|all)(?: else)? but\b")
_only: Final = re.compile(r"\bnothing (?:else )?(?:but|except|more than)\b")
_NO: Final = (
    r"(?:(?:do|must|should|shall|may|need)(?: not|n't)|dont|never|neither|nor|without|avoid\w*|"
    r"refrain\w*|no need|instead of|rather than|(?:under|in) no (?:circumstances?|case|event)|"
    r"on no account|by no means|at no (?:point|time)|hold(?:ing)? off|"
    r"except(?! (?:if|that|when)\b)|"
    r"(?=(?!(?:am|are|be|been|find|found|had|has|have|is|know|knows|was|were)\b)\w+ "
    r"(?:nothing|none of (?:it|them|this|that))\b(?! (?:but|else|except|more)\b))|"
    r"(?=i(?:'ll|'m going to| will| am going to| can| would rather|'d rather) [^,;]{0,60}?"
    r"\b(?:by hand|myself|on my own)\b)|(?=leave (?:\w+ ){1,5}?to me\b))"
)
"""What tells somebody not to; that a program does not do something is no refusal.

What is ahead only counts as well: `push nothing`, `I'll push it myself`, `leave the push to me`.
"""
_YET: Final = r"(?! (?:only|just|least|forget|hesitate|fail|miss|mind|wait to|be afraid)\b)"
_negated: Final = re.compile(rf"\b(?<!why ){_NO}\b{_YET}")
_no_in_other_words: Final = re.compile(
    r"\b(?:nicht|kein\w*|nie|niemals|ne|pas|jamais|nunca|jam\u00e1s|no|non|n\u00e3o|nem|niet|geen|"
    r"schon|bereits|d\u00e9j\u00e0|gi\u00e0)\b|[\u4e0d\u522b\u5225\u52ff\u7121\u65e0]"
)
"""A refusal, or that it is done already, in some of the languages that are not read otherwise."""
_conditional: Final = re.compile(r"^\W*(?:and |but )?(?:if|unless|even|when|whether|because)\b")
_listed: Final = re.compile(r"^ *(?:\w+ *$|(?:or|nor)\b|\w+ (?:or|nor)\b)")


def wanted(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences with nothing in them but the actions that are wanted now.

    Left out are those that only tell, or have remembered, what is permitted: they want nothing
    done, and nothing that is said permits anything.
    """
    return [_wanted(one) for one in sentences if not _only_permits(one.text)]


def refused(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return what the sentences refuse, each with the kinds of action and of thing in it."""
    return [
        _read(_negated.sub(" to ", text))
        for one in sentences
        for text, says_yes in parts_of(one.text)
        if not says_yes
    ]


def parts_of(text: str, more: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the parts of a sentence in order, each with whether it says yes.

    A refusal goes on to the end of its part, over the next ones where it has not come to anything
    yet (`do not, whatever happens, push`) or they go on with its list (`don't tag, merge or push`),
    and ends with `and`. `more` are further expressions of a refusal, which goes on behind `and`.
    """
    negated = re.compile(rf"{_negated.pattern}|(?<!why )(?:{more}){_YET}") if more else _negated
    goes_on = ""
    for part in _part.split(_plainly(text)):
        found = None if _conditional.match(part) else negated.search(part)
        if found is None and not (goes_on and (_listed.match(part) or goes_on == "open")):
            goes_on = ""
            yield part, True
            continue
        at = 0 if found is None or goes_on else found.start()
        end = len(part) if more else part.find(" and ", at)
        end = len(part) if end < 0 else end
        yield part[:at], True
        yield part[at:end], False
        yield part[end:], True
        said = tokens(part if found is None else part[found.end() :])
        goes_on = "list" if asks_of(said)[0] or (found is not None and said) else "open"


def asks_to_be_told(text: str) -> bool:
    """Return whether a folded sentence is a question about what is, and wants nothing done."""
    return _question.match(text) is not None and _wish_too.search(text) is None


def says_no(folded: str) -> bool:
    """Return whether words that may be in another language hold a refusal, or tell of the past."""
    found = _negated.search(folded) or _no_in_other_words.search(folded)
    return found is not None


def _plainly(text: str) -> str:
    """Return a text without the `but` that parts nothing: `all but that`, `nothing but that`."""
    return _all_but.sub(r"\1 except", _only.sub("only", text))


def _wanted(sentence: Sentence) -> Sentence:
    if not sentence.verbs:
        return sentence
    kept = " , ".join([text for text, says_yes in parts_of(sentence.text) if says_yes])
    verbs = _read(_reported.sub(" ", kept)).verbs
    if asks_to_be_told(sentence.text):
        verbs = tuple([verb for verb in verbs if verb in _LOOKING])
    return msgspec.structs.replace(sentence, verbs=verbs)


def _read(text: str) -> Sentence:
    return Sentence(text, *asks_of(tokens(reworded(text))))


def _only_permits(text: str) -> bool:
    if _noted.search(text):
        return True
    return _permits.search(text) is not None and not is_imperative(text)
