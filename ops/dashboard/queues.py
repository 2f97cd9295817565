"""Lag and outboxes: what is committed and not yet told, and what waits in the streams."""

from typing import Final

import msgspec

from pmcl.bus import (
    DEADLETTERS,
    DURABLES,
    INTAKE,
    LOG,
    ConsumerState,
    StreamState,
    consumer_state,
    dead_letter_counts,
    stream_state,
)
from pmcl.ops.dashboard.running import check_running
from pmcl.ops.dashboard.visit import Page, Visit
from pmcl.ops.outbox import list_outboxes
from pmcl.ops.record.reach import reach_bus
from pmcl.ops.settings import Settings

__all__ = ["Streams", "queues", "read_streams"]

_WHAT: Final = {
    INTAKE: "observations and outcomes of hosts, kept until it is three quarters full",
    LOG: "the journal's rows, for whoever reads them",
    DEADLETTERS: "messages that could not be dealt with",
}


class Streams(msgspec.Struct, frozen=True, kw_only=True):
    """What the bus holds.

    Attributes:
        letters: dead letters by worker.
        intake: how far each worker is.
        states: of each stream; `None` where it is gone.
    """

    letters: dict[str, int]
    intake: dict[str, ConsumerState]
    states: dict[str, StreamState | None]

    @property
    def waiting(self) -> int:
        """Messages of hosts that no worker has dealt with yet."""
        return sum(state.pending + state.unacked for state in self.intake.values())


async def read_streams(settings: Settings) -> Streams:
    """Return what the streams hold now.

    Raises:
        NotRunningError: no sidecar runs.
        BusError: the server does not answer, or a stream is gone that must be there.
    """
    check_running(settings)
    async with reach_bus(settings, "admin") as admin:
        return Streams(
            letters=await dead_letter_counts(admin),
            intake={name: await consumer_state(admin, INTAKE, name) for name in DURABLES},
            states={name: await stream_state(admin, name) for name in _WHAT},
        )


async def queues(visit: Visit) -> Page:
    """Return both kinds of outbox, and the streams."""
    streams = await read_streams(visit.settings)
    report = await list_outboxes(visit.settings)
    return Page("queues.html", "Queues", {"report": report, "streams": streams, "what": _WHAT})
