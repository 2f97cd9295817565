import subprocess
import sys

import pytest

_PROGRAM = """
import sys

import anyio
from blockbuster import blockbuster_ctx

from pmcl.hosts.redacting import ready_to_redact
from pmcl.judgement import redact

TOLD = {told!r}


async def main() -> None:
    if {ready}:
        await ready_to_redact(TOLD)
    redact(TOLD, b"k")
    print("detect_secrets" in sys.modules)


with blockbuster_ctx():
    anyio.run(main)
"""
_SECRET = "SG." + "a" * 22 + "." + "b" * 43


def _ran(told: object, *, ready: bool) -> "subprocess.CompletedProcess[str]":
    """Run in a new process: in this one the detector may be loaded already."""
    program = _PROGRAM.format(told=told, ready=ready)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("told", "loaded"),
    [({"a": [f"see {_SECRET}"]}, "True"), ({"password": "x", "to": "bob@example.com"}, "False")],
)
def test_detector_is_loaded_only_when_due_and_beside_the_loop(told: object, loaded: str) -> None:
    ran = _ran(told, ready=True)
    assert (ran.returncode, ran.stdout.strip()) == (0, loaded), ran.stderr


def test_loading_it_inside_the_loop_would_block() -> None:
    assert "BlockingError" in _ran({"a": _SECRET}, ready=False).stderr


def test_what_is_no_json_needs_no_detector() -> None:
    assert _ran({"a": 1j}, ready=True).returncode == 0
