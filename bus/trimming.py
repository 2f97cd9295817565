"""INTAKE makes room for itself, and what it gave up can be taken out of its files for good.

The server removes a block of a stream's files once all of it was purged; what was purged of a block
that still holds a message stays in it, readable. So a trim is noted in the stream's own
configuration, and where no byte of what was trimmed may stay, a block's worth is purged on top.
"""

from typing import Any, Final

import anyio
import structlog

from pmcl.bus.connection import Connection
from pmcl.bus.jetstream import StreamState, call, stream_state
from pmcl.bus.streams import INTAKE, StreamLimits, intake_progress, stream_configuration

__all__ = ["BLOCK_BYTES", "drop_trimmed", "trim_intake"]

log = structlog.get_logger()

BLOCK_BYTES: Final = 8 * 1024**2
"""The most that the server puts into one file; smaller streams have smaller ones. Measured."""

_TRIMMED: Final = "pmcl_trimmed"
_LOOK_S: Final = 0.2


async def trim_intake(admin: Connection, limits: StreamLimits | None = None) -> int:
    """Return how many messages of INTAKE were purged, none while it is not three quarters full.

    The older half goes, as far as every consumer is done with it; the younger stays for a rebuild.

    Raises:
        BusError: no answer.
    """
    limits = limits or StreamLimits()
    state = await stream_state(admin, INTAKE)
    if state is None or state.bytes * 4 < limits.intake_bytes * 3:
        return 0
    _, done = await intake_progress(admin)
    through = min(done, (state.first + state.last) // 2)
    if through < state.first:
        return 0
    await _note(admin, str(through))  # first: what is not noted is not looked for
    purged = await call(admin, f"STREAM.PURGE.{INTAKE}", {"seq": through + 1})
    log.info("bus.intake_trimmed", through=through)
    return int(purged["purged"])


async def drop_trimmed(admin: Connection) -> int:
    """Return how many messages more went; no file of INTAKE holds one that was trimmed before.

    What was purged now may stay in part, so whatever may not must have been overwritten. Where
    nothing was ever trimmed, nothing happens. Waits until consumers are done with what goes.

    Raises:
        BusError: it is not done; to be called again.
    """
    config = await stream_configuration(admin, INTAKE)
    if config is None or _TRIMMED not in (config.get("metadata") or {}):
        return 0
    dropped, wanted = 0, BLOCK_BYTES
    while wanted > 0:
        state = await stream_state(admin, INTAKE)
        if state is None or state.messages == 0:
            break
        through = _next(state, wanted)
        while (await intake_progress(admin))[1] < through:  # noqa: ASYNC110 - the server tells nobody
            await anyio.sleep(_LOOK_S)
        purged = await call(admin, f"STREAM.PURGE.{INTAKE}", {"seq": through + 1})
        dropped += int(purged["purged"])
        left = await stream_state(admin, INTAKE)
        if left is None or left.messages == 0:  # an emptied stream begins a new file
            await _note(admin, None)
            break
        wanted -= max(0, state.bytes - left.bytes)
    log.info("bus.trimmed_dropped", messages=dropped)
    return dropped


def _next(state: StreamState, wanted: int) -> int:
    """Return up to where so many bytes go, by the size of the stream's messages."""
    messages = -(-wanted * state.messages // state.bytes)
    return min(state.first + messages - 1, state.last)


async def _note(admin: Connection, through: str | None) -> None:
    config = await stream_configuration(admin, INTAKE)
    assert config is not None
    metadata: dict[str, Any] = dict(config.get("metadata") or {})
    metadata.pop(_TRIMMED, None)
    if through is not None:
        metadata[_TRIMMED] = through
    await call(admin, f"STREAM.UPDATE.{INTAKE}", config | {"metadata": metadata})
