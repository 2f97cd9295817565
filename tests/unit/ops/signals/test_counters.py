"""Committed rows are counted by what they say; a request's time is that of its work."""

from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from pmcl.ops.signals.counters import Counters
from pmcl.outbox.journal import JournalRow


class Told:
    """Counters, and what they say."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.counters = Counters(self._registry)

    def __call__(self, name: str, /, **labels: str) -> float | None:
        return self._registry.get_sample_value(f"pmcl_{name}", labels)


@pytest.fixture
def told() -> Told:
    return Told()


def row(name: str, **said: Any) -> JournalRow:
    return JournalRow(1, f"pmcl.v1.event.s.h.{name}", msgspec.json.encode(said), "0" * 64)


def test_reason_is_its_code_and_counts_once_a_verdict(told: Told) -> None:
    reasons = ["plan.unmitigated@$.steps[0]", "plan.unmitigated@$.steps[2]", "hold.prior"]
    held = row("evaluated", status="held", effect="mutation", reasons=reasons)
    told.counters.committed([held, held])
    assert told("verdict_reasons_total", reason="plan.unmitigated") == 2
    assert told("verdict_reasons_total", reason="hold.prior") == 2
    assert told("verdicts_total", status="held", effect="mutation") == 2
    assert told("events_total", name="evaluated") == 2


def test_outcome_counts_by_who_said_it(told: Told) -> None:
    outcome = {"status": "unknown"}
    told.counters.committed(
        [row("outcome-linked", outcome=outcome, reported_by="sidecar", verified=False)]
    )
    unknown = {"status": "unknown", "reported_by": "sidecar", "verified": "no"}
    assert told("outcomes_total", **unknown) == 1


def test_refused_message_counts_by_its_code(told: Told) -> None:
    told.counters.committed([row("refused", code="malformed")])
    assert told("refused_total", code="malformed") == 1
    assert told("refused_total", code="dead_lettered") == 0


def test_refusal_takes_no_time_that_would_hide_what_does(told: Told) -> None:
    for answer, seconds in (("answered", 0.4), ("busy", 0.0), ("late", 2.0)):
        told.counters.taken()
        assert told("requests_under_way") == 1
        told.counters.answered("checkpoint", answer, seconds)
    assert told("requests_under_way") == 0
    assert told("request_seconds_count", kind="checkpoint") == 2
    assert told("request_seconds_sum", kind="checkpoint") == pytest.approx(2.4)
    assert told("requests_total", kind="checkpoint", answer="busy") == 1
