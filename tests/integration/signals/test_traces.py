"""One trace goes from a host's call to whoever reads the stored event, and holds no content."""

from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pmcl.bus import LOG, Message, SpanKind, recreate_log, span, stored_message
from pmcl.contracts import STORED_PREFIX, RefusedError, Resource, Tool, headers
from pmcl.hosts import Host, HostConfig, Proposal, SyncHost
from tests.integration.hosts.sidecar import until
from tests.integration.signals.conftest import House

pytestmark = pytest.mark.anyio

SENTINEL = "zq-sentinel"
PROPOSAL = Proposal(
    goal=f"read {SENTINEL}",
    tool=Tool(server="files", name="read_file", definition_hash="d" * 64),
    arguments={"path": f"/{SENTINEL}"},
    resources=(Resource(kind="path", value=f"/{SENTINEL}"),),
)


class Traces:
    """What was recorded since the start of the test."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def of(self, root: str) -> list[ReadableSpan]:
        """The spans of the trace that began with `root`, in the order of their beginning."""
        spans = self._exporter.get_finished_spans()
        (first,) = [found for found in spans if found.name == root]
        mine = [found for found in spans if found.context.trace_id == first.context.trace_id]
        return sorted(mine, key=lambda found: found.start_time or 0)

    async def lease(self) -> ReadableSpan:
        """The span of the first request about a lease."""

        async def found() -> ReadableSpan | None:
            spans = self._exporter.get_finished_spans()
            return next((each for each in spans if each.name == "pmcl.lease"), None)

        return await until(found)

    def ended(self, root: str, *names: str) -> Any:
        """Wait until the trace has these spans."""

        async def found() -> bool:
            have = [each.name for each in self._exporter.get_finished_spans()]
            return root in have and all(
                names.count(name) <= [each.name for each in self.of(root)].count(name)
                for name in names
            )

        return until(found)


def tree(spans: list[ReadableSpan]) -> set[tuple[str | None, str]]:
    """Who stands below whom."""
    names = {found.context.span_id: found.name for found in spans}
    return {
        (None if found.parent is None else names[found.parent.span_id], found.name)
        for found in spans
    }


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Iterator[Traces]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield Traces(exporter)
    provider.shutdown()


@pytest.fixture
def config(house: House) -> HostConfig:
    return house.config


async def follow(house: House, name: str) -> None:
    """Be a subscriber that goes on in the trace of one kind of event."""

    def read(message: Message) -> None:
        with span("reads the event", parent=message.headers, kind=SpanKind.CONSUMER):
            pass

    await house.operator.subscribe(f"{STORED_PREFIX}.event.*.*.{name}", read)


async def test_checkpoint_is_one_trace_from_the_caller_to_the_reader(
    house: House, config: HostConfig, traces: Traces
) -> None:
    await follow(house, "evaluated")
    async with Host.connect(config) as host:
        with span("the agent's turn"):
            verdict = await host.check(PROPOSAL)
        assert verdict.passed
        await traces.ended("the agent's turn", "reads the event")
    assert tree(traces.of("the agent's turn")) == {
        (None, "the agent's turn"),
        ("the agent's turn", "pmcl.host.check"),
        ("pmcl.host.check", "pmcl.checkpoint"),
        ("pmcl.checkpoint", "pmcl.prepare"),
        ("pmcl.checkpoint", "pmcl.decide"),
        ("pmcl.checkpoint", "pmcl.settle"),
        ("pmcl.decide", "pmcl.relay"),
        ("pmcl.relay", "reads the event"),
    }
    kinds = {found.name: found.kind.name for found in traces.of("the agent's turn")}
    assert (kinds["pmcl.host.check"], kinds["pmcl.checkpoint"]) == ("CLIENT", "SERVER")
    (judged,) = [f for f in traces.of("the agent's turn") if f.name == "pmcl.checkpoint"]
    assert judged.attributes == {
        "pmcl.answer": "answered",
        "pmcl.evaluation_id": verdict.claim_id,
        "pmcl.status": "passed",
    }


async def test_blocking_host_stays_in_its_callers_trace(
    house: House, config: HostConfig, traces: Traces
) -> None:
    def ask() -> None:
        with SyncHost.connect(config) as host, span("a thread's own"):
            host.check(PROPOSAL)

    await anyio.to_thread.run_sync(ask)
    await traces.ended("a thread's own", "pmcl.relay")
    assert ("a thread's own", "pmcl.host.check") in tree(traces.of("a thread's own"))


async def test_what_is_asked_in_the_background_is_in_no_trace(
    house: House, config: HostConfig, traces: Traces
) -> None:
    """A heartbeat, hours later, is nothing that the call of its start brought about."""
    with span("connects"):
        async with Host.connect(config):
            pass
    lease = await traces.lease()
    assert lease.parent is None


async def test_observation_is_one_trace_over_the_stream(
    house: House, config: HostConfig, traces: Traces
) -> None:
    await follow(house, "evidence-recorded")
    async with Host.connect(config) as host:
        await host.observe(source="ls", summary=SENTINEL)
        await traces.ended("pmcl.host.observe", "reads the event", "pmcl.settle")
    assert tree(traces.of("pmcl.host.observe")) == {
        (None, "pmcl.host.observe"),
        ("pmcl.host.observe", "pmcl.observe"),
        ("pmcl.observe", "pmcl.prepare"),
        ("pmcl.observe", "pmcl.decide"),
        ("pmcl.observe", "pmcl.settle"),
        ("pmcl.decide", "pmcl.relay"),
        ("pmcl.relay", "reads the event"),
    }


async def test_http_request_goes_on_in_its_callers_trace(house: House, traces: Traces) -> None:
    caller = f"00-{'a' * 32}-{'b' * 16}-01"
    await house.wire.begin()
    body = b'{"source": "ls", "summary": "a"}'
    assert (
        await house.wire.send("POST", "/v1/observations", body, traceparent=caller)
    ).status == 201
    await traces.ended("POST /v1/observations", "pmcl.relay")
    spans = traces.of("POST /v1/observations")
    assert {f"{found.context.trace_id:032x}" for found in spans} == {"a" * 32}


async def test_nothing_of_the_content_is_in_a_span(
    house: House, config: HostConfig, traces: Traces
) -> None:
    async with Host.connect(config) as host:
        with span("one"):
            await host.check(PROPOSAL)
            await host.observe(source="ls", summary=SENTINEL, detail=SENTINEL)
        with span("two"), pytest.raises(RefusedError):
            await host.observe(source=SENTINEL * 1000, summary="")
        await traces.ended("one", "pmcl.relay", "pmcl.relay")
    for root in ("one", "two"):
        for found in traces.of(root):
            assert SENTINEL not in found.to_json(), found.name
            assert not found.events


async def test_row_that_is_repaired_has_lost_its_trace(
    house: House, config: HostConfig, traces: Traces
) -> None:
    async with house.cell.admin() as admin:

        async def traced() -> bool | None:
            message = await stored_message(admin, LOG, 2)
            return None if message is None else headers.TRACEPARENT in message.headers

        async def there() -> bool:
            return await traced() is not None

        async with Host.connect(config) as host:
            await host.check(PROPOSAL)
            await until(there)
            assert await traced() is True
            await recreate_log(admin, 1)
            await host.observe(source="ls", summary="a")
            await until(there)
        assert await traced() is False


async def test_trace_goes_through_a_sidecar_that_records_nothing(
    house: House, config: HostConfig
) -> None:
    caller = f"00-{'a' * 32}-{'b' * 16}-01"
    found = anyio.Event()
    seen: list[str] = []

    def read(message: Message) -> None:
        seen.append(message.headers.get(headers.TRACEPARENT, ""))
        found.set()

    await house.operator.subscribe(f"{STORED_PREFIX}.event.*.*.evaluated", read)
    async with Host.connect(config) as host:
        with span("caller", parent={headers.TRACEPARENT: caller}):
            await host.check(PROPOSAL)
        with anyio.fail_after(5):
            await found.wait()
    assert seen == [caller]
