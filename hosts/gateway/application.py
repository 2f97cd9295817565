"""A request finds its operation; who asks is known before its body is read.

Source: SPEC G4.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from pmcl.bus import SpanKind, span
from pmcl.contracts import BusyError
from pmcl.hosts.gateway.access import Caller, authenticate
from pmcl.hosts.gateway.body import read_json, read_raw
from pmcl.hosts.gateway.config import GatewayConfig
from pmcl.hosts.gateway.handlers import Call
from pmcl.hosts.gateway.health import HealthAnswer, ReadyAnswer
from pmcl.hosts.gateway.openapi import openapi
from pmcl.hosts.gateway.operations import OPERATIONS, Operation
from pmcl.hosts.gateway.refusals import GatewayRefusedError
from pmcl.hosts.gateway.sessions import Sessions

__all__ = ["application", "json_response"]

Handler = Callable[[Request], Awaitable[Response]]

_JSON: Final = "application/json"
_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"


def json_response(value: msgspec.Struct, status: int = 200) -> Response:
    """Return a response with one JSON object."""
    return Response(msgspec.json.encode(value), status, media_type=_JSON)


def application(config: GatewayConfig, sessions: Sessions) -> ASGIApp:
    """Return the routes; a refusal leaves them as a `PmclError`."""
    counter = _HostCounter(config.host_requests_max)
    methods: dict[str, dict[str, Handler]] = {
        "/v1/health": {"GET": _health},
        "/v1/ready": {"GET": _ready(config)},
    }
    if config.metrics is not None:
        methods["/metrics"] = {"GET": _metrics(config.metrics)}
    if config.serves_hosts:
        methods["/openapi.json"] = {"GET": _openapi}
        for operation in OPERATIONS:
            handler = _handler(operation, config, sessions, counter)
            methods.setdefault(operation.path, {})[operation.method] = handler
    routes = [Route(path, _Methods(handlers)) for path, handlers in methods.items()]
    return Router(routes, redirect_slashes=False, default=_not_found)


class _HostCounter:
    """No key has more than its share of the requests under way."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def counted(self, caller: Caller) -> Iterator[None]:
        if self._under_way[caller.nkey] >= self._limit:
            raise BusyError("$", "host", f"{self._limit} requests under way")
        self._under_way[caller.nkey] += 1
        try:
            yield
        finally:
            self._under_way[caller.nkey] -= 1
            if not self._under_way[caller.nkey]:
                del self._under_way[caller.nkey]


class _Methods:
    """The methods of one path; any other is refused by name."""

    def __init__(self, handlers: dict[str, Handler]) -> None:
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._handlers.get(scope["method"])
        if handler is None:
            allowed = ", ".join(sorted(self._handlers))
            raise GatewayRefusedError(
                405, "wrong_method", "method", value=scope["method"], limit=allowed
            )
        response = await handler(Request(scope, receive))
        await response(scope, receive, send)


def _handler(
    operation: Operation, config: GatewayConfig, sessions: Sessions, counter: _HostCounter
) -> Handler:
    name = f"{operation.method} {operation.path}"

    async def handle(request: Request) -> Response:
        caller = authenticate(request.headers.get("authorization"), config)
        traced = span(name, parent=request.headers, kind=SpanKind.SERVER)
        with counter.counted(caller), traced:
            asked = await _asked(operation, request, config.body_s)
            call = Call(caller, sessions, next(iter(request.path_params.values()), ""))
            return json_response(await operation.handle(call, asked), operation.status)

    return handle


async def _asked(operation: Operation, request: Request, within_s: float) -> Any:
    match operation.asks:
        case None:
            return None
        case kind if issubclass(kind, bytes):
            return await read_raw(request, operation.max_bytes, within_s)
        case kind:
            return await read_json(request, kind, operation.max_bytes, within_s)


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    raise GatewayRefusedError(404, "unknown_route", "path", limit="a path of /openapi.json")


async def _openapi(_: Request) -> Response:
    return Response(openapi(), media_type=_JSON)


async def _health(_: Request) -> Response:
    return json_response(HealthAnswer())


def _ready(config: GatewayConfig) -> Handler:
    async def ready(_: Request) -> Response:
        parts = config.parts()
        is_ready = all(parts.values())
        answer = ReadyAnswer(ready=is_ready, parts=parts, defects=config.defects())
        return json_response(answer, 200 if is_ready else 503)

    return ready


def _metrics(scrape: Callable[[], Awaitable[bytes]]) -> Handler:
    async def metrics(_: Request) -> Response:
        return Response(await scrape(), media_type=_METRICS)

    return metrics
