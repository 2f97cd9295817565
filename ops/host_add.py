"""`pmcl host add`: a key for one host, and a running sidecar that accepts it."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast, get_args

import anyio.to_thread

from pmcl.bus import (
    DEFAULT_TRUST,
    Credentials,
    Keyring,
    ServerConfig,
    open_connection,
    prepare_server,
)
from pmcl.contracts import ContractError, TrustLabel
from pmcl.hosts import load_profile, new_profile, profile_path
from pmcl.ops.known_hosts import credentials_of
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid

__all__ = ["add_host", "register_hosts"]

_ACCEPTED_S: Final = 10.0


async def add_host(
    settings: Settings,
    scope: str,
    host: str,
    trust: tuple[str, ...],
    roots: Sequence[Path],
    out: Path | None,
) -> Path:
    """Return the credentials file of a new host; a running sidecar accepts it from now on.

    Its profile lies beside it and grants writing below `roots`; one that is there stays as it is.

    Raises:
        ContractError: scope, host or a trust label does not fit.
        KeyringError: the host is registered already.
        ProfileError: a profile is there and does not fit; nothing was registered.
        BusTimeoutError: the running sidecar did not accept the key within 10 s.
    """
    labels = _labels(trust)
    path = out or credentials_of(settings, scope, host)
    if profile_path(path).exists():
        load_profile(profile_path(path))
    (credentials,) = await anyio.to_thread.run_sync(register_hosts, settings, [scope], host, labels)
    await anyio.to_thread.run_sync(_save, credentials, path, roots)
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


def _save(credentials: Credentials, path: Path, roots: Sequence[Path]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    credentials.save(path)
    profile = profile_path(path)
    if not profile.exists():
        profile.write_text(new_profile([root.resolve() for root in roots]))


def _labels(trust: tuple[str, ...]) -> tuple[TrustLabel, ...]:
    known = get_args(TrustLabel)
    for label in trust:
        if label not in known:
            raise ContractError("trust", label, ", ".join(known))
    return cast("tuple[TrustLabel, ...]", trust) or DEFAULT_TRUST
