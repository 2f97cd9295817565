import os
import subprocess
import sys

import pytest

from pmcl.ops.console import console
from pmcl.ops.lines import print_lines
from pmcl.ops.rows import print_rows

PROGRAM = """
from rich.table import Table
from pmcl.ops.console import console
table = Table("what")
table.add_row("x" * 300)
console.print(table)
"""


def test_nothing_is_cut_in_a_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env={}
    )
    assert "x" * 300 in done.stdout


def test_what_a_model_wrote_is_shown_as_it_stands() -> None:
    with console.capture() as printed:
        print_lines([("path", "/project/:bug:/[red]x")])
        print_rows(["path"], [["/project/:bug:/[red]x"]])
    assert printed.get().count("/project/:bug:/[red]x") == 2


UNREAD = """
from pmcl.ops import cli
from pmcl.ops.console import print_json
cli.app = lambda **_: print_json("x" * 100)
cli.main()
"""


def test_a_reader_that_has_enough_gets_no_traceback() -> None:
    """Closed at once, as by `| true`: Python ignores SIGPIPE, so the write fails."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", UNREAD]
    with os.fdopen(writing, "wb") as unread:
        done = subprocess.run(
            command, stdout=unread, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "")


def test_in_a_pipe_a_tab_parts_name_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 500)
    with console.capture() as printed:
        print_lines([("hold", "x"), ("lifted by", "words")])
    assert printed.get() == "hold\tx\nlifted by\twords\n"


def test_long_names_leave_room_for_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 60)
    with console.capture() as printed:
        print_lines([("execution: lower risk alternatives", "far " * 20), ("call", "x")])
    lines = printed.get().splitlines()
    assert max(map(len, lines)) <= 60
    assert max(line.index("far") for line in lines if "far" in line) <= 22
