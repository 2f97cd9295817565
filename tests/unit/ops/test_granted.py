"""Who registers a host is told what it may do, whether the profile is new or was there."""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

PROFILE = """\
writable_roots = []
network_hosts = ["docs.example"]

[tools]
"files/read" = "grant"
"files/send" = "approve"
"files/drop" = "prohibit"

[effects]
inspect_local = "grant"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


def added(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pmcl.ops", "host", "add", "a", "--scope", "s", *options]
    state_dir = ["--state-dir", str(folder / "state")]
    return subprocess.run(
        [*command, *state_dir],
        capture_output=True,
        text=True,
        cwd=folder / "project",
        timeout=60,
        check=False,
    )


def test_a_new_profile_is_told_whole(folder: Path) -> None:
    profile = folder / "state/credentials/s.a.toml"
    asks = "sensing (asks an operator each time)"
    assert added(folder, "--no-temp").stdout.splitlines() == [
        f"credentials of s/a: {profile.with_suffix('.json')}",
        "Without --root it may write below the current folder.",
        f"what it may do, by {profile}:",
        "  tools         every tool that is not named",
        f"  effects       inspect_local, network, {asks}, mutation, communication, execution",
        f"  writes below  {folder / 'project'}",
        "  network       any host",
        "Edit that file to narrow it; what it does not name is prohibited.",
    ]


def test_temporary_files_may_be_written_and_that_is_said(folder: Path) -> None:
    shown = added(folder).stdout
    roots = dict.fromkeys((folder / "project", Path(tempfile.gettempdir()), Path("/tmp")))
    assert f"  writes below  {', '.join(map(str, roots))}\n" in shown
    assert "It may write temporary files too; --no-temp leaves that out.\n" in shown


def test_a_root_that_is_missing_is_told(folder: Path) -> None:
    shown = added(folder, "--root", "later", "--root", ".", "--no-temp").stdout
    there = folder / "project"
    assert f"  writes below  {there / 'later'} (not there yet), {there}\n" in shown
    assert "Without --root" not in shown


def test_a_profile_that_was_there_is_told_as_it_is(folder: Path) -> None:
    profile = folder / "own.toml"
    profile.write_text(PROFILE)
    shown = added(folder, "--out", str(folder / "own.json")).stdout
    assert "The profile was there and stays as it is" in shown
    assert "  tools         files/read, files/send (asks an operator each time)\n" in shown
    assert "  writes below  no folder\n  network       docs.example\n" in shown
    assert profile.read_text() == PROFILE


def test_programs_are_told_the_same(folder: Path) -> None:
    report = json.loads(added(folder, "--json").stdout)
    assert report["granted"] == tomllib.loads(Path(report["profile"]).read_text())


def test_a_profile_that_does_not_fit_registers_nothing(folder: Path) -> None:
    (folder / "own.toml").write_text("[tools]\n")
    done = added(folder, "--out", str(folder / "own.json"))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"profile {folder / 'own.toml'}: " in done.stderr
    assert not (folder / "own.json").exists()
    assert not (folder / "state/keys").exists()
