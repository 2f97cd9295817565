from pathlib import Path

import pytest

from pmcl.bus import Credentials, KeyringError
from pmcl.contracts import ContractError
from pmcl.hosts import ProfileError, new_profile
from pmcl.hosts.hooks import agent_named, installed, paths_in
from pmcl.ops.hooks import install_hook, uninstall_hook
from pmcl.ops.known_hosts import HostNotFoundError, credentials_dir
from pmcl.ops.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(state_dir=tmp_path / "state")
    path = credentials_dir(settings) / "s.a.json"
    path.parent.mkdir(parents=True)
    Credentials(url="nats://127.0.0.1:1", scope="s", host="a", seed="SU").save(path)
    path.with_suffix(".toml").write_text(new_profile([tmp_path]))
    return settings


def test_the_hook_is_installed_for_the_host_that_is_named(
    settings: Settings, tmp_path: Path
) -> None:
    report = install_hook(settings, "codex", "s/a", tmp_path, dry_run=False)
    assert report["changed"]
    assert "/hooks" in report["advice"]
    found = installed(agent_named("codex"), tmp_path)
    assert {paths_in(command).credentials for _, command in found} == {
        credentials_dir(settings) / "s.a.json"
    }
    assert {paths_in(command).gateway for _, command in found} == {
        settings.state_dir / "gateway.json"
    }
    again = install_hook(settings, "codex", "s/a", tmp_path, dry_run=False)
    assert (again["changed"], again["diff"]) == (False, "")


def test_a_dry_run_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    report = install_hook(settings, "gemini", None, tmp_path, dry_run=True)
    assert not report["changed"]
    assert "BeforeTool" in report["diff"]
    assert not (tmp_path / ".gemini").exists()


def test_uninstalling_says_what_was_kept(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"theme": "dark"}')
    install_hook(settings, "gemini", None, tmp_path, dry_run=False)
    report = uninstall_hook("gemini", tmp_path, dry_run=False)
    assert Path(report["backup"]).read_text().count("pmcl-hook") == 6
    assert not uninstall_hook("gemini", tmp_path, dry_run=False)["changed"]


def test_uninstalling_leaves_no_file_that_was_not_there(settings: Settings, tmp_path: Path) -> None:
    installed = install_hook(settings, "claude-code", None, tmp_path, dry_run=False)
    file = tmp_path / ".claude" / "settings.local.json"
    assert installed["settings"] == str(file)
    shown = uninstall_hook("claude-code", tmp_path, dry_run=True)
    assert (shown["removed"], file.exists()) == (False, True)
    report = uninstall_hook("claude-code", tmp_path, dry_run=False)
    assert (report["removed"], report["backup"]) == (True, None)
    assert [*file.parent.iterdir()] == []


def test_a_host_whose_files_cannot_be_used_is_not_installed(
    settings: Settings, tmp_path: Path
) -> None:
    credentials = credentials_dir(settings) / "s.a.json"
    profile = credentials.with_suffix(".toml")
    text = profile.read_text()
    profile.write_text("nonsense")
    with pytest.raises(ProfileError):
        install_hook(settings, "codex", None, tmp_path, dry_run=False)
    profile.write_text(text)
    credentials.chmod(0o644)
    with pytest.raises(KeyringError):
        install_hook(settings, "codex", None, tmp_path, dry_run=False)
    with pytest.raises(HostNotFoundError):
        install_hook(settings, "codex", "nobody", tmp_path, dry_run=False)
    with pytest.raises(ContractError, match="claude-code, codex, gemini"):
        install_hook(settings, "cursor", None, tmp_path, dry_run=False)
    assert not (tmp_path / ".codex").exists()
