"""`pmcl host add`: a key for one host, and a running sidecar that accepts it."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio.to_thread

from pmcl.bus import (
    DEFAULT_TRUST,
    Credentials,
    Keyring,
    KeyringError,
    ServerConfig,
    open_connection,
    prepare_server,
)
from pmcl.contracts import TrustLabel, check_token
from pmcl.hosts import load_profile, new_profile, profile_path
from pmcl.ops.known_hosts import credentials_of
from pmcl.ops.misuse import MisuseError
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid

__all__ = ["add_host", "register_hosts"]

_ACCEPTED_S: Final = 10.0


async def add_host(
    settings: Settings,
    scope: str,
    host: str,
    trust: tuple[TrustLabel, ...],
    roots: Sequence[Path],
    out: Path | None,
) -> Path:
    """Return the credentials file of a new host; a running sidecar accepts it from now on.

    Its profile lies beside it and grants writing below `roots`; one that is there stays as it is.

    Raises:
        ContractError: scope or host does not fit.
        MisuseError: the name of the file does not.
        KeyringError: the host is registered already, or the file is there and not this host's.
        ProfileError: a profile is there and does not fit.
        OSError: the files cannot be written; as with all of the above, nothing is registered.
        BusTimeoutError: the running sidecar did not accept the key within 10 s.
    """
    check_token("scope", scope)
    check_token("host", host)
    path = credentials_of(settings, scope, host) if out is None else out
    await anyio.to_thread.run_sync(_check_place, path, scope, host)
    credentials = await anyio.to_thread.run_sync(
        _registered, settings, (scope, host), trust or DEFAULT_TRUST, path, roots
    )
    pid = running_pid(settings.state_dir)
    if pid is not None:
        os.kill(pid, signal.SIGHUP)
        if settings.server_url is None:
            async with open_connection(credentials.connection_config()) as connection:
                await connection.wait_ready(_ACCEPTED_S)
    return path


def register_hosts(
    settings: Settings,
    scopes: Sequence[str],
    host: str,
    trust: tuple[TrustLabel, ...] = DEFAULT_TRUST,
) -> list[Credentials]:
    """Return credentials of a new host in each scope, registered with the state directory."""
    settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    keyring = Keyring(settings.state_dir / "keys")
    seeds = keyring.add_hosts([(scope, host) for scope in scopes], trust)
    ports = prepare_server(ServerConfig(state_dir=settings.state_dir / "nats"), keyring)
    url = settings.server_url or ports.url
    return [
        Credentials(url=url, scope=scope, host=host, seed=seed)
        for scope, seed in zip(scopes, seeds, strict=True)
    ]


def _check_place(path: Path, scope: str, host: str) -> None:
    """The host's files may be written there: what they would replace is its own."""
    if path.suffix != ".json":
        raise MisuseError(f"out is {str(path)!r}, allowed: a file whose name ends in .json")
    if path.is_file():
        found = Credentials.load(path)
        if (found.scope, found.host) != (scope, host):
            whose = f"the credentials of {found.scope}/{found.host}"
            raise KeyringError(f"{path} holds {whose}: name another file with --out")
    elif os.path.lexists(path):
        raise KeyringError(f"{path} is there and no file: name another one with --out")
    if os.path.lexists(profile_path(path)):
        load_profile(profile_path(path))


def _registered(
    settings: Settings,
    name: tuple[str, str],
    trust: tuple[TrustLabel, ...],
    path: Path,
    roots: Sequence[Path],
) -> Credentials:
    """Return what was written for a host that is registered now; without its files it is not."""
    scope, host = name
    (credentials,) = register_hosts(settings, [scope], host, trust)
    try:
        _save(credentials, path, roots)
    except OSError:
        keyring = Keyring(settings.state_dir / "keys")
        keyring.remove_host(scope, host)
        prepare_server(ServerConfig(state_dir=settings.state_dir / "nats"), keyring)
        raise
    return credentials


def _save(credentials: Credentials, path: Path, roots: Sequence[Path]) -> None:
    """Both files are there, or no new one is."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    profile = profile_path(path)
    is_new = not profile.exists()
    try:
        if is_new:
            profile.write_text(new_profile([root.resolve() for root in roots]))
        credentials.save(path)
    except OSError:
        if is_new:
            profile.unlink(missing_ok=True)
        raise
