"""What needs the operator is looked at: at each load of the overview, and while a page is open.

Nothing counts a whole table and every wait is bounded, so that a look is over within seconds also
where the server or the sidecar is gone.
"""

import time
from collections.abc import Iterator
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from pmcl.bus import BusTimeoutError
from pmcl.contracts import PmclError
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.needs import (
    NO_SIDECAR,
    Counts,
    Need,
    of_files,
    of_ledger,
    of_letters,
    of_parts,
    of_streams,
    silent_gateway,
    silent_server,
    unreadable,
)
from pmcl.ops.dashboard.streams import Streams, read_streams
from pmcl.ops.findings import Finding
from pmcl.ops.health import check_backups, check_files, check_space
from pmcl.ops.readiness import UnaskedError, ask_readiness
from pmcl.ops.record.verified import read_verified
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid
from pmcl.ops.status import read_standing
from pmcl.store import load_queries, open_reader

__all__ = ["Look", "Lookout", "look"]

_queries = load_queries("pmcl.ops.dashboard", "needs")
_AGAIN_S: Final = 5.0
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one look.

    Attributes:
        at: milliseconds since the epoch.
        running: whether a sidecar's process holds the state folder.
        needs: the worst first.
        streams: what the bus holds; `None` where nobody says it.
    """

    at: int
    running: bool
    needs: list[Need]
    streams: Streams | None = None


async def look(settings: Settings, before: Streams | None = None) -> Look:
    """Return what needs the operator now; `before` is what the bus held when it last answered."""
    pid = running_pid(settings.state_dir) if settings.state_dir.is_dir() else None
    looking = _Looking(settings, pid, before)
    async with anyio.create_task_group() as tasks:
        for ask in (looking.ask_files, looking.ask_ledger, looking.ask_bus, looking.ask_parts):
            tasks.start_soon(ask)
    needs = sorted(looking.needs(), key=lambda need: need.kind != "wrong")  # and as they were asked
    return Look(at=_now_ms(), running=pid is not None, needs=needs, streams=looking.streams)


class _Looking:
    """One look: its questions are asked beside each other, and what they found told in order."""

    def __init__(self, settings: Settings, pid: int | None, before: Streams | None) -> None:
        self._settings = settings
        self._pid = pid
        self._before = before
        self._bus: list[Need] = []
        self._parts: list[Need] = []
        self._files: list[Need] = []
        self._ledger: list[Need] = []
        self.streams: Streams | None = None

    def needs(self) -> Iterator[Need]:
        if self._pid is None:
            yield NO_SIDECAR
        yield from self._bus
        if self.streams is not None:  # else the parts only say so again
            yield from self._parts
        yield from self._files
        yield from self._ledger

    async def ask_bus(self) -> None:
        if self._pid is None:
            return
        try:
            self.streams = await read_streams(self._settings)
        except BusTimeoutError:
            letters = {} if self._before is None else self._before.letters
            when = " when the server answered last"
            self._bus = [silent_server(self._settings), *of_letters(letters, when)]
        except PmclError as error:
            self._bus = [unreadable("What the server holds", error)]
        else:
            self._bus = [*of_streams(self.streams)]

    async def ask_parts(self) -> None:
        if self._pid is None or not (self._settings.state_dir / "gateway.json").exists():
            return
        try:
            _, readiness = await anyio.to_thread.run_sync(ask_readiness, self._settings)
        except UnaskedError:
            self._parts = [silent_gateway(self._pid)]
        else:
            self._parts = [*of_parts(readiness)]

    async def ask_files(self) -> None:
        found = await anyio.to_thread.run_sync(_files, self._settings)
        self._files = [*of_files(found)]

    async def ask_ledger(self) -> None:
        settings = self._settings
        if not settings.ledger_path.exists():
            return
        since = {"since": _now_ms() - _DAY_MS, "before": _now_ms() - _HOUR_MS}
        try:
            async with open_reader(settings.ledger_path) as reader:
                standing = await read_standing(reader)
                verified = await read_verified(settings, reader)
                row = await reader.one(_queries.waiting, **since)
        except PmclError as error:
            self._ledger = [unreadable("The ledger", error)]
            return
        assert row is not None
        self._ledger = [*of_ledger(standing, verified, Counts(**dict(row)))]


def _files(settings: Settings) -> list[Finding]:
    if not settings.state_dir.is_dir():
        return []
    return [*check_files(settings), *check_space(settings), *check_backups(settings)]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Lookout:
    """Looks again and again while a page is open.

    Attributes:
        last: what was found last; `None` before the first look.
    """

    def __init__(self, settings: Settings, feed: Feed) -> None:
        self.last: Look | None = None
        self._settings = settings
        self._feed = feed
        self._streams: Streams | None = None

    async def look(self) -> Look:
        """Return what needs the operator now, and keep it for the pages that are open."""
        found = await look(self._settings, self._streams)
        self._streams = found.streams or self._streams
        self.last = found
        return found

    async def run(self) -> None:
        """Look for ever."""
        while True:
            if self._feed.listeners:
                await self.look()
            await anyio.sleep(_AGAIN_S)
