"""`pmcl doctor` on a sidecar that runs, and on one that does not."""

from pathlib import Path
from typing import Any

import pytest

from pmcl.ops import disks, health
from pmcl.ops.cell import run_cell
from pmcl.ops.console import shown_time
from pmcl.ops.doctor import examine
from pmcl.ops.host_add import add_host
from pmcl.ops.record.broken_off import noting
from pmcl.ops.settings import Settings
from pmcl.ops.stopping import stop

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))


async def found(settings: Settings) -> dict[str, dict[str, Any]]:
    report = await examine(settings, settings.state_dir.parent)
    return {finding["check"]: finding for finding in report["findings"]}


async def test_a_sidecar_that_runs_is_well(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    await add_host(settings, "s", "a", (), [tmp_path], None)
    async with run_cell(settings):
        findings = await found(settings)
    states = {name: finding["state"] for name, finding in findings.items() if name != "gateway"}
    assert states.pop("hooks") == "unknown", "no agent has one"
    assert set(states.values()) == {"ok"}, findings
    assert {"streams.INTAKE", "streams.LOG", "streams.DEADLETTERS", "clock.skew"} <= set(states)


async def test_a_stop_is_told_with_who_said_it_and_how_to_go_on(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    await add_host(settings, "s", "a", (), [tmp_path], None)
    async with run_cell(settings):
        before = (await found(settings))["stop"]
        state = await stop(settings)
        finding = (await found(settings))["stop"]
    assert before["state"] == "ok"
    assert finding["state"] == "wrong"
    assert f"since {shown_time(state.since)} by {state.by}" in finding["told"]
    assert "pmcl resume" in finding["remedy"]


async def test_a_backup_that_was_broken_off_is_told(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    settings.state_dir.mkdir()
    left = tmp_path / f".monday.{'0' * 26}"
    with noting(settings.state_dir, tmp_path / "monday"):
        left.mkdir()
    finding = (await found(settings))["backups"]
    assert (finding["state"], str(left) in finding["told"]) == ("wrong", True)
    left.rmdir()
    assert (await found(settings))["backups"]["state"] == "ok"


async def test_a_folder_without_a_sidecar_stays_empty(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "mistyped")
    findings = await found(settings)
    assert findings["files.state_dir"]["state"] == "wrong"
    assert findings["sidecar.running"]["state"] == "wrong"
    assert findings["gateway"]["state"] == "wrong"
    assert all(f["remedy"] for f in findings.values() if f["state"] == "wrong")
    assert not settings.state_dir.exists()


async def test_what_is_open_to_others_is_told(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    path = await add_host(settings, "s", "a", (), [tmp_path], None)
    path.chmod(0o644)
    finding = (await found(settings))["files.private"]
    assert finding["state"] == "wrong"
    assert finding["remedy"] == f"chmod 600 {path}"


async def test_a_full_disk_and_a_wrong_clock_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disks, "FREE_MIN_BYTES", 2**63)
    monkeypatch.setattr(health, "SKEW_MAX_MS", -1)
    settings = Settings(state_dir=tmp_path / "state")
    async with run_cell(settings):
        findings = await found(settings)
    assert findings["disk.space"]["state"] == "wrong"
    assert findings["clock.skew"]["state"] == "wrong"
