"""What waits in a host's file is sent again by whoever may read it and has the host's key."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from pmcl.bus import open_connection
from pmcl.contracts import Received, limits
from pmcl.hosts.clock import wall_ms
from pmcl.hosts.config import HostConfig
from pmcl.hosts.delivery import Delivery
from pmcl.hosts.kept import KeptObservations
from pmcl.hosts.unrecorded import UnrecordedResults
from pmcl.outbox import HostFile, open_host_file

__all__ = ["Receipts", "resend"]

Receipts = Callable[[str], Awaitable[Received]]
"""Returns what the ledger has of the file with this epoch."""

_CONNECT_S: Final = 5.0
_RECEIPT_S: Final = 5.0
_LOOK_S: Final = 0.05


async def resend(config: HostConfig, receipts: Receipts | None) -> tuple[int, int]:
    """Return how many messages were sent, and how many of them the ledger then had.

    Nobody is waited for without `receipts`. As at every start of the host, claims that dead
    processes left become `unknown` first.

    Raises:
        HostError, LedgerError: the host's file cannot be used.
        BusError: not all was acknowledged; what was is noted.
    """
    async with (
        open_host_file(config.file) as file,
        open_connection(config.credentials.connection_config()) as connection,
    ):
        await connection.wait_ready(_CONNECT_S)
        kept, unrecorded = KeptObservations(), UnrecordedResults(file)
        await Delivery(connection, file, config, kept, unrecorded).look()
        sent = await _waiting(file)
        with anyio.move_on_after(_RECEIPT_S):
            while receipts is not None and await _waiting(file):
                await file.receipted(await receipts(file.epoch))
                await anyio.sleep(_LOOK_S)
        return sent, sent - await _waiting(file)


async def _waiting(file: HostFile) -> int:
    most = 2 * limits.HOST_OUTBOX_MAX_ROWS
    return len(await file.pending(after=0, sent_before_ms=wall_ms() + 1, limit=most))
