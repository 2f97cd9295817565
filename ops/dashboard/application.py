"""A request finds its page; who asks is known before anything is read for it.

Every refusal and every defect becomes a page without content of its own; the headers let a page
load nothing but what is served here. Source: SPEC H4.
"""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pmcl.contracts import PmclError
from pmcl.hosts.gateway import where
from pmcl.ops.dashboard.access import COOKIE, Doorkeeper, PageRefusedError
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.live import open_stream
from pmcl.ops.dashboard.looking import Lookout
from pmcl.ops.dashboard.pages import Pages
from pmcl.ops.dashboard.routes import ROUTES
from pmcl.ops.dashboard.templates import STATIC
from pmcl.ops.dashboard.visit import Done, Handler, Visit
from pmcl.ops.settings import Settings

__all__ = ["Application"]

log = structlog.get_logger()

_REQUEST_S: Final = 60.0
_UNDER_WAY_MAX: Final = 32
_FORM_S: Final = 10.0
_FORM_MAX_BYTES: Final = 4 * 1024
_FORM_TYPE: Final = "application/x-www-form-urlencoded"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # without a referrer a form's origin would be null
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Application:
    """Everything that the dashboard's port answers."""

    def __init__(
        self, settings: Settings, doorkeeper: Doorkeeper, feed: Feed, lookout: Lookout
    ) -> None:
        self._settings = settings
        self._door = doorkeeper
        self._feed = feed
        self._lookout = lookout
        self._pages = Pages(settings, doorkeeper.path)
        self._under_way = 0
        self._router = Router(list(self._routes()), redirect_slashes=False, default=_not_found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = _Answer(send)
        self._under_way += 1
        try:
            headers = Headers(scope=scope)
            self._door.check_source(headers, scope["method"])
            if self._under_way > _UNDER_WAY_MAX + self._feed.listeners:
                raise PageRefusedError(503, f"{_UNDER_WAY_MAX} requests are under way already.")
            await self._router(scope, receive, answer.send)
        except PmclError as error:
            await answer.instead(self._pages.bare(error, scope["path"]), scope, receive)
        except Exception as error:  # noqa: BLE001 - a defect must not end the dashboard
            log.error("dashboard.failed", **where(error))
            failed = PageRefusedError(500, "The dashboard failed: see its log.")
            await answer.instead(self._pages.bare(failed, scope["path"]), scope, receive)
        finally:
            self._under_way -= 1

    def _routes(self) -> list[Route]:
        path = self._door.path
        routes = [
            Route(f"{path}/enter", self._enter, methods=["GET"]),
            Route(f"{path}/static/{{name}}", _static, methods=["GET"]),
            Route(f"{path}/events", _Endpoint(self._events)),
        ]
        for method, below, handler in ROUTES:
            routes.append(Route(path + below, self._page(handler), methods=[method]))
        return routes

    async def _enter(self, request: Request) -> Response:
        """Exchange the link's token for a cookie, and leave the token behind."""
        cookie = self._door.enter(request.query_params.get("token", ""))
        path = f"{self._door.path}/"
        response = RedirectResponse(path, 303)
        response.set_cookie(COOKIE, cookie, path=path, httponly=True, samesite="strict")
        response.headers["cache-control"] = "no-store"
        return response

    def _page(self, handler: Handler) -> "_Endpoint":
        async def answer(request: Request) -> Response:
            visit = await self._visit(request)
            try:
                with anyio.fail_after(_REQUEST_S):
                    made = await handler(visit)
            except PmclError as error:
                return await self._pages.refusal(error, visit)
            except TimeoutError:
                late = PageRefusedError(
                    503, f"It did not end within {_REQUEST_S:g} s: look what was done."
                )
                return await self._pages.refusal(late, visit)
            if isinstance(made, Done):
                visit.session.told.append(made.told)
                return RedirectResponse(self._door.path + made.then, 303)
            return await self._pages.response(made, visit)

        return _Endpoint(answer)

    async def _events(self, request: Request) -> ASGIApp:
        return open_stream(await self._visit(request))

    async def _visit(self, request: Request) -> Visit:
        session = self._door.session(request.cookies.get(COOKIE))
        form: dict[str, str] = {}
        if request.method == "POST":
            form = await _form(request)
            session.check_form(form.get("form_token", ""))
        return Visit(
            settings=self._settings,
            session=session,
            feed=self._feed,
            lookout=self._lookout,
            request=request,
            form=form,
        )


class _Endpoint:
    """What starlette takes as it is: a class's instance, with every method that is routed to it."""

    def __init__(self, answer: Callable[[Request], Awaitable[ASGIApp]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)


class _Answer:
    """Sends with the headers that everything has, and knows whether it began."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._began = True
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            headers.setdefault("cache-control", "no-store")
        await self._send(message)

    async def instead(self, response: Response, scope: Scope, receive: Receive) -> None:
        """Send a response, unless another one began."""
        if not self._began:
            response.headers["connection"] = "close"  # a body may be unread
            await response(scope, receive, self.send)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        PageRefusedError: it is no form, too large, too slow or broken off.
    """
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != _FORM_TYPE:
        raise PageRefusedError(415, f"Only {_FORM_TYPE} is taken.")
    body = bytearray()
    try:
        with anyio.fail_after(_FORM_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > _FORM_MAX_BYTES:
                    raise PageRefusedError(413, f"A form has at most {_FORM_MAX_BYTES} bytes.")
        return dict(parse_qsl(body.decode("ascii"), max_num_fields=16))
    except TimeoutError as error:
        raise PageRefusedError(408, f"A form arrives within {_FORM_S:g} s.") from error
    except (ClientDisconnect, ValueError) as error:
        raise PageRefusedError(400, "The form cannot be read.") from error


async def _static(request: Request) -> Response:
    static = STATIC.get(request.path_params["name"])
    if static is None:
        raise PageRefusedError(404, "There is no such file.")
    headers = {"cache-control": "private, max-age=86400, immutable"}  # the path is this run's own
    return Response(static.content, media_type=static.media_type, headers=headers)


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    raise PageRefusedError(404, "There is no such page.")
