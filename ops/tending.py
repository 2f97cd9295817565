"""What a cell does beside its requests: it takes from INTAKE, and tends streams and time."""

from typing import Final

import anyio
import anyio.to_thread
import structlog
from anyio.abc import TaskGroup

from pmcl.bus import (
    INTAKE,
    Connection,
    PullConfig,
    StreamMissingError,
    ensure_streams,
    pull,
    rewind_consumers,
    trim_intake,
)
from pmcl.contracts import BusError, DetectorMissingError
from pmcl.judgement import load_detector
from pmcl.ops.crew import Crew
from pmcl.ops.signals.signals import Signals
from pmcl.outbox import OpenAdmin
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers import StreamHandler, Units

__all__ = ["start_tending"]

log = structlog.get_logger()

_CONNECT_S: Final = 30.0
_SWEEP_S: Final = 1.0
_RETRY_S: Final = 0.5
_TRIM_S: Final = 60.0


def start_tending(
    tasks: TaskGroup, working: Connection, crew: Crew, open_admin: OpenAdmin, signals: Signals
) -> None:
    """From now on the crew's streams are taken from, and what must be tended is."""
    for handler in crew.streams:
        tasks.start_soon(_consume, handler, crew.slots, open_admin, signals)
    if crew.reflecting is not None:
        tasks.start_soon(crew.reflecting.run)
    tasks.start_soon(signals.run)
    tasks.start_soon(_load_detector)
    tasks.start_soon(_sweep, crew.units)
    tasks.start_soon(_rewind, working, open_admin)
    tasks.start_soon(_trim, open_admin)


async def _load_detector() -> None:
    """Load it beside the event loop; without it, what may hold a secret is refused, not passed."""
    try:
        await anyio.to_thread.run_sync(load_detector)
    except DetectorMissingError as missing:
        log.error("cell.detector_missing", error=missing.value)


async def _consume(
    handler: StreamHandler, slots: int, open_admin: OpenAdmin, signals: Signals
) -> None:
    """Take from INTAKE for ever; a stream or consumer that went missing is made again."""
    config = PullConfig(stream=INTAKE, durable=handler.worker.name, slots=slots)
    while True:
        try:
            await pull(handler.connection, config, handler.handle, signals.pulled(config.durable))
        except StreamMissingError as missing:
            log.warning("cell.stream_missing", durable=config.durable, error=str(missing))
        try:
            async with open_admin() as admin:
                await ensure_streams(admin)
        except BusError as error:
            log.warning("cell.streams_not_ensured", error=type(error).__name__)
            await anyio.sleep(_RETRY_S)


async def _rewind(working: Connection, open_admin: OpenAdmin) -> None:
    """Have what a lost connection held delivered again at once, and not after the ack wait."""
    while True:
        await working.lost()
        try:
            await working.wait_ready(_CONNECT_S)
            async with open_admin() as admin:
                await rewind_consumers(admin)
        except BusError as error:
            log.warning("cell.not_rewound", error=type(error).__name__)
            await anyio.sleep(_RETRY_S)


async def _trim(open_admin: OpenAdmin) -> None:
    """Keep room in INTAKE."""
    while True:
        await anyio.sleep(_TRIM_S)
        try:
            async with open_admin() as admin:
                await trim_intake(admin)
        except BusError as error:
            log.warning("cell.not_trimmed", error=type(error).__name__)


async def _sweep(units: Units) -> None:
    """Do what time alone brings about, once a second."""
    while True:
        await anyio.sleep(_SWEEP_S)
        try:
            while await units.sweep():
                pass
        except (StoreBusyError, StoreUnavailableError) as error:
            log.warning("cell.sweep_postponed", error=type(error).__name__)
