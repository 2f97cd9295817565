import pytest

from pmcl.contracts import Tool
from pmcl.judgement.grounding import read_goal
from pmcl.judgement.grounding.licence import asked_by_call, licenses


def licensed(goal: str, tool: str) -> bool:
    called = Tool(server="any", name=tool, definition_hash="0" * 64)
    return licenses(read_goal(goal).instructions, asked_by_call(called, None, "execution"))


@pytest.mark.parametrize("tool", ["execute", "run_query", "execute_sql"])
def test_a_runner_does_whatever_is_asked_for(tool: str) -> None:
    assert licensed("Rename the column name to full_name in the users table", tool)
    assert not licensed("Which tables are there?", tool)


def test_a_tool_that_says_what_it_does_needs_just_that() -> None:
    assert not licensed("Rename the column in the users table", "delete_table")
    assert licensed("Delete the users table", "delete_table")


@pytest.mark.parametrize("goal", ["Remember that I prefer tabs", "Please memorize this"])
def test_what_is_to_be_remembered_is_to_be_written(goal: str) -> None:
    assert licensed(goal, "write")


@pytest.mark.parametrize(
    "goal",
    [
        "Summarise my mails",
        "Sort the mails by date",
        "List the calls of today",
    ],
)
def test_many_of_a_thing_are_no_wish_to_make_one(goal: str) -> None:
    assert not licensed(goal, "send_mail")
    assert not licensed(goal, "call_number")


def test_a_verb_that_is_a_thing_too_is_one_where_a_verb_stands() -> None:
    assert licensed("Please mail the report to Lena", "send_mail")
