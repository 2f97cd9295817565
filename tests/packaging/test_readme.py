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


def blocks(kind: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", (ROOT / page).read_text(), re.S | re.M)


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


def run(command: list[str], cwd: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("sidecar")
def test_example_runs_as_it_stands(tmp_path: Path, environment: dict[str, str]) -> None:
    [commands] = [block for block in blocks("") if block.startswith("pmcl up &\n")]
    [program] = blocks("python")
    run(commands.removeprefix("pmcl up &\n").split(), tmp_path, environment)
    printed = run([sys.executable, "-c", program], tmp_path, environment)
    assert "passed The release is on Friday." in printed


@pytest.mark.usefixtures("sidecar")
def test_python_page_runs_as_it_stands(tmp_path: Path, environment: dict[str, str]) -> None:
    [command] = re.findall(r"`(pmcl host add .*?)`", (ROOT / "docs/python.md").read_text())
    [program] = blocks("python", "docs/python.md")
    (tmp_path / "notes.txt").write_text("The release is late.")
    run(command.split(), tmp_path, environment)
    held, read, written = run([sys.executable, "-c", program], tmp_path, environment).splitlines()
    assert held.startswith("('plan.unmitigated',) ")
    assert (read, written) == ("The release is late.", "6 characters")
    assert (tmp_path / "notes.txt").read_text() == "Friday"


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
