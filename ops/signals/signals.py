"""The signals of a running cell: what its parts tell is counted, and what it comes to is told."""

import platform
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import NoReturn

from prometheus_client import CollectorRegistry, Gauge, disable_created_metrics, generate_latest
from prometheus_client.process_collector import ProcessCollector

from pmcl.hosts import Defects
from pmcl.ops.signals.counters import Counters
from pmcl.ops.signals.gauges import Gauges, Sources
from pmcl.ops.signals.vitals import Vitals
from pmcl.outbox.journal import JournalRow
from pmcl.workers import RuntimeSignals

__all__ = ["Signals"]


class Signals(RuntimeSignals):
    """Readiness and metrics of one cell, from one place; only `metrics` asks and waits."""

    def __init__(self, sources: Sources, head: int) -> None:
        self._relay = sources.relay
        self._registry = registry = CollectorRegistry()
        disable_created_metrics()  # type: ignore[no-untyped-call]  # series of their own, a third of all, that nobody asks for
        connections = (sources.relaying, sources.working)
        self._vitals = Vitals(connections, sources.relay, head, stores=sources.stores)
        self._counters = Counters(registry)
        self._gauges = Gauges(registry, sources, self._vitals)
        ProcessCollector(registry=registry)
        _tell_build(registry)
        for identity, connection in (("relay", sources.relaying), ("worker", sources.working)):
            connection.on_ready(partial(self._counters.reconnected, identity))

    def offer(self, rows: Sequence[JournalRow], trace: str) -> None:
        """Rows were committed, in the span that `trace` names."""
        if rows:
            self._vitals.committed(rows[-1].sequence)
            self._counters.committed(rows)
        self._relay.offer(rows, trace)

    def committed(self, seconds: float) -> None:
        """A unit is committed."""
        self._vitals.wrote()
        self._counters.wrote(seconds)

    def not_committed(self) -> None:
        """The ledger could not commit a unit."""
        self._vitals.failed()
        self._counters.failed()

    def taken(self, kind: str) -> None:
        """A request has come."""
        self._counters.taken()

    def defective(self, kind: str, error: str, line: str) -> None:
        """A request met a defect."""
        self._vitals.defective(kind, error, line)
        self._counters.defective(kind)

    def answered(self, kind: str, answer: str, seconds: float) -> None:
        """A request has its end."""
        self._vitals.answered(kind, answer)
        self._counters.answered(kind, answer, seconds)

    def pulled(self, durable: str) -> Callable[[], None]:
        """Return what is to be called when the server was heard about a consumer."""
        return self._vitals.pulled(durable)

    def parts(self) -> dict[str, bool]:
        """Return for each part whether it does its work."""
        return self._vitals.parts()

    def defects(self) -> Defects:
        """Return what requests met of defects since the start."""
        return self._vitals.defects

    async def metrics(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        await self._gauges.ask()
        return generate_latest(self._registry)

    async def run(self) -> NoReturn:
        """Look at what shows itself only in time, for ever."""
        await self._vitals.run(self._counters.lagged)


def _tell_build(registry: CollectorRegistry) -> None:
    build = Gauge(
        "pmcl_build_info", "1, with what runs here.", ["version", "python"], registry=registry
    )
    build.labels(version("pmcl"), platform.python_version()).set(1)
