"""Traces are made when a standard variable asks for them, and the sidecar runs without the SDK."""

import sys

import pytest
import structlog
from opentelemetry import trace

from pmcl.ops.tracing import export_traces, traces_wanted

COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        (COLLECTOR, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({**COLLECTOR, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**COLLECTOR, "OTEL_SDK_DISABLED": "True"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({**COLLECTOR, "OTEL_TRACES_EXPORTER": "zipkin"}, False),
    ],
)
def test_variables_ask_for_traces(environment: dict[str, str], *, wanted: bool) -> None:
    assert traces_wanted(environment) is wanted


@pytest.mark.anyio
async def test_missing_extra_is_told_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with structlog.testing.capture_logs() as logged:
        async with export_traces(COLLECTOR):
            assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    assert [entry["event"] for entry in logged] == ["traces.not_installed"]
