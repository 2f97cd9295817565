"""A name that is read as ASCII letters and is not made of them is told from an honest foreign one.

Source: Unicode Technical Standard 39, confusable characters, through `confusable-homoglyphs`.
"""

import re
import unicodedata
from functools import lru_cache

__all__ = ["looks_alike"]

_run = re.compile(r"\w+")


def looks_alike(text: str) -> bool:
    """Return whether `text` mixes ASCII with letters that look like it, or only looks like ASCII.

    U+057D of Armenian, which looks like `u`, does so in a name. A Greek or Russian word does not,
    as long as one of its letters looks like none of ASCII.
    """
    if text.isascii():
        return False
    text = unicodedata.normalize("NFKC", text)
    foreign = [sign for sign in text if not sign.isascii() and sign.isalpha()]
    alike = [sign for sign in foreign if _twin(sign)]
    if alike and len(alike) == len(foreign):
        return True
    return any(
        any(sign.isascii() and sign.isalpha() for sign in run) and any(map(_twin, run))
        for run in _run.findall(text)
    )


@lru_cache(maxsize=4096)
def _twin(sign: str) -> bool:
    """Return whether a letter of another script looks like an ASCII letter or digit."""
    if sign.isascii() or not sign.isalpha():
        return False
    # 40 ms to import, and nearly every name is ASCII.
    from confusable_homoglyphs import categories, confusables

    if categories.alias(sign) == "LATIN":  # dotless i and accents belong to honest words
        return False
    found = confusables.is_confusable(sign, greedy=True) or []
    twins = (twin["c"] for item in found for twin in item["homoglyphs"])
    return any(twin.isascii() and twin.isalnum() for twin in twins)
