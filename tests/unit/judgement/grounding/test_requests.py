import pytest

from pmcl.judgement.grounding import read_goal
from pmcl.judgement.grounding.requests import asks_for_work


def asks(*texts: str) -> bool:
    return asks_for_work(*[read_goal(text).instructions for text in texts])


@pytest.mark.parametrize(
    "text",
    [
        "make it faster",
        "continue",
        "yes, go ahead",
        "ok",
        "clean this up",
        "the tests fail on windows",
        "Can you get rid of the old code?",
        "could you please also fix the docs?",
        "Let's move this into a package",
        "Explain what is wrong and fix it",
        "Please read w0.md and then tidy it up",
        "Show me w6.md and then simplify it",
        "Why does it fail? Fix it.",
        "Refactor it, but don't change the interface",
        "now do the same for fetch",
        "have the totals printed with two digits",
        "don't log when there is no client",
        "don't use print(), just log it",
        "include the read only files in the list",
    ],
)
def test_a_wish_of_any_kind_is_a_request(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "why does test_total fail?",
        "what does this do",
        "Explain how total works",
        "can you tell me where prices are read?",
        "how would you speed this up?",
        "Is this right?",
        "thanks, looks great",
        "no",
        "stop",
        "Look at total, but don't change anything",
        "Refactor it in your head, read-only please",
        "Simplify it for me, but this folder is read only",
        "have you seen the totals",
        "don't change the totals",
        "don't do that again",
        "don't publish it yet",
        "never share the totals",
        "don't",
    ],
)
def test_questions_thanks_and_refusals_are_none(text: str) -> None:
    assert not asks(text)


def test_an_earlier_request_holds_until_the_newest_text_forbids_changes() -> None:
    assert asks("why is that?", "fix the total")
    assert not asks("just explain it, do not touch any file", "fix the total")
