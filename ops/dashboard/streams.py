"""What the bus holds: dead letters, how far the workers are, and each stream."""

from typing import Final

import anyio
import msgspec

from pmcl.bus import (
    DEADLETTERS,
    DURABLES,
    INTAKE,
    LOG,
    BusTimeoutError,
    ConsumerState,
    StreamState,
    consumer_state,
    dead_letter_counts,
    stream_state,
)
from pmcl.ops.dashboard.running import check_running
from pmcl.ops.reach import reach_bus
from pmcl.ops.settings import Settings

__all__ = ["Streams", "read_streams"]

_STREAMS: Final = (INTAKE, LOG, DEADLETTERS)
_ANSWER_S: Final = 3.0


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

    @property
    def dead(self) -> int:
        """Dead letters of all workers."""
        return sum(self.letters.values())


async def read_streams(settings: Settings) -> Streams:
    """Return what the streams hold now.

    Raises:
        NotRunningError: no sidecar runs.
        BusTimeoutError: the server does not answer within three seconds.
        BusError: a stream is gone that must be there.
    """
    check_running(settings)
    try:
        with anyio.fail_after(_ANSWER_S):
            return await _read(settings)
    except TimeoutError as error:
        raise BusTimeoutError("the nats-server", _ANSWER_S) from error


async def _read(settings: Settings) -> Streams:
    async with reach_bus(settings, "admin") as admin:
        return Streams(
            letters=await dead_letter_counts(admin),
            intake={name: await consumer_state(admin, INTAKE, name) for name in DURABLES},
            states={name: await stream_state(admin, name) for name in _STREAMS},
        )
