"""The streams can be read whether the sidecar runs or not.

Where the embedded server is not running, it is run for as long as that takes, and nobody else can
use the state directory meanwhile.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import anyio.to_thread

from pmcl.bus import (
    Connection,
    Identity,
    Keyring,
    ServerConfig,
    open_connection,
    prepare_server,
    run_server,
)
from pmcl.contracts import LedgerError
from pmcl.ops.record.replacing import is_cut_off
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid, use_state_dir

__all__ = ["check_file", "check_ledger", "is_there", "reach_bus", "reach_log"]

_CONNECT_S: Final = 10.0


def check_ledger(settings: Settings) -> None:
    """Raise `LedgerError` unless the state directory has a ledger."""
    if is_cut_off(settings.state_dir):
        raise LedgerError(f"{settings.ledger_path}: replacing it was cut off: `pmcl up` goes on")
    if not settings.ledger_path.exists():
        raise LedgerError(f"{settings.ledger_path}: there is no ledger yet: `pmcl up` makes one")


def check_file(path: Path) -> None:
    """Raise `LedgerError` unless there is a file."""
    if not path.is_file():
        raise LedgerError(f"{path}: there is no such file")


def is_there(path: Path) -> bool:
    """Return whether there is a file; one look at the disk, for coroutines that may afford it."""
    return path.exists()


def reach_log(
    settings: Settings, *, alone: bool = False
) -> AbstractAsyncContextManager[Connection]:
    """Return a connection, to be entered, that may read LOG and nothing else; see `reach_bus`."""
    return reach_bus(settings, "relay", alone=alone)


@asynccontextmanager
async def reach_bus(
    settings: Settings, identity: Identity, *, alone: bool = False
) -> AsyncIterator[Connection]:
    """Yield a ready connection of one of the sidecar's own identities.

    Args:
        settings: name the ledger and its server.
        identity: whose connection it is.
        alone: no sidecar may run meanwhile.

    Raises:
        StateDirInUseError: a sidecar runs, or is just starting, and none may.
        LedgerError: none ever ran here, and nothing is made in a folder that was mistyped.
        BusError: the server does not answer.
    """
    embedded = settings.server_url is None
    idle = running_pid(settings.state_dir) is None
    store = settings.state_dir / "nats"
    if idle and not is_there(store):
        check_ledger(settings)
    async with AsyncExitStack() as stack:
        if alone or (embedded and idle):
            stack.enter_context(use_state_dir(settings.state_dir))
        keyring = await anyio.to_thread.run_sync(Keyring, settings.state_dir / "keys")
        config = ServerConfig(state_dir=store)
        if settings.server_url is not None:
            url = settings.server_url
        elif idle:
            url = (await stack.enter_async_context(run_server(config, keyring))).url
        else:
            url = prepare_server(config, keyring).url
        opened = open_connection(keyring.connection_config(identity, url))
        connection = await stack.enter_async_context(opened)
        await connection.wait_ready(_CONNECT_S)
        yield connection
