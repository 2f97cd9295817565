"""One folded form for texts that look or read alike: Unicode, case, white space, number formats."""

import re
import unicodedata
from typing import Final

__all__ = ["compact", "fold", "numbers_in", "tokens"]

_compacted = re.compile(r"[\W_]+")
_token = re.compile(r"[^\W_]+(?:['\u2019][a-z]+)?")
_number = re.compile(r"(?<![\w.])\d[\d,' ]*(?:\.\d+)?(?![\w])")

_LOOK_ALIKES: Final = str.maketrans(
    "аеорсухіјѕԁһԛԝνοαερτικ\u2018\u2019\u201c\u201d\u2010\u2011\u2012\u2013\u2014",
    "aeopcyxijsdhqwvoaeptik''\"\"-----",
)


def fold(text: str) -> str:
    """Return `text` composed, in lower case, without format characters, spaces made single."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join([char for char in text if unicodedata.category(char) != "Cf"])
        text = text.casefold().translate(_LOOK_ALIKES)
    return " ".join(text.lower().split())


def compact(folded: str) -> str:
    """Return the letters and digits alone, so that `US13 3000` is `us133000`."""
    return _compacted.sub("", folded)


def tokens(folded: str) -> list[str]:
    """Return the words and numbers of a folded text in order."""
    return _token.findall(folded)


def numbers_in(folded: str) -> set[float]:
    """Return the numbers a folded text writes, whatever separates their thousands."""
    found = set()
    for written in _number.findall(folded):
        plain = written.replace(",", "").replace("'", "").replace(" ", "")
        found.add(float(plain))
    return found
