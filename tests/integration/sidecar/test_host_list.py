"""Who may connect is listed with the lease and the key of each, and without a secret."""

import re
from pathlib import Path

import msgspec
import pytest

from pmcl.bus import Credentials, Keyring, KeyringError
from pmcl.bus.keys import new_seed
from pmcl.contracts import sha256
from pmcl.hosts import Host, load_host
from pmcl.ops.cell import run_cell
from pmcl.ops.console import console
from pmcl.ops.hook_checks import check_hooks, hooks_of
from pmcl.ops.hooks import install_hook
from pmcl.ops.host_add import add_host
from pmcl.ops.host_list import list_hosts, show_hosts
from pmcl.ops.host_remove import remove_host
from pmcl.ops.known_hosts import HostNotFoundError, credentials_of
from pmcl.ops.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


async def test_a_host_is_listed_with_its_lease_and_its_key(
    settings: Settings, tmp_path: Path
) -> None:
    path = await add_host(settings, "demo", "busy", (), [tmp_path], None)
    await add_host(settings, "demo", "away", (), [tmp_path], tmp_path / "away.json")
    async with run_cell(settings):
        async with Host.connect(load_host(path, settings.state_dir)) as host:
            generation = host.generation
            away, busy = await list_hosts(settings)
        with console.capture() as printed:
            show_hosts([away, busy])
    assert (busy.host, busy.generation, busy.lease) == ("busy", generation, "live")
    assert busy.heard_at is not None
    assert (busy.credentials, busy.profile) == ("here", str(path.with_suffix(".toml")))
    assert (away.generation, away.lease, away.heard_at) == (None, "never", None)
    assert (away.credentials, away.profile) == ("elsewhere", None)
    entry = Keyring(settings.state_dir / "keys").hosts()["demo", "busy"]
    assert busy.fingerprint == sha256(entry.nkey.encode())[:16]
    shown = printed.get() + msgspec.json.encode([away, busy]).decode()
    assert busy.fingerprint in shown
    assert f"{generation} live" in shown
    assert Credentials.load(path).seed not in shown
    assert not re.search(r"\bS[A-Z2-7]{57}\b", shown)


async def test_credentials_that_do_not_fit_are_told(settings: Settings, tmp_path: Path) -> None:
    for name in ("replaced", "unreadable"):
        await add_host(settings, "demo", name, (), [tmp_path], None)
    path = credentials_of(settings, "demo", "replaced")
    msgspec.structs.replace(Credentials.load(path), seed=new_seed()).save(path)
    credentials_of(settings, "demo", "unreadable").write_text("{")
    replaced, unreadable = await list_hosts(settings)
    assert (replaced.credentials, unreadable.credentials) == ("another key", "unusable")


async def test_a_state_of_the_credentials_is_explained_once(
    settings: Settings, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        await add_host(settings, "demo", name, (), [tmp_path], tmp_path / f"{name}.json")
    await add_host(settings, "demo", "three", (), [tmp_path], None)
    with console.capture() as printed:
        show_hosts(await list_hosts(settings))
    explained = [line for line in printed.get().splitlines() if line.startswith("credentials ")]
    [line] = explained
    assert line.startswith("credentials elsewhere: none in the state folder")


async def test_a_folder_without_hosts_stays_empty(settings: Settings) -> None:
    assert await list_hosts(settings) == []
    assert not settings.state_dir.exists()
    with console.capture() as printed:
        show_hosts([])
    assert "pmcl host add" in printed.get()


async def test_a_registry_that_is_broken_is_a_clear_error(
    settings: Settings, tmp_path: Path
) -> None:
    await add_host(settings, "demo", "one", (), [tmp_path], None)
    (settings.state_dir / "keys" / "hosts.json").write_text("[]")
    with pytest.raises(KeyringError, match=r"hosts\.json"):
        await list_hosts(settings)


async def test_a_host_that_is_removed_is_not_listed(settings: Settings, tmp_path: Path) -> None:
    for name in ("gone", "left"):
        await add_host(settings, "demo", name, (), [tmp_path], None)
    await remove_host(settings, "demo", "gone")
    assert [each.host for each in await list_hosts(settings)] == ["left"]
    for scope, host in (("demo", "gone"), ("other", "left")):
        with pytest.raises(HostNotFoundError, match=f"{scope}/{host} is not registered"):
            await remove_host(settings, scope, host)


async def test_removing_makes_nothing_in_a_folder_that_was_mistyped(settings: Settings) -> None:
    with pytest.raises(HostNotFoundError, match="pmcl host list"):
        await remove_host(settings, "demo", "gone")
    assert not settings.state_dir.exists()


async def test_a_hook_of_a_removed_host_is_told_with_what_to_do(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    project = tmp_path / "project"
    path = await add_host(settings, "demo", "coder", (), [tmp_path], None)
    install_hook(settings, "claude-code", None, project, dry_run=False)
    assert await remove_host(settings, "demo", "coder") == path
    uninstall = f"pmcl hook uninstall --agent claude-code --project {project}"
    assert [*hooks_of(path.absolute(), project)] == [uninstall]
    assert [*hooks_of(tmp_path / "another.json", project)] == []
    found = [each for each in check_hooks(settings, project) if each.check == "hooks.claude-code"]
    (gone,) = [each for each in found if str(path) in each.told]
    assert "every call is blocked" in gone.told
    assert "--host NAME, or " + uninstall in gone.remedy
