"""Recalling: what was said is found again by its words and by how new it is.

A word tells as much as it is rare. How rare is estimated from its newest finds alone, so that it
costs the same among a thousand texts and among a hundred thousand.
"""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from pmcl.judgement.grounding import fold, tokens

__all__ = ["Finds", "most_telling", "rank", "words_to_ask", "words_to_keep"]

_ASKED_WORDS_MAX: Final = 12
"""Of one question; each costs one look into the index."""

_WORD_MAX_CHARS: Final = 40
_HALF_LIFE_MS: Final = 7 * 24 * 3_600_000
_OLD_SHARE: Final = 0.5
_COMMON: Final = frozenset(
    "a about after all also an and any are as at be been but by can could did do does for from "
    "had has have he her his how i if in into is it its just me more my no not of on or our out "
    "over she should so some than that the their them then there these they this to up us was we "
    "were what when where which while who why will with would you your".split()
)


class Finds(msgspec.Struct, frozen=True, kw_only=True):
    """The newest texts that hold one word.

    Attributes:
        numbers: of the texts, newest first.
        cut: there are older ones.
        newest: the number of the newest text of all, whatever it holds.
    """

    numbers: tuple[int, ...]
    cut: bool
    newest: int

    @property
    def weight(self) -> float:
        """What the word tells: the logarithm of how many texts there are for each that holds it."""
        if not self.numbers:
            return 0.0
        span = self.newest - self.numbers[-1] + 1 if self.cut else self.newest
        return math.log(1 + max(span, 1) / len(self.numbers))


def words_to_keep(*texts: str) -> tuple[str, ...]:
    """Return the words by which texts are found again, each once."""
    found = (word for text in texts for word in tokens(fold(text)))
    return tuple(dict.fromkeys(word[:_WORD_MAX_CHARS] for word in found if word not in _COMMON))


def words_to_ask(text: str) -> tuple[str, ...]:
    """Return the words that a question looks for: the longest, which tend to be the rarest."""
    words = words_to_keep(text)
    longest = sorted(words, key=len, reverse=True)[:_ASKED_WORDS_MAX]
    return tuple(word for word in words if word in longest)


def most_telling(finds: Sequence[Finds], max_texts: int) -> list[int]:
    """Return the numbers of the texts whose words tell most; of equals, the newest."""
    told = _told(finds)
    return sorted(told, key=lambda number: (told[number], number), reverse=True)[:max_texts]


def rank(finds: Sequence[Finds], ages_ms: dict[int, int]) -> list[int]:
    """Return the numbers of `ages_ms`, what is asked for first.

    Of two that hold the same words the newer comes first: half of the score fades with a half-life
    of seven days. What holds none of the words is ordered by age alone, behind all that holds one.
    """
    told = _told(finds)
    fades = {number: math.exp2(-max(age, 0) / _HALF_LIFE_MS) for number, age in ages_ms.items()}
    return sorted(
        ages_ms,
        key=lambda number: (
            told.get(number, 0.0) * (_OLD_SHARE + (1 - _OLD_SHARE) * fades[number]),
            -ages_ms[number],
            number,
        ),
        reverse=True,
    )


def _told(finds: Sequence[Finds]) -> dict[int, float]:
    told: dict[int, float] = {}
    for find in finds:
        weight = find.weight
        for number in find.numbers:
            told[number] = told.get(number, 0.0) + weight
    return told
