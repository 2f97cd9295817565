"""docs/status.md says nothing that the repository does not hold."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from pmcl.ops.commands import app

ROOT = Path(__file__).parents[2]
STATES = ("implemented", "partly", "not")
CODE = "bus contracts hosts judgement ledger ops outbox store workers".split()
_code = re.compile(r"`([^`]*)`")
_cited = re.compile(r"\bSPEC ((?:[A-J][0-9]*)(?:(?:, | and | to )[A-J][0-9]+)*)")


class Line(NamedTuple):
    number: str
    what: str
    state: str
    shown: str
    missing: str


LINES = [
    Line(*(cell.strip() for cell in line.strip("|").split("|")))
    for line in (ROOT / "docs/status.md").read_text().splitlines()
    if re.match(r"\| [A-J][0-9]* \|", line)
]


def by_number(line: Line) -> str:
    return line.number


def test_numbers_run_on_from_the_first_of_each_letter() -> None:
    counts = {"A": 8, "B": 7, "C": 11, "D": 5, "E": 4, "F": 11, "G": 4, "H": 7, "I": 2}
    counted = [f"{letter}{n}" for letter, last in counts.items() for n in range(1, last + 1)]
    assert [line.number for line in LINES] == [*counted, "J"]


@pytest.mark.parametrize("line", LINES, ids=by_number)
def test_state_agrees_with_what_is_shown_and_missing(line: Line) -> None:
    assert line.what
    assert line.state in STATES
    assert bool(line.missing) == (line.state != "implemented")
    assert bool(line.shown) == (line.state != "not")


@pytest.mark.parametrize("line", [line for line in LINES if line.shown], ids=by_number)
def test_what_shows_it_is_there(line: Line) -> None:
    shown = _code.findall(line.shown)
    assert ", ".join(f"`{name}`" for name in shown) == line.shown
    for name in shown:
        if name.startswith("pmcl "):
            found = app
            for word in name.split()[1:]:
                found = found[word]
        else:
            assert (ROOT / name).exists(), name


def test_every_number_that_the_code_cites_has_its_line() -> None:
    cited = {
        number
        for folder in CODE
        for path in (ROOT / folder).rglob("*.py")
        for run in _cited.findall(path.read_text())
        for number in re.findall(r"[A-J][0-9]+", run)
    }
    assert len(cited) > 10
    assert cited <= {line.number for line in LINES}
