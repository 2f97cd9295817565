"""A file of an identity is read whole or told by what is wrong with it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pmcl.ops.identity import IdentityFileError, read_identity


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[name", "it is no TOML: Expected"),
        (b"\xff", "it is no TOML: 'utf-8' codec"),
        (b"#" * (1024 * 1024 + 1), "has more than 1048576 bytes"),
        (b"text = 'x'", r"\$ does not fit, allowed: the required field name"),
        (b"name = 1", r"\$.name does not fit, allowed: text, not a whole number"),
        (b"name = 'a'\ntitle = 'b'", "'title' is no part, allowed: name, text, ideal_self"),
    ],
)
def test_what_does_not_fit_is_told(content: bytes, told: str, tmp_path: Path) -> None:
    file = tmp_path / "identity.toml"
    file.write_bytes(content)
    with pytest.raises(IdentityFileError, match=f"{file}:? {told}"):
        read_identity(file)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    for file, told in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file")):
        with pytest.raises(IdentityFileError, match=f"{file}: {told}"):
            read_identity(file)


def test_waiting_for_a_pipe_ends_with_an_interrupt(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = ("identity", "set", "s", str(pipe), "--state-dir", str(tmp_path))
    command = [sys.executable, "-m", "pmcl.ops", *words]
    with subprocess.Popen(command) as waiting, pipe.open("wb"):  # it opens when the command reads
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(timeout=30) == 130
