"""One trace goes over the bus: what is sent names the span it was sent in, what comes continues it.

Only `traceparent` is carried: state and baggage could hold anything. No attribute holds content,
and of an error only its type is told. Where nobody records, a span costs about a microsecond, and
what came in with a message is still handed on.

Source: W3C Trace Context; the OpenTelemetry API.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any, Final

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from pmcl.contracts import headers

__all__ = ["SpanKind", "begin_span", "fail_span", "span", "traceparent", "untraced"]

_carrying: Final = TraceContextTextMapPropagator()
_NOWHERE: Final = Context()
_UNRECORDED: Final = nullcontext(trace.INVALID_SPAN)

Attribute = str | int | bool
Attributes = Mapping[str, Attribute]


@lru_cache(maxsize=1)
def _tracer(provider: TracerProvider) -> Tracer:
    return provider.get_tracer("pmcl")


def _recorded() -> bool:
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def span(
    name: str,
    *,
    parent: Mapping[str, str] | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Attributes | None = None,
) -> AbstractContextManager[Span]:
    """The block is a span of the current trace, or of the one that a message's headers name.

    Args:
        name: what is done; nothing of what is said.
        parent: headers of a message; its sender's span is the parent, and without one there is
            none: what is current here has nothing to do with the message.
        kind: the sender's, the receiver's or neither's.
        attributes: codes and counts of ours.
    """
    if not (_recorded() or (parent is not None and headers.TRACEPARENT in parent)):
        return _UNRECORDED
    return _current(_begin(name, None if parent is None else _context(parent), kind, attributes))


@contextmanager
def _current(begun: Span) -> Iterator[Span]:
    token = contexts.attach(trace.set_span_in_context(begun))
    try:
        yield begun
    except BaseException as error:
        fail_span(begun, error)
        raise
    finally:
        contexts.detach(token)
        begun.end()


def begin_span(name: str, parent: str, *, kind: SpanKind = SpanKind.INTERNAL) -> Span:
    """Return a span below the one that `parent` names; current nowhere, and the caller's to end."""
    return _begin(name, _context({headers.TRACEPARENT: parent}), kind)


def fail_span(failed: Span, error: BaseException) -> None:
    """The span says that it failed, and by which type of error."""
    failed.set_status(Status(StatusCode.ERROR, type(error).__name__))


def traceparent(of: Span | None = None) -> str:
    """Return what names a span, or the current one, on the wire; empty where there is none."""
    named = (of or trace.get_current_span()).get_span_context()
    if not named.is_valid:
        return ""
    return f"00-{named.trace_id:032x}-{named.span_id:016x}-{named.trace_flags:02x}"


@contextmanager
def untraced() -> Iterator[None]:
    """Tasks that are started in the block belong to no trace, whoever has them started."""
    token = contexts.attach(_NOWHERE)
    try:
        yield
    finally:
        contexts.detach(token)


def _begin(
    name: str, context: Context | None, kind: SpanKind, attributes: Attributes | None = None
) -> Span:
    tracer = _tracer(trace.get_tracer_provider())
    return tracer.start_span(name, context, kind, attributes)


def _context(carried: Mapping[str, str]) -> Context:
    """Return what the headers name; anything but a well-formed `traceparent` names nothing."""
    named: dict[str, Any] = {headers.TRACEPARENT: carried.get(headers.TRACEPARENT, "")}
    return _carrying.extract(named, _NOWHERE)
