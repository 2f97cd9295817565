"""Where spans go: to the collector that the standard `OTEL_*` variables name, or nowhere.

The SDK is an extra (`pmcl[traces]`). Nothing is recorded unless a variable asks for it: a collector
that nobody runs would be called for ever.

Source: the OpenTelemetry specification of environment variables.
"""

import logging
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
import structlog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

__all__ = ["export_traces", "traces_wanted"]

log = structlog.get_logger()

_FLUSH_S: Final = 5.0
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def traces_wanted(environment: Mapping[str, str]) -> bool:
    """Return whether the variables ask for traces."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    match environment.get("OTEL_TRACES_EXPORTER", ""):
        case "":
            return any(environment.get(name) for name in _ENDPOINTS)
        case "none":
            return False
        case "otlp":
            return True
        case exporter:
            log.warning("traces.not_supported", exporter=exporter, known="otlp, none")
            return False


@asynccontextmanager
async def export_traces(environment: Mapping[str, str] = os.environ) -> AsyncIterator[None]:
    """Spans of the block are exported, if the variables ask for it; the last ones at its end."""
    if not traces_wanted(environment):
        yield
        return
    try:
        provider = await anyio.to_thread.run_sync(_provider, environment)
    except ImportError:
        log.warning("traces.not_installed", extra="pmcl[traces]")
        yield
        return
    _use(provider)
    try:
        yield
    finally:
        # A thread that the process does not wait for: a collector may be away.
        flushing = threading.Thread(target=provider.shutdown, daemon=True)
        flushing.start()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(flushing.join, _FLUSH_S)
        if flushing.is_alive():
            log.warning("traces.not_flushed")


def _provider(environment: Mapping[str, str]) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    _tell_failures()
    named = {"service.version": version("pmcl")}
    if not environment.get("OTEL_SERVICE_NAME"):
        named["service.name"] = "pmcl"
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _use(provider: "TracerProvider") -> None:
    from opentelemetry import trace

    trace.set_tracer_provider(provider)


class _Told(logging.Handler):
    """Gives the SDK's own lines an event name; their text is not told, it may quote anything."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        error = record.levelname.lower() if kind is None else kind.__name__
        log.warning("traces.export_failed", error=error, source=record.name)


def _tell_failures() -> None:
    logger = logging.getLogger("opentelemetry")
    logger.addHandler(_Told(logging.WARNING))
    logger.propagate = False
