"""The relay: LOG is the journal, row for row, at the same numbers.

It never guesses: whatever an append did not clearly do is settled by reading LOG back, and the
expected sequence of every append keeps a stale relay out.
Source: DESIGN section 3, points 5 and 6; facts/relay.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NoReturn

import anyio
import msgspec
import structlog

from pmcl.bus import (
    LOG,
    BusTimeoutError,
    Connection,
    LogRow,
    WrongSequenceError,
    append_batch,
    append_pipelined,
)
from pmcl.contracts import BusError
from pmcl.outbox import journal
from pmcl.outbox.repair import OpenAdmin, settle_log
from pmcl.outbox.row_traces import RowTraces
from pmcl.store import Reader, StoreUnavailableError, open_reader

__all__ = ["Relay", "RelayConfig"]

log = structlog.get_logger()


class RelayConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How the relay appends.

    Attributes:
        pipelined_rows: up to so many waiting rows go as plain publishes, more as one batch; a
            batch costs about 2 ms however small it is.
        batch_rows, batch_bytes: what one batch may hold.
        timeout_s: how long an append may take before it is settled by reading LOG back.
        pace_s: between two appends of a few rows each; rows that come in between go together, so
            that a busy relay takes neither the interpreter nor the disk from verdicts.
        check_s: LOG is checked at least so often.
        retry_s: the pause after an append that failed.
    """

    pipelined_rows: int = 8
    batch_rows: int = 500
    batch_bytes: int = 1024 * 1024
    timeout_s: float = 5.0
    pace_s: float = 0.005
    check_s: float = 60.0
    retry_s: float = 0.2


class Relay:
    """Carries one ledger's journal to LOG; several on the same ledger stay equal."""

    def __init__(
        self, connection: Connection, ledger: Path, open_admin: OpenAdmin, config: RelayConfig
    ) -> None:
        self._connection = connection
        self._ledger = ledger
        self._open_admin = open_admin
        self._config = config
        self._woken = anyio.Event()
        self._moved = anyio.Event()
        self._last = 0
        self._repairs = 0
        self._offered: list[journal.JournalRow] = []
        self._traces = RowTraces()
        self._due = 0.0
        connection.on_ready(self._suspect)

    @property
    def last(self) -> int:
        """The last sequence that LOG is known to have."""
        return self._last

    @property
    def repairs(self) -> int:
        """How often LOG was made again from the journal."""
        return self._repairs

    def wake(self) -> None:
        """New rows may wait."""
        self._woken.set()

    def offer(self, rows: Sequence[journal.JournalRow], trace: str = "") -> None:
        """Take rows that were just committed, so that they need not be read; no more than that.

        `trace` is the `traceparent` that they go on under.
        """
        self._traces.offer(rows, trace)
        if len(self._offered) < self._config.batch_rows:
            self._offered.extend(rows)

    async def check(self) -> None:
        """LOG is sound and ends with a row of the journal; it was repaired if need be.

        Raises:
            JournalBehindError, DivergedError: LOG knows what the ledger does not.
            BusError: no answer.
        """
        async with open_reader(self._ledger) as reader:
            self._last = await self._settle(reader)

    async def run(self) -> NoReturn:
        """Relay for ever, through every outage.

        Raises:
            JournalBehindError, DivergedError: LOG knows what the ledger does not.
        """
        async with open_reader(self._ledger) as reader:
            while True:
                self._due = anyio.current_time() + self._config.check_s
                try:
                    self._move(await self._settle(reader))
                    await self._carry(reader)
                except WrongSequenceError as error:
                    log.info("relay.overtaken", actual=error.actual)
                except (BusError, StoreUnavailableError) as error:
                    log.warning("relay.interrupted", error=type(error).__name__, reason=str(error))
                    await self._pause()

    async def caught_up(self) -> None:
        """Return when LOG has every row that was committed before the call."""
        async with open_reader(self._ledger) as reader:
            head = await journal.last(reader)
        while self._last < head.sequence:
            await self._moved.wait()

    def _suspect(self) -> None:
        """Have LOG checked: a server that comes back may have lost rows in the middle."""
        self._due = 0.0
        self._woken.set()

    async def _settle(self, reader: Reader) -> int:
        return await settle_log(self._connection, reader, self._repair)

    @asynccontextmanager
    async def _repair(self) -> AsyncIterator[Connection]:
        async with self._open_admin() as admin:
            yield admin
        self._repairs += 1

    async def _pause(self) -> None:
        """Wait until another try makes sense."""
        await anyio.sleep(self._config.retry_s)
        with suppress(BusTimeoutError):
            await self._connection.wait_ready(self._config.check_s)

    async def _carry(self, reader: Reader) -> None:
        """Append what waits, until LOG is due for a check."""
        unread = True  # nobody offers what was committed before
        while anyio.current_time() < self._due:
            if not (unread or self._offered):
                with anyio.move_on_at(self._due):
                    await self._woken.wait()
            self._woken = anyio.Event()
            rows = self._take()
            if not rows:
                rows = await self._read(reader)
                unread = bool(rows)
            if rows:
                await self._append_paced(rows)

    def _take(self) -> list[journal.JournalRow]:
        """Return the offered rows that follow the last one; others are read when they are due."""
        offered, self._offered = self._offered, []
        rows = [row for row in offered if row.sequence > self._last]
        follows = all(row.sequence == self._last + n for n, row in enumerate(rows, start=1))
        if not follows or _size(rows) > self._config.batch_bytes:
            return []
        self._offered = rows[self._config.batch_rows :]
        return rows[: self._config.batch_rows]

    async def _read(self, reader: Reader) -> list[journal.JournalRow]:
        config = self._config
        return await journal.read(
            reader, self._last, max_rows=config.batch_rows, max_bytes=config.batch_bytes
        )

    async def _append_paced(self, rows: list[journal.JournalRow]) -> None:
        paced = anyio.current_time() + self._config.pace_s
        self._move(await self._append(rows))
        if len(rows) <= self._config.pipelined_rows:
            await anyio.sleep_until(paced)

    async def _append(self, rows: list[journal.JournalRow]) -> int:
        timeout_s = self._config.timeout_s
        with self._traces.appending(rows) as traces:
            sent = [
                LogRow(row.subject, row.body, row.hash, traces.get(row.sequence, ""))
                for row in rows
            ]
            if len(rows) <= self._config.pipelined_rows:
                return await append_pipelined(self._connection, sent, self._last, timeout_s)
            return await append_batch(self._connection, LOG, sent, self._last, timeout_s)

    def _move(self, last: int) -> None:
        self._last = last
        self._traces.appended(last)
        self._moved.set()
        self._moved = anyio.Event()


def _size(rows: Sequence[journal.JournalRow]) -> int:
    return sum(len(row.body) for row in rows)
