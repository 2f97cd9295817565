"""Each identity has its own nkey; a seed lies in one file that only its owner can read.

A key file is complete or absent: it is written beside its place and then linked or renamed there.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Annotated, Final, Literal

import msgspec
import nkeys

from pmcl.bus.config import ConnectionConfig
from pmcl.bus.errors import KeyringError
from pmcl.contracts import CELL_SCOPE, ContractError, TrustLabel, check_token, inbox_prefix

__all__ = [
    "DEFAULT_TRUST",
    "IDENTITIES",
    "Credentials",
    "HostEntry",
    "Identity",
    "Keyring",
    "new_seed",
    "public_key",
    "write_private",
]

Identity = Literal["admin", "operator", "relay", "worker"]
IDENTITIES: Final[tuple[Identity, ...]] = ("admin", "operator", "relay", "worker")
DEFAULT_TRUST: Final[tuple[TrustLabel, ...]] = (
    "user",
    "tool_output",
    "web",
    "document",
    "environment",
    "model",
    "sensor",
    "imported",
)
"""What a host may assert if nothing else was said: every label but `operator`."""


def new_seed() -> str:
    """Return the seed of a new user key."""
    return str(nkeys.encode_seed(token_bytes(32), nkeys.PREFIX_BYTE_USER).decode())


def public_key(seed: str) -> str:
    """Return the public key that belongs to `seed`.

    Raises:
        KeyringError: not a seed, or not as it was made: its checksum counts.
    """
    try:
        encoded = bytearray(seed.encode())
        prefix, secret = nkeys.decode_seed(encoded)
        if nkeys.encode_seed(bytes(secret), prefix) != encoded:
            raise KeyringError("this is not an nkey seed as it was made")
        return str(nkeys.from_seed(encoded).public_key.decode())
    except (nkeys.NkeysError, ValueError) as error:
        raise KeyringError("this is not an nkey seed") from error


class HostEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What the sidecar knows of a host: its public key and the labels it may assert."""

    nkey: Annotated[str, msgspec.Meta(pattern=r"^U[A-Z2-7]{55}\Z")]
    trust: tuple[TrustLabel, ...] = DEFAULT_TRUST


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """All that a host needs to connect; on disk JSON, mode 0600."""

    url: str
    scope: str
    host: str
    seed: str

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r}, scope={self.scope!r}, host={self.host!r})"

    def connection_config(self) -> ConnectionConfig:
        """Return the configuration of this host's connection."""
        return ConnectionConfig(
            url=self.url,
            seed=self.seed,
            inbox_prefix=inbox_prefix(self.scope, self.host),
            name=f"{self.scope}/{self.host}",
        )

    def save(self, path: Path) -> None:
        """The file is there, whole, mode 0600; an older one is replaced."""
        write_private(path, msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """Return the credentials in `path`.

        Raises:
            KeyringError: missing, malformed, or readable by others.
        """
        try:
            return msgspec.json.decode(_read_private(path), type=cls)
        except msgspec.DecodeError as error:
            raise KeyringError(f"{path}: not a credentials file: {error}") from error


class Keyring:
    """The seeds of the sidecar's own identities and the public keys of its hosts.

    The directory has mode 0700; missing seeds are made. `hosts.json` holds
    `{"scope/host": {"nkey": ..., "trust": [...]}}`, public keys only.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.chmod(0o700)
        self._seeds = {identity: self._seed(identity) for identity in IDENTITIES}

    def public_key(self, identity: Identity) -> str:
        """Return the public key of one of the sidecar's identities."""
        return public_key(self._seeds[identity])

    def connection_config(self, identity: Identity, url: str) -> ConnectionConfig:
        """Return the configuration of the identity's connection to `url`."""
        return ConnectionConfig(
            url=url,
            seed=self._seeds[identity],
            inbox_prefix=f"_INBOX.{identity}",
            name=identity,
        )

    def hosts(self) -> Mapping[tuple[str, str], HostEntry]:
        """Return the registered hosts by scope and host, as the file says now.

        Raises:
            KeyringError: the registry is malformed.
        """
        return dict(sorted(self._hosts().items()))

    def add_host(self, scope: str, host: str, trust: tuple[TrustLabel, ...] = DEFAULT_TRUST) -> str:
        """The host is registered; its seed is returned and kept nowhere. Raises as `add_hosts`."""
        (seed,) = self.add_hosts([(scope, host)], trust)
        return seed

    def add_hosts(
        self, names: Sequence[tuple[str, str]], trust: tuple[TrustLabel, ...] = DEFAULT_TRUST
    ) -> list[str]:
        """All hosts, (scope, host) each, are registered, or none; their seeds are returned.

        Raises:
            ContractError: a scope or host is not a token, or the scope is the sidecar's own.
            KeyringError: a host is registered already.
        """
        for scope, host in names:
            check_token("scope", scope)
            check_token("host", host)
            if scope == CELL_SCOPE:
                raise ContractError("scope", scope, "a scope of hosts, not the sidecar's own")
        seeds = [new_seed() for _ in names]
        with self._locked():
            hosts = self._hosts()
            for name, seed in zip(names, seeds, strict=True):
                if name in hosts:
                    raise KeyringError(f"host {name[0]}/{name[1]} is registered already")
                hosts[name] = HostEntry(nkey=public_key(seed), trust=trust)
            self._write_hosts(hosts)
        return seeds

    def remove_host(self, scope: str, host: str) -> None:
        """The host is not registered; its key opens nothing after the next reload."""
        with self._locked():
            hosts = self._hosts()
            hosts.pop((scope, host), None)
            self._write_hosts(hosts)

    @property
    def _registry(self) -> Path:
        return self.directory / "hosts.json"

    def _hosts(self) -> dict[tuple[str, str], HostEntry]:
        if not self._registry.exists():
            return {}
        try:
            entries = msgspec.json.decode(self._registry.read_bytes(), type=dict[str, HostEntry])
        except msgspec.DecodeError as error:
            raise KeyringError(f"{self._registry}: {error}") from error
        hosts = {}
        for name, entry in entries.items():
            scope, _, host = name.partition("/")
            hosts[check_token("scope", scope), check_token("host", host)] = entry
        return hosts

    def _write_hosts(self, hosts: Mapping[tuple[str, str], HostEntry]) -> None:
        named = {f"{scope}/{host}": entry for (scope, host), entry in sorted(hosts.items())}
        write_private(
            self._registry, msgspec.json.format(msgspec.json.encode(named), indent=2) + b"\n"
        )

    def _seed(self, identity: Identity) -> str:
        path = self.directory / f"{identity}.nk"
        if not path.exists():
            _create(path, new_seed().encode() + b"\n")
        seed = _read_private(path).decode().strip()
        public_key(seed)
        return seed

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _read_private(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if mode & 0o077:
            raise KeyringError(f"{path}: mode is {mode & 0o777:04o}, allowed: 0600")
        return path.read_bytes()
    except OSError as error:
        raise KeyringError(f"{path}: {error.strerror}") from error


def _write_beside(path: Path, data: bytes) -> Path:
    beside = path.with_name(f".{path.name}.{token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        beside.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error
    return beside


def _create(path: Path, data: bytes) -> None:
    """The file exists, whole; one that was there first stays as it is."""
    beside = _write_beside(path, data)
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink()


def write_private(path: Path, data: bytes) -> None:
    """The file is there, whole, mode 0600; an older one is replaced."""
    _write_beside(path, data).replace(path)
