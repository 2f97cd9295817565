"""What the README and the docs say is so: the example runs, the settings are the settings."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pmcl.ops.settings import Settings

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 30


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", (ROOT / "README.md").read_text(), re.S | re.M)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PMCL_") or name == "PMCL_NATS_SERVER"
    }
    return {**clean, "XDG_STATE_HOME": str(tmp_path / "home"), "PATH": beside}


@pytest.fixture
def sidecar(tmp_path: Path, environment: dict[str, str]) -> Iterator[None]:
    """The sidecar of the README's first lines, ready."""
    with subprocess.Popen(
        ["pmcl", "up"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()
            yield
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)


@pytest.mark.usefixtures("sidecar")
def test_example_runs_as_it_stands(tmp_path: Path, environment: dict[str, str]) -> None:
    [commands] = [block for block in blocks("") if block.startswith("pmcl up &\n")]
    [program] = blocks("python")
    (tmp_path / "notes.txt").write_text("The release is on Friday.")
    printed = ""
    for command in (
        commands.removeprefix("pmcl up &\n").split(),
        [sys.executable, "-c", program],
    ):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    assert "passed The release is on Friday." in printed


def test_documented_settings_are_the_settings() -> None:
    documented = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text(), re.M)
    assert documented == [field.name for field in msgspec.structs.fields(Settings)]


def test_documented_defaults_are_the_defaults() -> None:
    rows = re.findall(
        r"^\| `(\w+)` .*\| `?(\w+)`? \|$", (ROOT / "docs/settings.md").read_text(), re.M
    )
    known = Settings(state_dir=Path("unused"))
    documented = {name: default for name, default in rows if default != "unset"}
    assert len(documented) >= 6
    assert documented == {name: str(getattr(known, name)) for name in documented}
