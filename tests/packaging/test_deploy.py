"""The container files hold what docs/ops/deploy.md says of them; the health check is tried."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = msgspec.yaml.decode((ROOT / "compose.yaml").read_bytes())
SIDECAR: dict[str, Any] = COMPOSE["services"]["pmcl"]
STATE_DIR = "/var/lib/pmcl"
TIMEOUT_S = 30


def check_schema(path: Path) -> subprocess.CompletedProcess[str]:
    schema = Path(sys.executable).parent / "check-jsonschema"
    command = [str(schema), "--builtin-schema", "vendor.compose-spec", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def test_compose_fits_the_schema(tmp_path: Path) -> None:
    done = check_schema(ROOT / "compose.yaml")
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_bytes(msgspec.yaml.encode({"services": {"pmcl": SIDECAR | {"read_onlyy": True}}}))
    assert check_schema(wrong).returncode == 1


def test_the_container_may_do_no_more_than_it_needs() -> None:
    assert SIDECAR["read_only"] is True
    assert SIDECAR["cap_drop"] == ["ALL"]
    assert SIDECAR["security_opt"] == ["no-new-privileges:true"]
    assert not SIDECAR.keys() & {"cap_add", "devices", "pid", "privileged", "user"}
    user = re.findall(r"^USER (.*)$", DOCKERFILE, re.M)[-1]
    assert all(int(number) > 0 for number in user.split(":"))


def test_nothing_is_published_beyond_the_loopback() -> None:
    """Everything listens on 127.0.0.1 by itself, so the machine's network may be shared."""
    assert SIDECAR["network_mode"] == "host"
    assert not SIDECAR.keys() & {"ports", "expose", "networks"}
    assert "EXPOSE" not in DOCKERFILE
    assert not [name for name in SIDECAR["environment"] if name.startswith("PMCL_SERVER")]


def test_what_is_written_lies_in_declared_volumes() -> None:
    mounted = dict(volume.split(":") for volume in SIDECAR["volumes"])
    assert mounted.keys() == COMPOSE["volumes"].keys()
    [made] = re.findall(r"^RUN install -d -m 0700 -o 10001 -g 10001 (.*)$", DOCKERFILE, re.M)
    assert sorted(mounted.values()) == sorted(made.split())
    assert f"PMCL_STATE_DIR={STATE_DIR} " in DOCKERFILE
    assert STATE_DIR in mounted.values()


def test_the_image_gets_what_the_wheel_is_built_from_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {path.split("/")[0] for path in project["tool"]["setuptools"]["package-dir"].values()}
    let_in = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert let_in == folders | {"pyproject.toml", project["project"]["readme"]}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PMCL_") or name == "PMCL_NATS_SERVER"
    }
    return {**clean, "PMCL_STATE_DIR": str(tmp_path)}


def health(state_dir: Path) -> int:
    """The exit code of the image's health check, with another state folder."""
    [found] = re.findall(r"^HEALTHCHECK .*\\\n +CMD (\[.*\])$", DOCKERFILE, re.M)
    python, *arguments = msgspec.json.decode(found, type=list[str])
    assert python == "python"
    command = [sys.executable, *(part.replace(STATE_DIR, str(state_dir)) for part in arguments)]
    assert str(state_dir) in command[-1]
    return subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False).returncode


def test_health_check_tells_a_sidecar_that_runs(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    assert health(tmp_path) == 1
    command = [sys.executable, "-m", "pmcl.ops", "up"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()
            assert health(tmp_path) == 0
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)
    assert health(tmp_path) == 1
