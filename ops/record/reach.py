"""LOG can be read whether the sidecar runs or not.

Where the embedded server is not running, it is run for as long as that takes, and nobody else can
use the state directory meanwhile.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import anyio.to_thread

from pmcl.bus import (
    Connection,
    Keyring,
    ServerConfig,
    open_connection,
    prepare_server,
    run_server,
)
from pmcl.contracts import LedgerError
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid, use_state_dir

__all__ = ["check_ledger", "reach_log"]

_CONNECT_S: Final = 10.0


def check_ledger(settings: Settings) -> None:
    """Raise `LedgerError` unless the state directory has a ledger."""
    if not settings.ledger_path.exists():
        raise LedgerError(f"{settings.ledger_path}: there is no ledger yet")


@asynccontextmanager
async def reach_log(settings: Settings) -> AsyncIterator[Connection]:
    """Yield a connection that may read LOG, and nothing else.

    Raises:
        StateDirInUseError: a sidecar is just starting.
        BusError: the server does not answer.
    """
    async with AsyncExitStack() as stack:
        running = settings.server_url is not None or running_pid(settings.state_dir) is not None
        if not running:
            stack.enter_context(use_state_dir(settings.state_dir))
        keyring = await anyio.to_thread.run_sync(Keyring, settings.state_dir / "keys")
        config = ServerConfig(state_dir=settings.state_dir / "nats")
        if running:
            url = settings.server_url or prepare_server(config, keyring).url
        else:
            url = (await stack.enter_async_context(run_server(config, keyring))).url
        opened = open_connection(keyring.connection_config("relay", url))
        connection = await stack.enter_async_context(opened)
        await connection.wait_ready(_CONNECT_S)
        yield connection
