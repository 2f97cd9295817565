"""Ctrl-C while `pmcl` is still loading its own modules."""

import signal
import subprocess
import sys

import pytest

_INTERRUPTED = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "cyclopts":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
signal.signal(signal.SIGINT, signal.{handler})
sys.argv = ["pmcl", "--version"]
from pmcl.ops.start import main
main()
"""


def _start(handler: str) -> "subprocess.CompletedProcess[str]":
    program = _INTERRUPTED.format(handler=handler)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_an_interrupt_among_the_imports_ends_without_a_word() -> None:
    ended = _start("default_int_handler")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    went_on = _start("SIG_IGN")
    assert (went_on.returncode, went_on.stderr) == (0, "")
    assert went_on.stdout


def test_modules_that_are_loaded_are_ended_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    from pmcl.ops import cli, start

    heard: list[object] = []
    monkeypatch.setattr(cli, "main", lambda: heard.append(signal.getsignal(signal.SIGINT)))
    start.main()
    assert heard == [signal.default_int_handler]
