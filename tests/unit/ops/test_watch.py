"""A line of `pmcl watch` has the id that a command takes, on any screen."""

from typing import Any

import pytest

from pmcl.ops.console import console
from pmcl.ops.lines import print_line
from pmcl.ops.watch import Seen, _line

WHOSE = {"scope": "demo", "host": "agent", "at_ms": 0}


def line(**event: Any) -> str:
    return _line(Seen(sequence=1, name="an-event", event=WHOSE | event))


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"evaluation_id": "E1"}, "E1"),
        ({"evaluation_id": "E1", "hold_id": "H1"}, "H1"),
        ({"evaluation_id": "E1", "approval_id": None}, "E1"),
        ({"approval_id": "A1"}, "A1"),
        ({"item_id": "I1", "cycle_id": "C1"}, "I1"),
        ({"outcome": {"outcome_id": "O1", "evaluation_id": "E1"}}, "E1"),
        ({"lease_id": "L1"}, "demo/agent"),
    ],
)
def test_a_line_has_the_id_that_a_command_takes(event: dict[str, Any], shown: str) -> None:
    words = line(**event).split()
    assert shown in words
    assert not {"L1", "O1", "C1"} & set(words)


def test_a_narrow_screen_keeps_ids_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 80)
    with console.capture() as printed:
        print_line(line(evaluation_id="0" * 26) + " far" * 20, indent=10)
    first, *others = printed.get().splitlines()
    assert "0" * 26 in first
    assert others
    assert all(len(each) <= 80 for each in (first, *others))
    assert all(each.startswith(" " * 10) for each in others)


def test_a_pipe_gets_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with console.capture() as printed:
        print_line(line(evaluation_id="0" * 26) + " far" * 300, indent=10)
    assert printed.get().count("\n") == 1
