"""Nothing gets past it unanswered: each request ends with one JSON answer, within its time.

It refuses what another site's page could send, bounds what is under way, and turns every error into
a problem without content.
Source: SPEC A8; DESIGN section 6.
"""

from typing import Final

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pmcl.contracts import BusyError, PmclError
from pmcl.hosts.gateway.access import check_source
from pmcl.hosts.gateway.application import json_response
from pmcl.hosts.gateway.config import GatewayConfig
from pmcl.hosts.gateway.defects import where
from pmcl.hosts.gateway.refusals import (
    RETRY_AFTER_S,
    GatewayRefusedError,
    status_of,
    told,
)

__all__ = ["Shield"]

log = structlog.get_logger()

_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Shield:
    """Stands in front of the routes."""

    def __init__(self, routes: ASGIApp, config: GatewayConfig, port: int) -> None:
        self._routes = routes
        self._config = config
        self._port = port
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        exchange = _Exchange(scope, receive, send)
        self._under_way += 1
        try:
            with anyio.fail_after(self._config.request_s):
                self._check(Headers(scope=scope))
                await self._routes(scope, exchange.receive, exchange.send)
        except PmclError as error:
            await exchange.refuse(error)
        except TimeoutError:
            limit = f"{self._config.request_s:g} s for a request"
            await exchange.refuse(GatewayRefusedError(503, "unavailable", "$", limit=limit))
        except Exception as error:  # noqa: BLE001 - a defect must not end the gateway, nor be quoted
            log.error("gateway.failed", **where(error))
            await exchange.refuse(GatewayRefusedError(500, "failed", "$", limit="no defect"))
        finally:
            self._under_way -= 1

    def _check(self, headers: Headers) -> None:
        check_source(headers.get("host"), headers.get("origin"), self._port)
        if self._under_way > self._config.requests_max:
            raise BusyError("$", "gateway", f"{self._config.requests_max} requests under way")


class _Exchange:
    """One request with its answer: knows what has come and what has gone."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._scope = scope
        self._receive = receive
        self._send = send
        self._started = False
        self._unread = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._unread = False
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            if self._unread:  # what follows on this connection would be the rest of the body
                headers["connection"] = "close"
        await self._send(message)

    async def refuse(self, error: PmclError) -> None:
        """Answer with the problem, unless an answer has begun."""
        if self._started:
            return
        status = status_of(error)
        response = json_response(told(error), status)
        if status == 401:
            response.headers["www-authenticate"] = "Bearer"
        elif status == 405:
            response.headers["allow"] = told(error).limit
        elif status == 503:
            response.headers["retry-after"] = str(RETRY_AFTER_S)
        await response(self._scope, self.receive, self.send)
