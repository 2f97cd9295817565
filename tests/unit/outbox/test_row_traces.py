"""A trace is kept for as long as its row waits, and no longer."""

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pmcl.contracts import BusError
from pmcl.outbox import row_traces
from pmcl.outbox.journal import JournalRow
from pmcl.outbox.row_traces import RowTraces

CALLER = f"00-{'a' * 32}-{'b' * 16}-01"


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def rows(*sequences: int) -> list[JournalRow]:
    return [JournalRow(sequence, "s", b"{}", "0" * 64) for sequence in sequences]


def test_each_traced_row_has_an_append_of_its_own(recorded: InMemorySpanExporter) -> None:
    traces = RowTraces()
    traces.offer(rows(1, 2), CALLER)
    traces.offer(rows(3), "")
    with traces.appending(rows(1, 2, 3)) as sent:
        assert sent.keys() == {1, 2}
        assert sent[1] != sent[2]
        assert not recorded.get_finished_spans()
    spans = recorded.get_finished_spans()
    assert [f"{span.context.trace_id:032x}" for span in spans] == ["a" * 32] * 2
    assert {f"{span.context.span_id:016x}" for span in spans} == {
        named.split("-")[2] for named in sent.values()
    }


def test_failed_append_says_so_and_the_next_try_has_the_trace_still(
    recorded: InMemorySpanExporter,
) -> None:
    traces = RowTraces()
    traces.offer(rows(1), CALLER)
    with pytest.raises(BusError), traces.appending(rows(1)):
        raise BusError("gone")
    (failed,) = recorded.get_finished_spans()
    assert failed.status.description == "BusError"
    with traces.appending(rows(1)) as sent:
        assert 1 in sent
    traces.appended(1)
    with traces.appending(rows(1)) as sent:
        assert not sent


def test_as_many_are_kept_as_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_traces, "_WAITING_MAX", 2)
    traces = RowTraces()
    for sequence in range(1, 6):
        traces.offer(rows(sequence), CALLER)
    with traces.appending(rows(1, 2, 3, 4, 5)) as sent:
        assert sent == {1: CALLER, 2: CALLER}
