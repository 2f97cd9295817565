"""A host is registered when its files are written where they may be, or not at all."""

import os
import signal
from pathlib import Path

import msgspec
import pytest

from pmcl.bus import Credentials, Keyring, KeyringError
from pmcl.bus.keys import new_seed
from pmcl.contracts import ContractError, PmclError
from pmcl.hosts import ProfileError
from pmcl.ops.host_add import add_host
from pmcl.ops.host_remove import remove_host
from pmcl.ops.known_hosts import HostNotFoundError, credentials_of, find_credentials, unloaded
from pmcl.ops.misuse import MisuseError
from pmcl.ops.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


def registered(settings: Settings) -> set[tuple[str, str]]:
    return set(Keyring(settings.state_dir / "keys").hosts())


def credentials(scope: str, host: str) -> Credentials:
    return Credentials(url="nats://127.0.0.1:1", scope=scope, host=host, seed=new_seed())


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("other.json", KeyringError, "holds the credentials of s/other: name another file"),
        ("text.json", KeyringError, "not a credentials file"),
        ("folder.json", KeyringError, "is there and no file"),
        ("pipe.json", KeyringError, "is there and no file"),
        ("a.toml", MisuseError, r"out is '.*a\.toml', allowed: a file whose name ends in .json"),
        ("a", MisuseError, "allowed: a file whose name ends in .json"),
        ("piped.json", ProfileError, "it is no file"),
        ("text.json/a.json", OSError, "File exists"),
    ],
)
async def test_what_is_not_the_hosts_own_stays_and_nothing_is_registered(
    name: str, error: type[PmclError], told: str, settings: Settings, tmp_path: Path
) -> None:
    credentials("s", "other").save(tmp_path / "other.json")
    (tmp_path / "text.json").write_text("mine")
    (tmp_path / "text.json").chmod(0o600)
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    os.mkfifo(tmp_path / "piped.toml")
    before = (tmp_path / "other.json").read_bytes()
    with pytest.raises(error, match=told):
        await add_host(settings, "s", "a", (), [tmp_path], tmp_path / name)
    assert (tmp_path / "other.json").read_bytes() == before
    assert (tmp_path / "text.json").read_text() == "mine"
    assert registered(settings) == set()


async def test_a_host_whose_files_cannot_be_written_is_not_registered(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Credentials, path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Credentials, "save", full)
        with pytest.raises(OSError, match="No space left"):
            await add_host(settings, "s", "a", (), [tmp_path], None)
    assert registered(settings) == set()
    assert "s/a" not in (settings.state_dir / "nats" / "nats-server.conf").read_text()
    assert not credentials_of(settings, "s", "a").with_suffix(".toml").exists()
    await add_host(settings, "s", "a", (), [tmp_path], None)
    assert registered(settings) == {("s", "a")}


async def test_a_name_that_does_not_fit_makes_nothing(settings: Settings, tmp_path: Path) -> None:
    for scope, host in (("S", "a"), ("s", "A"), ("s", "")):
        with pytest.raises(ContractError, match="allowed: 1 to 64"):
            await add_host(settings, scope, host, (), [tmp_path], None)
    assert not settings.state_dir.exists()


async def test_credentials_of_its_own_are_replaced(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    await add_host(settings, "s", "a", (), [tmp_path], path)
    old = Credentials.load(path).seed
    assert await remove_host(settings, "s", "a") is None
    await add_host(settings, "s", "a", (), [tmp_path], path)
    assert Credentials.load(path).seed != old


async def test_a_removed_host_is_not_found_any_more(settings: Settings, tmp_path: Path) -> None:
    for name in ("gone", "left"):
        await add_host(settings, "s", name, (), [tmp_path], None)
    path = credentials_of(settings, "s", "gone")
    assert await remove_host(settings, "s", "gone") == path
    assert not path.exists()
    assert path.with_suffix(".toml").exists()
    assert find_credentials(settings, None) == credentials_of(settings, "s", "left")
    with pytest.raises(HostNotFoundError, match="but s/left"):
        find_credentials(settings, "gone")


async def test_a_server_of_the_operators_own_finds_the_host_gone(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = msgspec.structs.replace(
        settings, server_url="nats://127.0.0.1:1", server_monitor_url="http://127.0.0.1:1"
    )
    await add_host(own, "s", "a", (), [tmp_path], None)
    nkey = Keyring(own.state_dir / "keys").hosts()["s", "a"].nkey
    configuration = unloaded(own)
    assert configuration is not None
    assert nkey in configuration.read_text()
    signalled: list[tuple[int, int]] = []
    monkeypatch.setattr("pmcl.ops.host_remove.running_pid", lambda _: 4711)
    monkeypatch.setattr("pmcl.ops.host_remove.os.kill", lambda *what: signalled.append(what))
    await remove_host(own, "s", "a")
    assert nkey not in configuration.read_text()
    assert signalled == [(4711, signal.SIGHUP)]  # for the gateway, which reads the registry
    assert unloaded(settings) is None


async def test_credentials_of_another_key_stay(settings: Settings, tmp_path: Path) -> None:
    path = await add_host(settings, "s", "a", (), [tmp_path], None)
    credentials("s", "a").save(path)
    assert await remove_host(settings, "s", "a") is None
    assert path.exists()
