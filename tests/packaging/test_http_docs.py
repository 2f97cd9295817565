"""The examples of docs/http.md run as they stand, and answer what stands below them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.hosts.gateway.operations import OPERATIONS

DOCS = Path(__file__).parents[2] / "docs/http.md"
TIMEOUT_S = 30
ANY = "…"
_MARK = "@@@"


def examples() -> Iterator[tuple[str, Any]]:
    """Each piece of shell with the JSON that follows it, if any does."""
    found = re.findall(r"^```(sh|json)\n(.*?)^```$", DOCS.read_text(), re.S | re.M)
    following = [*found[1:], ("", "")]
    for (kind, text), (next_kind, next_text) in zip(found, following, strict=True):
        if kind == "sh":
            yield text, msgspec.json.decode(next_text) if next_kind == "json" else None


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A sidecar that runs, and knows demo/alice."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PMCL_") or name == "PMCL_NATS_SERVER"
    }
    environment = {**clean, "PMCL_STATE_DIR": str(tmp_path / "state")}
    command = [sys.executable, "-m", "pmcl.ops"]
    subprocess.run(
        [*command, "host", "add", "alice", "--scope", "demo", "--root", str(tmp_path)],
        env=environment,
        check=True,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    with subprocess.Popen(
        [*command, "up"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()
            yield environment
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)


def test_examples_answer_what_they_show(environment: dict[str, str]) -> None:
    shown = list(examples())
    script = "set -eu\n" + f"\necho '{_MARK}'\n".join(text for text, _ in shown)
    done = subprocess.run(
        ["bash", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(_MARK)
    assert len(printed) == len(shown)
    answers = [(text, expected) for text, (_, expected) in zip(printed, shown, strict=True)]
    assert sum(1 for _, expected in answers if expected is not None) >= 8
    for text, expected in answers:
        if expected is not None:
            fits(msgspec.json.decode(text), expected)


def fits(answer: dict[str, Any], expected: dict[str, Any]) -> None:
    assert answer.keys() == expected.keys()
    assert {name: value for name, value in answer.items() if expected[name] != ANY} == {
        name: value for name, value in expected.items() if value != ANY
    }


def test_every_route_is_in_the_table() -> None:
    table = re.findall(r"^\| `.*", DOCS.read_text(), re.M)
    told = " ".join(table)
    for operation in OPERATIONS:
        leaf = operation.path if operation.path in told else "/" + operation.path.split("/")[-1]
        assert leaf in told, operation.path
