"""`pmcl host remove`: a key that opens nothing any more; what the host has told stays."""

import os
import signal
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from pmcl.bus import (
    BusTimeoutError,
    Credentials,
    Keyring,
    KeyringError,
    ServerConfig,
    loaded_at,
    prepare_server,
    public_key,
    wait_loaded,
)
from pmcl.ops.known_hosts import HostNotFoundError, credentials_of
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid

__all__ = ["remove_host"]

_TAKEN_S: Final = 10.0


async def remove_host(settings: Settings, scope: str, host: str) -> Path | None:
    """No connection is opened with the host's key; one that is open is closed.

    A server of the operator's own (`server_url`) lets the key in until it has loaded its
    configuration again, which is written here; only the operator can tell it to.

    Its lease ends by itself, and its name may be registered again, under another key. Credentials
    of the key in the state directory are removed, since hooks and guards take the host to be there
    by them; the profile stays.

    Returns:
        The credentials file that was removed, `None` if none of this key was there.

    Raises:
        HostNotFoundError: it is not registered.
        BusTimeoutError: the running sidecar did not drop the key within 10 s.
    """
    keys = settings.state_dir / "keys"
    if not await anyio.to_thread.run_sync(keys.is_dir):
        raise _not_registered(scope, host)
    keyring = await anyio.to_thread.run_sync(Keyring, keys)
    entry = (await anyio.to_thread.run_sync(keyring.hosts)).get((scope, host))
    if entry is None:
        raise _not_registered(scope, host)
    config = ServerConfig(state_dir=settings.state_dir / "nats")
    monitor_url = (await anyio.to_thread.run_sync(prepare_server, config, keyring)).monitor_url
    pid = running_pid(settings.state_dir)
    embedded = pid is not None and settings.server_url is None
    before = await loaded_at(monitor_url) if embedded else None
    await anyio.to_thread.run_sync(keyring.remove_host, scope, host)
    await anyio.to_thread.run_sync(prepare_server, config, keyring)
    if pid is not None:
        os.kill(pid, signal.SIGHUP)
    path = credentials_of(settings, scope, host)
    dropped = await anyio.to_thread.run_sync(_dropped, path, entry.nkey)
    if not embedded:
        return dropped
    with anyio.move_on_after(_TAKEN_S):
        await wait_loaded(monitor_url, before)
        return dropped
    raise BusTimeoutError(f"process {pid}, whose server may still take the key", _TAKEN_S)


def _dropped(path: Path, nkey: str) -> Path | None:
    """Return the file if it held this key; it is gone then, any other stays."""
    try:
        if not path.is_file() or public_key(Credentials.load(path).seed) != nkey:
            return None
        path.unlink()
    except (KeyringError, OSError):
        return None
    return path


def _not_registered(scope: str, host: str) -> HostNotFoundError:
    return HostNotFoundError(f"host {scope}/{host} is not registered: see `pmcl host list`")
