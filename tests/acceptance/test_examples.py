"""The examples do what they show, each against a sidecar, with their SDKs as published."""

import subprocess
import sys
import sysconfig
import tomllib
import venv
from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest

from pmcl.bus import find_nats_server
from tests.acceptance.facts import count, rows, until
from tests.acceptance.processes import pmcl
from tests.acceptance.test_demo import embedded
from tests.acceptance.world import clean_environment

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
INSTALL_S = 300
RUN_S = 60


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the SDKs, which are no part of our own environment; it sees ours."""
    place = tmp_path_factory.mktemp("sdks") / "venv"
    venv.create(place, symlinks=True)
    interpreter = place / "bin/python"
    [site_packages] = place.glob("lib/python*/site-packages")
    ours = sysconfig.get_path("purelib")
    site_packages.joinpath("ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = extras["optional-dependencies"]["examples"]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", interpreter)
    install = [*pip, "install", "--quiet", "--no-compile", *wanted]
    subprocess.run(install, check=True, timeout=INSTALL_S, stdin=subprocess.DEVNULL)
    return interpreter


def run(python: Path, example: str, *arguments: str, environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [python, "-W", "error", EXAMPLES / example, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def check_story(lines: list[str]) -> None:
    """A failure, a pass, a hold that the model revises, and nothing sent to the wrong address."""
    calls = [line for line in lines if line.startswith("model calls:")]
    assert [call.split()[2] for call in calls] == [
        "read_file",
        "read_file",
        "send_mail",
        "send_mail",
    ]
    assert "eve@example.net" in calls[2]
    assert "ann@example.com" in calls[3]
    reads = [line for line in lines if line.startswith("model reads:")]
    assert "No such file" in reads[0]
    assert "The release is on Friday." in reads[1]
    assert "PMCL held mail/send_mail" in reads[2]
    assert "grounding.untrusted_value" in reads[2]
    assert "mail sent to ann@example.com" in reads[3]
    assert not any("mail sent to eve" in line for line in lines)
    assert lines[-1].startswith("model: Done: mail sent to ann")


def test_plain_loop_runs_with_a_sidecar_of_its_own() -> None:
    check_story(run(Path(sys.executable), "plain_loop.py", environment=clean_environment()))


@pytest.mark.parametrize("example", ["openai_agents.py", "langgraph_agent.py"])
def test_sdk_runs_with_a_sidecar_of_its_own(python: Path, example: str) -> None:
    environment = clean_environment() | {"PMCL_NATS_SERVER": str(find_nats_server())}
    check_story(run(python, example, environment=environment))


@pytest.mark.anyio
async def test_example_runs_as_a_host_that_is_there(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    environment = clean_environment() | {"PMCL_STATE_DIR": str(state_dir)}
    async with embedded(state_dir):
        added = await pmcl("host", "add", "alice", "--scope", "demo", environment=environment)
        assert added.code == 0, added.stderr
        here = partial(run, Path(sys.executable), "plain_loop.py", "alice", environment=environment)
        check_story(await anyio.to_thread.run_sync(here))

        async def outcomes() -> list[tuple[str, bool]] | None:
            sql = "SELECT status, verified FROM outcomes ORDER BY rowid"
            found = await rows(state_dir / "ledger.sqlite", sql)
            known = [(row["status"], bool(row["verified"])) for row in found]
            return known if sum(verified for _, verified in known) == 2 else None

        expected = [("failed", False), ("succeeded", True), ("succeeded", True)]
        assert sorted(await until(outcomes)) == expected
        assert await count(state_dir / "ledger.sqlite", "turns") == 1
