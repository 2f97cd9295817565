"""What is asked at each scrape: how far every part is behind, and how much there is of what grows.

What cannot be asked now keeps its last value, and `pmcl_scrape_complete` is 0.
"""

import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge

from pmcl.bus import (
    DEADLETTERS,
    DURABLES,
    INTAKE,
    LOG,
    Connection,
    consumer_state,
    dead_letter_counts,
    stream_state,
)
from pmcl.contracts import BusError, LedgerError
from pmcl.ops.disks import free_bytes
from pmcl.ops.settings import Settings
from pmcl.ops.signals.vitals import Vitals
from pmcl.outbox import Relay
from pmcl.store import Reader, Writer, load_queries

__all__ = ["Gauges", "Sources"]

_queries = load_queries("pmcl.ops.signals", "gauges")

_ASK_S: Final = 1.0

_OPEN: Final = {
    "live_leases": "Leases that live.",
    "open_erasures": "Erasures that are not done.",
    "open_evaluations": "Passed verdicts without an outcome.",
    "open_holds": "Holds that nothing has released.",
    "parked_outcomes": "Outcomes whose evaluation is not known yet.",
    "pending_approvals": "Calls that wait for an operator.",
    "stopped": "1 while an operator's stop is in force.",
}
_SINGLE: Final = _OPEN | {
    "journal_rows": "Rows of the journal.",
    "relay_waiting_rows": "Committed rows that LOG does not have.",
    "relay_waiting_seconds": "Age of the oldest of these rows, 0 without one.",
    "scrape_complete": "1 when ledger, disk and server answered this scrape.",
    "writer_waiting_units": "Units that wait for the writer.",
}
_LABELLED: Final = {
    "dead_letters": ("worker", "Messages that no worker could deal with."),
    "disk_free_bytes": ("place", "Room on the disk of what is written."),
    "intake_pending_messages": ("consumer", "Messages of hosts that were not delivered yet."),
    "intake_unacked_messages": ("consumer", "Messages of hosts that are under way."),
    "ledger_bytes": ("file", "Size of the ledger's files."),
    "ready": ("part", "1 while the part does its work."),
    "stream_bytes": ("stream", "What a stream holds."),
    "stream_max_bytes": ("stream", "What a stream may hold, -1 without a limit of its own."),
    "stream_messages": ("stream", "Messages that a stream holds."),
}


class Sources(msgspec.Struct, frozen=True):
    """Whom a scrape asks."""

    settings: Settings
    reader: Reader
    writer: Writer
    relay: Relay
    relaying: Connection
    working: Connection
    stores: Callable[[], bool]


class _AtMs(msgspec.Struct):
    at_ms: int


_at_ms = msgspec.json.Decoder(_AtMs)


class Gauges:
    """Gauges of one cell, in its registry."""

    def __init__(self, registry: CollectorRegistry, sources: Sources, vitals: Vitals) -> None:
        self._sources = sources
        self._vitals = vitals
        self._single = {
            name: Gauge(f"pmcl_{name}", told, registry=registry) for name, told in _SINGLE.items()
        }
        self._labelled = {
            name: Gauge(f"pmcl_{name}", told, [label], registry=registry)
            for name, (label, told) in _LABELLED.items()
        }
        self._repairs = Counter(
            "pmcl_log_repairs", "How often LOG was made again from the journal.", registry=registry
        )
        self._repaired = 0
        for durable in DURABLES:
            self._labelled["dead_letters"].labels(durable).set(0)

    async def ask(self) -> None:
        """All gauges say what is true now, as far as it can be asked."""
        for part, does_work in self._vitals.parts().items():
            self._labelled["ready"].labels(part).set(does_work)
        self._single["writer_waiting_units"].set(self._sources.writer.waiting)
        repaired, self._repaired = self._repaired, self._sources.relay.repairs
        self._repairs.inc(self._repaired - repaired)
        answers: list[bool] = []

        async def run(ask: Callable[[], Coroutine[Any, Any, None]]) -> None:
            try:
                await ask()
            except (BusError, LedgerError, OSError):
                answers.append(False)
            else:
                answers.append(True)

        async with anyio.create_task_group() as tasks:
            for ask in (self._ask_ledger, self._ask_disk, self._ask_consumers, self._ask_streams):
                tasks.start_soon(run, ask)
        self._single["scrape_complete"].set(all(answers))

    async def _ask_ledger(self) -> None:
        reader, sent = self._sources.reader, self._sources.relay.last
        counts = await reader.one(_queries.open)
        assert counts is not None
        for name in _OPEN:
            self._single[name].set(counts[name])
        journal = await reader.one(_queries.journal, next=sent + 1)
        assert journal is not None
        waiting = journal["waiting"]
        since_ms = None if waiting is None else _at_ms.decode(bytes(waiting)).at_ms
        age_s = 0.0 if since_ms is None else max(0.0, time.time() - since_ms / 1000)
        self._single["journal_rows"].set(journal["last"])
        self._single["relay_waiting_rows"].set(max(0, journal["last"] - sent))
        self._single["relay_waiting_seconds"].set(age_s)

    async def _ask_disk(self) -> None:
        settings = self._sources.settings
        free = await anyio.to_thread.run_sync(free_bytes, settings)
        for place, left in free.items():
            self._labelled["disk_free_bytes"].labels(place).set(left)
        sizes = await anyio.to_thread.run_sync(_sizes, settings.ledger_path)
        for file, size in sizes.items():
            self._labelled["ledger_bytes"].labels(file).set(size)

    async def _ask_consumers(self) -> None:
        for durable in DURABLES:
            state = await consumer_state(self._sources.working, INTAKE, durable, timeout_s=_ASK_S)
            self._labelled["intake_pending_messages"].labels(durable).set(state.pending)
            self._labelled["intake_unacked_messages"].labels(durable).set(state.unacked)
        found = await dead_letter_counts(self._sources.working, timeout_s=_ASK_S)
        for worker, count in (dict.fromkeys(DURABLES, 0) | found).items():
            self._labelled["dead_letters"].labels(worker).set(count)

    async def _ask_streams(self) -> None:
        working, relaying = self._sources.working, self._sources.relaying
        for connection, stream in ((working, INTAKE), (relaying, LOG), (working, DEADLETTERS)):
            state = await stream_state(connection, stream, timeout_s=_ASK_S)
            if state is None:
                continue
            self._labelled["stream_bytes"].labels(stream).set(state.bytes)
            self._labelled["stream_max_bytes"].labels(stream).set(state.max_bytes)
            self._labelled["stream_messages"].labels(stream).set(state.messages)


def _sizes(ledger: Path) -> dict[str, int]:
    """Return the sizes of the ledger's files."""
    log = ledger.with_name(f"{ledger.name}-wal")
    return {"database": ledger.stat().st_size, "wal": log.stat().st_size if log.exists() else 0}
