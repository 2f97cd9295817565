"""What is counted as it happens: committed rows, requests, commits, connections, the event loop.

No scope, host, tool or content is a label. Each label's values are codes of ours, so their number
is bounded. Counting starts at nothing with the process.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from pmcl.bus import REQUESTS
from pmcl.outbox.journal import JournalRow

__all__ = ["Counters"]

_REQUEST_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
_COMMIT_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_LAG_BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
_WATCHED: Final = ("answered", "busy", "late", "ledger_unavailable")


class _Evaluated(msgspec.Struct):
    status: str
    effect: str
    reasons: tuple[str, ...]


class _Result(msgspec.Struct):
    status: str


class _Linked(msgspec.Struct):
    outcome: _Result
    reported_by: str
    verified: bool


class _Refused(msgspec.Struct):
    code: str


_evaluated = msgspec.json.Decoder(_Evaluated)
_linked = msgspec.json.Decoder(_Linked)
_refused = msgspec.json.Decoder(_Refused)


def _counter(
    registry: CollectorRegistry, name: str, told: str, labels: Sequence[str]
) -> Callable[..., Counter]:
    """Return what finds a counter by its labels."""
    return cache(Counter(name, told, labels, registry=registry).labels)


class Counters:
    """Counters and histograms of one cell, in its registry.

    Each is found by its labels once and kept: their number is bounded, and a verdict counts ten.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._count_rows(registry)
        self._count_work(registry)
        # What an alert asks about is there from the start, else its first increase is not seen.
        for kind in REQUESTS:
            self._request_time(kind)
            for answer in _WATCHED:
                self._requests(kind, answer)
            self._defects(kind)
        for status in ("passed", "held"):
            self._verdicts(status, "inspect_local")
        self._refused("dead_lettered")
        for identity in ("relay", "worker"):
            self._reconnects(identity)

    def _count_rows(self, registry: CollectorRegistry) -> None:
        counter = partial(_counter, registry)
        self._events = counter("pmcl_events", "Events committed, by name.", ["name"])
        self._verdicts = counter(
            "pmcl_verdicts", "Verdicts committed, by status and effect.", ["status", "effect"]
        )
        self._reasons = counter(
            "pmcl_verdict_reasons", "Reasons of verdicts, each once a verdict.", ["reason"]
        )
        self._outcomes = counter(
            "pmcl_outcomes",
            "Outcomes linked, by status and who said it.",
            ["status", "reported_by", "verified"],
        )
        self._refused = counter("pmcl_refused", "Stream messages refused, by code.", ["code"])

    def _count_work(self, registry: CollectorRegistry) -> None:
        counter = partial(_counter, registry)
        self._requests = counter(
            "pmcl_requests", "Requests that have their end, by kind and answer.", ["kind", "answer"]
        )
        self._defects = counter(
            "pmcl_defects", "Requests that ended in a defect of the sidecar, by kind.", ["kind"]
        )
        request_time = Histogram(
            "pmcl_request_seconds",
            "From a request's coming until its reply goes or its budget is over.",
            ["kind"],
            buckets=_REQUEST_BUCKETS,
            registry=registry,
        )
        self._request_time = cache(request_time.labels)
        self._under_way = Gauge(
            "pmcl_requests_under_way", "Requests without their end.", registry=registry
        )
        self._commit_time = Histogram(
            "pmcl_commit_seconds",
            "From a unit's handing over until it is committed.",
            buckets=_COMMIT_BUCKETS,
            registry=registry,
        )
        self._commit_failures = Counter(
            "pmcl_commit_failures", "Units that could not be committed.", registry=registry
        )
        self._loop_lag = Histogram(
            "pmcl_loop_lag_seconds",
            "How much later than asked the event loop woke up.",
            buckets=_LAG_BUCKETS,
            registry=registry,
        )
        self._reconnects = counter(
            "pmcl_reconnects", "Connections that came back, by identity.", ["identity"]
        )

    def committed(self, rows: Sequence[JournalRow]) -> None:
        """Count rows of the journal."""
        for row in rows:
            name = row.subject.rpartition(".")[2]
            self._events(name).inc()
            match name:
                case "evaluated":
                    self._judged(_evaluated.decode(row.body))
                case "outcome-linked":
                    linked = _linked.decode(row.body)
                    verified = "yes" if linked.verified else "no"
                    self._outcomes(linked.outcome.status, linked.reported_by, verified).inc()
                case "refused":
                    self._refused(_refused.decode(row.body).code).inc()

    def _judged(self, event: _Evaluated) -> None:
        self._verdicts(event.status, event.effect).inc()
        for reason in {reason.partition("@")[0] for reason in event.reasons}:
            self._reasons(reason).inc()

    def taken(self) -> None:
        """Count a request that has come."""
        self._under_way.inc()

    def answered(self, kind: str, answer: str, seconds: float) -> None:
        """Count a request that has its end."""
        self._under_way.dec()
        self._requests(kind, answer).inc()
        if answer in ("answered", "late"):  # a refusal takes no time, and would hide what does
            self._request_time(kind).observe(seconds)

    def defective(self, kind: str) -> None:
        """Count a request that ended in a defect."""
        self._defects(kind).inc()

    def wrote(self, seconds: float) -> None:
        """Count a unit of the writer."""
        self._commit_time.observe(seconds)

    def failed(self) -> None:
        """Count a unit that could not be committed."""
        self._commit_failures.inc()

    def lagged(self, seconds: float) -> None:
        """Count one waking of the event loop."""
        self._loop_lag.observe(seconds)

    def reconnected(self, identity: str) -> None:
        """Count a connection that is up again."""
        self._reconnects(identity).inc()
