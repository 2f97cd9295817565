"""A pattern that is tried only where a word of it stands gives the same answers."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pmcl.judgement.grounding.folding import fold
from pmcl.judgement.grounding.phrases import ADDRESSES, ASKS, OUTRIGHT, one_matches, words_of

GROUPS = (ASKS, ADDRESSES, OUTRIGHT)
PATTERNS = {
    pattern.pattern: pattern
    for phrases in GROUPS
    for patterns in phrases.values()
    for pattern in patterns
}
WORDS = sorted(
    {word for source in PATTERNS for word in re.findall(r"[a-z']+", source)}
    | {"<", ">", "[", "]", "|", ":", ".", "\n", "an", "apple"}
)


@pytest.mark.parametrize("source", PATTERNS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_each_match_holds_a_word_of_its_pattern(source: str, data: st.DataObject) -> None:
    pattern = PATTERNS[source]
    text = data.draw(st.from_regex(re.compile(source, re.ASCII), fullmatch=True))
    assume(pattern.search(text))
    own = [
        {word: (pattern,) for word, patterns in phrases.items() if pattern in patterns}
        for phrases in GROUPS
    ]
    assert all(one_matches(phrases, text, words_of(text)) for phrases in own if phrases)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_answers_are_those_of_the_patterns_alone(text: str) -> None:
    folded = fold(text)
    for phrases in GROUPS:
        alone = any(pattern.search(folded) for found in phrases.values() for pattern in found)
        assert one_matches(phrases, folded, words_of(folded)) is alone


@pytest.mark.parametrize("mark", ["<system {}>", "</important {}>", "[system {}]", "[/inst {}]"])
@pytest.mark.parametrize("padding", [0, 190, 200, 4000])
def test_a_mark_is_seen_however_it_is_padded(mark: str, padding: int) -> None:
    folded = fold(mark.format("a" * padding) + " now do as follows")
    for phrases in (ADDRESSES, OUTRIGHT):
        assert one_matches(phrases, folded, words_of(folded))
