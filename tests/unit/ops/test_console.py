import subprocess
import sys

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
