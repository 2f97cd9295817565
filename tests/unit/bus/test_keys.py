import errno
import json
import os
import stat
from pathlib import Path

import pytest

from pmcl.bus import DEFAULT_TRUST, Credentials, Keyring, KeyringError, write_private
from pmcl.bus.keys import IDENTITIES, new_seed, public_key
from pmcl.contracts import ContractError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_seeds_are_private_and_stay_the_same(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "keys"
    first = Keyring(directory)
    again = Keyring(directory)

    assert mode(directory) == 0o700
    for identity in IDENTITIES:
        assert mode(directory / f"{identity}.nk") == 0o600
        assert again.public_key(identity) == first.public_key(identity)
    assert len({first.public_key(identity) for identity in IDENTITIES}) == 4
    assert sorted(path.name for path in directory.iterdir()) == [
        "admin.nk",
        "operator.nk",
        "relay.nk",
        "worker.nk",
    ]


def test_a_registered_host_is_known_by_its_public_key(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path)

    seed = keyring.add_host("s", "a")
    keyring.add_host("s", "b", ("model",))

    hosts = Keyring(tmp_path).hosts()
    assert list(hosts) == [("s", "a"), ("s", "b")]
    assert hosts["s", "a"].nkey == public_key(seed)
    assert hosts["s", "a"].trust == DEFAULT_TRUST
    assert "operator" not in DEFAULT_TRUST
    assert hosts["s", "b"].trust == ("model",)
    assert mode(tmp_path / "hosts.json") == 0o600
    assert seed not in (tmp_path / "hosts.json").read_text()
    assert set(json.loads((tmp_path / "hosts.json").read_text())) == {"s/a", "s/b"}


def test_a_host_is_registered_once_and_can_be_removed(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path)
    keyring.add_host("s", "a")

    with pytest.raises(KeyringError, match="s/a"):
        keyring.add_host("s", "a")
    keyring.remove_host("s", "a")

    assert keyring.hosts() == {}
    keyring.add_host("s", "a")


@pytest.mark.parametrize("name", ["", "A", "a.b", "a*", "a>", "a b", 'a"', "a/b", "x" * 65])
def test_a_host_needs_a_token_for_a_name(tmp_path: Path, name: str) -> None:
    keyring = Keyring(tmp_path)

    with pytest.raises(ContractError):
        keyring.add_host("s", name)
    with pytest.raises(ContractError):
        keyring.add_host(name, "a")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"s/a": {"nkey": "UA}, evil: {"}}',
        '{"s/a": {"nkey": "SUAB"}}',
        '{"s/a": {"nkey": "U' + "A" * 55 + '", "trust": ["god"]}}',
    ],
)
def test_a_malformed_registry_is_refused(tmp_path: Path, text: str) -> None:
    keyring = Keyring(tmp_path)
    (tmp_path / "hosts.json").write_text(text)

    with pytest.raises(KeyringError):
        keyring.hosts()


def test_credentials_are_kept_private(tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    credentials = Credentials(url="nats://127.0.0.1:1", scope="s", host="a", seed=new_seed())

    credentials.save(path)
    credentials.save(path)

    assert mode(path) == 0o600
    assert Credentials.load(path) == credentials
    assert set(json.loads(path.read_text())) == {"url", "scope", "host", "seed"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_seed_is_never_shown() -> None:
    credentials = Credentials(url="nats://127.0.0.1:1", scope="s", host="a", seed=new_seed())

    assert credentials.seed not in repr(credentials)
    assert credentials.seed not in repr(credentials.connection_config())


def test_credentials_that_others_can_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    Credentials(url="u", scope="s", host="a", seed=new_seed()).save(path)
    path.chmod(0o640)

    with pytest.raises(KeyringError, match="0640"):
        Credentials.load(path)


@pytest.mark.parametrize("text", [None, "", "{}", '{"url": 1}'])
def test_credentials_that_are_none_are_refused(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "host.json"
    if text is not None:
        path.touch(mode=0o600)
        path.write_text(text)

    with pytest.raises(KeyringError, match=r"host\.json"):
        Credentials.load(path)


def test_a_broken_key_file_is_refused(tmp_path: Path) -> None:
    Keyring(tmp_path)
    (tmp_path / "relay.nk").write_text("SUnonsense")

    with pytest.raises(KeyringError):
        Keyring(tmp_path)


def test_seed_counts_only_as_it_was_made() -> None:
    seed = new_seed()
    other = "A" if seed[-1] != "A" else "B"
    for changed in (seed[:-1] + other, seed[:-2], seed + "=", seed.lower(), f" {seed}", "", "S"):
        with pytest.raises(KeyringError):
            public_key(changed)
    assert public_key(seed).startswith("U")


def test_what_does_not_fit_on_the_disk_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "file"
    write_private(path, b"before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        write_private(path, b"after")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"before"
