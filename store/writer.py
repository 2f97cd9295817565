"""One thread writes. Units that wait at the same time share one transaction and one fsync.

A unit's result is seen only after the COMMIT that holds it. A unit that raises leaves nothing
behind and disturbs no other; when the transaction itself is lost, nobody in it is told success.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from queue import Empty, SimpleQueue
from typing import TypeVar

import anyio
import structlog

from pmcl.store.committer import Committer, Done, Job
from pmcl.store.config import StoreConfig
from pmcl.store.errors import StoreBusyError, StoreUnavailableError
from pmcl.store.transaction import Transaction

__all__ = ["Writer", "open_writer"]

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 30.0
# A loop that is never idle starves the writer. SQLite's module lets go of the interpreter lock at
# each statement, and a loop that polls more often than `sys.getswitchinterval()` takes it back
# before this thread has woken: groups of 8 units took up to 2 s beside a loop 95 % busy in slices
# of 100 us. A smaller switch interval does not help (0.1 to 5 ms measured, all starve), nor does it
# matter to a loop that is idle at times (24,000 to 27,000 units/s at every setting). So the loop
# gives way for a moment whenever nothing was committed for this long; once the writer has the lock
# it keeps it through its statements for the same reason.
_STARVED_AFTER_S = 0.003
_GIVE_WAY_S = 0.0001

log = structlog.get_logger()


class Writer:
    """Takes units from coroutines of one event loop and commits them in groups."""

    def __init__(self, config: StoreConfig) -> None:
        self._config = config
        self._loop = asyncio.get_running_loop()
        self._arrived: list[Job] = []
        self._handed: SimpleQueue[list[Job] | None] = SimpleQueue()
        self._truncating: SimpleQueue[asyncio.Future[bool]] = SimpleQueue()
        self._waiting = 0
        self._delivered = 0
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False
        self._callbacks: list[Callable[[], None]] = []
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()

    @property
    def waiting(self) -> int:
        """How many units were handed over and have no end yet."""
        return self._waiting

    async def run(self, unit: Callable[[Transaction], T], *, durable: bool = True) -> T:
        """Return what the unit returned, once its transaction is on disk.

        One that is not `durable` outlives this process, but perhaps not the machine's power; the
        next durable one takes it to the disk with it.

        The unit runs on the writer's thread, and a second time when its group was lost: it must
        depend on nothing but the transaction. When the waiter is cancelled, the unit runs all the
        same and its result is dropped.

        Raises:
            StoreBusyError: `max_waiting` units wait already; this one never runs.
            StoreUnavailableError: it could not be committed; nothing was written.
            Exception: whatever the unit raised; nothing of it was written.
        """
        if self._closed:
            raise StoreUnavailableError(self._config.path, "the writer is closed")
        if self._waiting >= self._config.max_waiting:
            raise StoreBusyError(self._config.path, self._config.max_waiting)
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting += 1
        if self._watch is None:
            self._watch = self._loop.call_later(_STARVED_AFTER_S, self._give_way, self._delivered)
        # Handed over once per turn of the loop, so that units that arrive together stay together.
        if not self._arrived:
            self._loop.call_soon(self._hand_over)
        self._arrived.append(Job(unit, future, durable))
        return await future

    async def truncate(self) -> bool:
        """Return whether the write-ahead log is empty; what was deleted before is then nowhere.

        False when a reader holds it back now: try again.

        Raises:
            StoreUnavailableError: the disk does not answer, or the writer is closed.
        """
        if self._closed:
            raise StoreUnavailableError(self._config.path, "the writer is closed")
        future: asyncio.Future[bool] = self._loop.create_future()
        self._truncating.put(future)
        self._handed.put([])
        return await future

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Have `callback` called on the event loop after every group that changed something."""
        self._callbacks.append(callback)

    def _hand_over(self) -> None:
        arrived, self._arrived = self._arrived, []
        if arrived:
            self._handed.put(arrived)

    def _give_way(self, delivered: int) -> None:
        """Let the writer's thread run if it got nothing done since `delivered` was counted."""
        if self._waiting == 0:
            self._watch = None
            return
        if self._delivered == delivered:
            time.sleep(_GIVE_WAY_S)
        self._watch = self._loop.call_later(_STARVED_AFTER_S, self._give_way, self._delivered)

    def _deliver(self, done: list[Done], changed: bool) -> None:  # noqa: FBT001
        self._waiting -= len(done)
        self._delivered += len(done)
        for each in done:
            _hand_back(each)
        if changed:
            for callback in self._callbacks:
                callback()

    def _work(self) -> None:
        """Be the writer's thread until `None` is handed over."""
        try:
            committer = Committer(self._config)
        except Exception as error:  # noqa: BLE001 - handed to whoever opens the writer
            self._loop.call_soon_threadsafe(_settle, self._opened, error)
            return
        self._loop.call_soon_threadsafe(_settle, self._opened, None)
        try:
            while (jobs := self._next_jobs()) is not None:
                for start in range(0, len(jobs), self._config.max_group):
                    done = committer.commit(jobs[start : start + self._config.max_group])
                    self._loop.call_soon_threadsafe(self._deliver, done, committer.changed)
                self._truncate(committer)
        finally:
            committer.close()
            self._loop.call_soon_threadsafe(_settle, self._ended, None)

    def _truncate(self, committer: Committer) -> None:
        while not self._truncating.empty():
            future = self._truncating.get_nowait()
            try:
                done = Done(future, committer.truncate(), None)
            except StoreUnavailableError as error:
                done = Done(future, None, error)
            self._loop.call_soon_threadsafe(_hand_back, done)

    def _next_jobs(self) -> list[Job] | None:
        jobs = self._handed.get()
        while jobs is not None and len(jobs) < self._config.max_group:
            try:
                more = self._handed.get_nowait()
            except Empty:
                break
            if more is None:
                self._handed.put(None)
                break
            jobs += more
        return jobs

    async def _open(self) -> None:
        threading.Thread(target=self._work, name="pmcl-writer", daemon=True).start()
        try:
            await self._opened
        except asyncio.CancelledError:
            self._handed.put(None)
            raise

    async def _close(self) -> None:
        """Let what was taken be committed, then close the file."""
        self._closed = True
        self._hand_over()
        self._handed.put(None)
        with anyio.move_on_after(_CLOSE_TIMEOUT_S, shield=True) as scope:
            await self._ended
        if scope.cancelled_caught:
            log.error("store.close_timed_out", path=str(self._config.path))


def _hand_back(done: Done) -> None:
    if done.future.done():
        return
    if done.error is None:
        done.future.set_result(done.value)
    else:
        done.future.set_exception(done.error)


def _settle(future: "asyncio.Future[None]", error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


@asynccontextmanager
async def open_writer(config: StoreConfig) -> AsyncIterator[Writer]:
    """Yield the one writer of the file; at the end every taken unit is committed, the file closed.

    Raises:
        StoreVersionError: the file is not one of this application and version.
        StoreUnavailableError: it cannot be opened or written.
    """
    writer = Writer(config)
    await writer._open()
    try:
        yield writer
    finally:
        await writer._close()
