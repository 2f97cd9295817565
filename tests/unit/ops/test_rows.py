"""A list is read at any width, and nothing in it is ever cut."""

import pytest
from rich.cells import cell_len

from pmcl.ops.console import console
from pmcl.ops.rows import print_rows

NAMES = ("id", "since", "host", "effect", "reason", "on")
ID = "01M8W614FSH0W7W7FHWABRG3T1"
PATH = "path /home/ann/" + "deeply/" * 20 + "notes.txt"
HOLD = (ID, "02 20:09", "home/desk", "communication", "plan.unmitigated", PATH)
WIDE = (ID, "02 20:09", "home/desk", "mutation", "plan.unmitigated", "path /" + "字" * 90)


def printed(width: int, *rows: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(console, "width", width)
    with console.capture() as lines:
        print_rows(NAMES, rows)
    return lines.get().splitlines()


def test_a_pipe_gets_one_tab_between_columns_and_no_padding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 500)
    bare = (ID, "02 20:09", "home/desk", "mutation", "plan.unmitigated", "")
    print_rows(NAMES, (HOLD, bare))
    assert capsys.readouterr().out.splitlines() == [
        "\t".join(row) for row in (NAMES, HOLD, bare[:5])
    ]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_screen_is_never_too_narrow(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(width, HOLD, WIDE, monkeypatch=monkeypatch)
    assert max(map(cell_len, lines)) <= width
    told = "".join(line.strip().replace("  ", "") for line in lines).replace(" ", "")
    assert PATH.replace(" ", "") in told
    assert "字" * 90 in told


def test_a_row_stays_whole_where_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    names, *rows = printed(80, HOLD, monkeypatch=monkeypatch)
    assert names.split() == [*NAMES[:-1]]
    on, *hold = rows
    assert on == "    on"
    assert hold[0] == "  ".join(HOLD[:-1])
    assert all(line.startswith("    ") for line in hold[1:])


def test_columns_stand_below_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    names, row = printed(200, (*HOLD[:-1], "path /a"), monkeypatch=monkeypatch)
    assert [names.index(f"  {name}") for name in NAMES[1:]] == [
        row.index(f"  {cell}") for cell in (*HOLD[1:5], "path")
    ]


def test_a_line_with_nothing_on_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = (*HOLD[:-1], "")
    lines = printed(80, bare, HOLD, monkeypatch=monkeypatch)
    assert lines[2] == "  ".join(bare[:-1])
    assert lines[3] == "  ".join(HOLD[:-1])


def test_a_pipe_gets_one_line_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    long = (*HOLD[:-1], PATH * 10)
    names, row = printed(500, long, monkeypatch=monkeypatch)
    assert names.split() == list(NAMES)
    assert row.endswith(PATH * 10)
