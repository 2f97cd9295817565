"""What is sent names the current span; what comes is believed only as far as it is well-formed."""

from collections.abc import Iterator

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pmcl.bus import begin_span, span, traceparent, untraced
from pmcl.contracts import headers

CALLER = f"00-{'a' * 32}-{'b' * 16}-01"


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def test_without_a_recorder_there_is_nothing_to_send() -> None:
    with span("a", attributes={"b": 1}):
        assert traceparent() == ""


def test_without_a_recorder_a_trace_is_handed_on_unchanged() -> None:
    with span("a", parent={headers.TRACEPARENT: CALLER}):
        assert traceparent() == CALLER
        with span("b"):
            assert traceparent() == CALLER
    assert traceparent() == ""
    assert traceparent(begin_span("c", CALLER)) == CALLER


def test_span_is_below_the_one_that_the_headers_name(recorded: InMemorySpanExporter) -> None:
    with span("a", parent={headers.TRACEPARENT: CALLER}) as begun:
        assert traceparent() == traceparent(begun)
        assert traceparent().startswith(f"00-{'a' * 32}-")
    (found,) = recorded.get_finished_spans()
    assert found.parent is not None
    assert f"{found.parent.span_id:016x}" == "b" * 16


def test_message_without_a_trace_begins_its_own(recorded: InMemorySpanExporter) -> None:
    """Whatever is current where it is taken has nothing to do with it."""
    with span("somebody else's"), span("a", parent={}):
        pass
    first, second = recorded.get_finished_spans()
    assert first.parent is second.parent is None
    assert first.context.trace_id != second.context.trace_id


@pytest.mark.parametrize(
    "sent", ["", "x", CALLER[:-1], f"00-{'0' * 32}-{'b' * 16}-01", f"ff-{CALLER[3:]}", CALLER * 9]
)
def test_malformed_names_nothing(recorded: InMemorySpanExporter, sent: str) -> None:
    with span("a", parent={headers.TRACEPARENT: sent}):
        pass
    (found,) = recorded.get_finished_spans()
    assert found.parent is None


def test_error_is_told_by_its_type_alone(recorded: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="secret"), span("a"):
        raise ValueError("secret")
    (found,) = recorded.get_finished_spans()
    assert "secret" not in found.to_json()
    assert found.status.description == "ValueError"


@pytest.mark.anyio
async def test_task_of_an_untraced_block_belongs_to_no_trace(
    recorded: InMemorySpanExporter,
) -> None:
    seen = {}

    async def look(name: str) -> None:
        seen[name] = traceparent()

    with span("a"):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look, "traced")
            with untraced():
                tasks.start_soon(look, "untraced")
        assert traceparent() == seen["traced"] != ""
    assert seen["untraced"] == ""
