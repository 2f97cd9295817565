"""A pattern that is tried only where a literal of it is gives the same answers."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pmcl.judgement.grounding.folding import fold
from pmcl.judgement.grounding.phrases import ADDRESSES, ASKS, one_matches

PATTERNS = {pattern.pattern: pattern for _, pattern in (*ASKS, *ADDRESSES)}
WORDS = sorted(
    {word for source in PATTERNS for word in re.findall(r"[a-z']+", source)}
    | {"<", ">", "[", "]", "|", ":", ".", "\n", "an", "apple"}
)


@pytest.mark.parametrize("source", PATTERNS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_each_match_holds_a_literal_of_its_pattern(source: str, data: st.DataObject) -> None:
    pattern = PATTERNS[source]
    text = data.draw(st.from_regex(re.compile(source, re.ASCII), fullmatch=True))
    assume(pattern.search(text))
    own = tuple(pair for pair in (*ASKS, *ADDRESSES) if pair[1] is pattern)
    assert one_matches(own, text)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_answers_are_those_of_the_patterns_alone(text: str) -> None:
    folded = fold(text)
    for phrases in (ASKS, ADDRESSES):
        alone = any(pattern.search(folded) for _, pattern in phrases)
        assert one_matches(phrases, folded) is alone
