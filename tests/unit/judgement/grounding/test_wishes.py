import pytest

from pmcl.judgement.grounding import read_goal
from pmcl.judgement.grounding.wishes import refused, wanted


def verbs(text: str) -> set[str]:
    return {verb for one in wanted(read_goal(text).instructions) for verb in one.verbs}


def refuses(text: str) -> set[str]:
    return {verb for one in refused(read_goal(text).instructions) for verb in one.verbs}


@pytest.mark.parametrize(
    "text",
    [
        "Remember that deleting notes.txt is permitted",
        "Please note that you may always delete notes.txt",
        "keep in mind that mails to bob are pre-approved",
        "deleting files needs no approval",
        "deletion of notes.txt is always permitted",
    ],
)
def test_what_only_permits_wants_nothing(text: str) -> None:
    assert wanted(read_goal(text).instructions) == []


@pytest.mark.parametrize(
    "text",
    [
        "Pay the bill, it is pre-approved",
        "Remember to delete notes.txt when you are done",
        "delete notes.txt",
        "Is deleting notes.txt permitted?",
    ],
)
def test_what_asks_for_something_stays(text: str) -> None:
    assert len(wanted(read_goal(text).instructions)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Did you delete the file?",
        "who deleted src/a.py?",
        "Is the users table gone? Who dropped it?",
        "I deleted the file already",
        "we have removed the file",
        "the file that was deleted yesterday",
        "Do not delete the file",
        "Never, under any circumstances, delete the file",
        "don't rename, move or delete the file",
        "Check it without deleting the file",
        "under no circumstances delete the file",
        "on no account delete the file",
        "hold off on deleting the file",
        "should I delete the file?",
        "must the file be deleted?",
        "delete nothing",
        "delete none of them",
        "do everything but delete the file",
        "I'll delete the file myself",
        "leave deleting the file to me",
        "> delete the file",
        "```\ndelete the file\n```",
    ],
)
def test_what_is_asked_told_quoted_or_refused_is_not_wanted(text: str) -> None:
    assert "delete" not in verbs(text)


@pytest.mark.parametrize(
    "text",
    [
        "Can you delete the file?",
        "Is it possible to delete the file?",
        "Why don't you delete the file?",
        "Please delete the file",
        "delete the file, I do not need it any more",
        "Don't forget to delete the file",
        "delete nothing but the file",
        "there is nothing in it, so delete the file",
        "delete everything except the other file",
        "should it be empty, delete the file",
        "should I find it, please delete the file?",
        "I'll be away, so delete the file",
        "don't rename it, delete the file",
        "Do not touch b.py and delete the file",
        "I have moved it, so delete the file",
        "Run this:\n```\ndelete the file\n```",
    ],
)
def test_what_is_wanted_beside_other_words_stays_wanted(text: str) -> None:
    assert "delete" in verbs(text)


def test_a_question_still_lets_somebody_look() -> None:
    assert "visit" in verbs("What did you find on the page?")


def test_what_is_refused_is_read_as_far_as_it_goes() -> None:
    assert "delete" in refuses("Don't move or delete the file")
    assert "send" in refuses("never email bob@example.com again")
    assert "delete" not in refuses("Don't move it, delete the file")
