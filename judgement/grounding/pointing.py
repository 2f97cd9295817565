"""Whether what the user said points to a text that values may be taken from."""

import re
from typing import Final

__all__ = ["names_file", "names_text"]

_WHOSE: Final = (
    r" (?:\w+'s |(?:the|this|that|his|her|my|their|our|a|an|all|each|every) )(?:[\w'-]+ ){0,2}?"
)
_TEXTS: Final = (
    r"(?:bills?|invoices?|files?|documents?|letters?|notes?|notices?|messages?|inbox|pages?|"
    r"webpages?|websites?|sites?|blogs?|articles?|posts?|attachments?|readme|issues?|tickets?|"
    r"lists?|links?|urls?)"
)
_text_named = re.compile(
    rf"\b(?:in|on|from|at|per|of|see|read|check|open|follow|find|visit|summar\w+|according to)"
    rf"{_WHOSE}{_TEXTS}\b(?![\s:,('\"]*(?:at |is )?[\w/:-]+\.\w)|"
    rf"\b(?:in|on|from|per|read|check|open|according to){_WHOSE}e-?mails?\b|"
    r"\bwrote (?:about|down|in|of|on|that|to)\b|"
    r"\b(?:posted|written|described|mentioned|listed|attached)\b"
)
_file_named = re.compile(
    r"\bhttps?://|\bwww\.|(?:^|(?<=[\s'\"(]))~?/[\w.-]+|"
    r"(?<![@\w.-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,5}\b(?![@\w-])"
)


def names_text(goal: str) -> bool:
    """Return whether a folded goal points to a text by words (`in her message`, `posted`).

    A text that is named by a file or a link right behind is that file or link.
    """
    return _text_named.search(goal) is not None


def names_file(goal: str) -> bool:
    """Return whether a folded goal names a file or a link."""
    return _file_named.search(goal) is not None
