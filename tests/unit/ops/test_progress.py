"""A bar is for who looks at a terminal: it is on its standard error, and nowhere else."""

import os
import subprocess
import sys

import pytest

WORK = """
import sys
from pmcl.ops.progress import progress

with progress("audit", 3, quiet="--json" in sys.argv) as advance:
    for _ in range(3):
        advance(1)
print("sound")
"""


def work(errors: int, *arguments: str) -> str:
    """Return what the work writes on standard output."""
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    command = [sys.executable, "-c", WORK, *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=errors, env=environment, check=True, timeout=30
    )
    return done.stdout.decode()


def all_of(reader: int) -> str:
    parts = []
    try:
        while part := os.read(reader, 4096):
            parts.append(part)
    except OSError:  # so a terminal says that nobody has its other side open any more
        pass
    os.close(reader)
    return b"".join(parts).decode()


@pytest.mark.parametrize(("arguments", "seen"), [((), True), (("--json",), False)])
def test_a_terminal_shows_how_far_it_is_unless_a_program_reads(
    arguments: tuple[str, ...], *, seen: bool
) -> None:
    reader, errors = os.openpty()
    assert work(errors, *arguments) == "sound\n"
    os.close(errors)
    shown = all_of(reader)
    assert ("audit" in shown, "3/3" in shown) == (seen, seen)


def test_a_pipe_gets_nothing_of_it() -> None:
    reader, errors = os.pipe()
    assert work(errors) == "sound\n"
    os.close(errors)
    assert all_of(reader) == ""
