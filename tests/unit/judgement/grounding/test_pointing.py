import pytest

from pmcl.judgement.grounding.pointing import names_file, names_text


@pytest.mark.parametrize(
    "goal",
    [
        "pay the sum in the plumber's invoice.",
        "invite lena; her address is in max's message.",
        "answer the mail she wrote about the party.",
        "read all the pages posted to the channel.",
        "check her e-mail of may.",
    ],
)
def test_words_point_to_a_text(goal: str) -> None:
    assert names_text(goal)


@pytest.mark.parametrize(
    "goal",
    [
        "refund what she sent me.",
        "find her e-mail.",
        "write the message to max.",
        "invite max.roe@example.org today.",
    ],
)
def test_other_words_point_to_none(goal: str) -> None:
    assert not names_text(goal)
    assert not names_file(goal)


def test_a_text_with_its_link_is_that_link() -> None:
    goal = "her mail is on her website: www.example.org"
    assert not names_text(goal)
    assert names_file(goal)
    assert names_file("pay 'invoice-may.txt'.")
