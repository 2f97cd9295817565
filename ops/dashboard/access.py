"""Who looks, and from where: decided before a page is made.

The token of the printed link opens a session; its cookie is kept to a path that nobody can guess,
since a browser shows the cookies of 127.0.0.1 to every port of it: a page that an agent serves on
another one is shown none. A form carries the session's own token, so that no other page can send
it. Source: SPEC A5, A6, H4.
"""

import hmac
import secrets
from collections import OrderedDict
from hashlib import sha256
from typing import Final

from starlette.datastructures import Headers

from pmcl.contracts import PmclError

__all__ = ["COOKIE", "Doorkeeper", "PageRefusedError", "Session"]

COOKIE: Final = "pmcl"
_SESSIONS_MAX: Final = 16
_OWN_SITE: Final = ("same-origin", "none")


class PageRefusedError(PmclError):
    """A request was refused before anything was read or done for it."""

    def __init__(self, status: int, told: str) -> None:
        self.status = status
        super().__init__(told)


class Session:
    """One browser that showed the link's token.

    Attributes:
        form_token: a form of ours carries it.
        told: what the next page tells of the last action.
    """

    def __init__(self) -> None:
        self.form_token = secrets.token_urlsafe(32)
        self.told: list[str] = []

    def take_told(self) -> list[str]:
        """Return what is to be told, once."""
        told, self.told = self.told, []
        return told

    def check_form(self, given: str) -> None:
        """Raise `PageRefusedError` unless a form of this session was sent."""
        if not hmac.compare_digest(given.encode(), self.form_token.encode()):
            raise PageRefusedError(403, "This form is not of this session: open the page again.")


class Doorkeeper:
    """Opens sessions for the token, and refuses what another site's page could send.

    Attributes:
        path: below it is everything, `/…` without a slash at the end.
    """

    def __init__(self, port: int) -> None:
        self.path = f"/{secrets.token_urlsafe(9)}"
        self._token = secrets.token_urlsafe(32)
        self._names = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()

    @property
    def link(self) -> str:
        """What the operator opens; whoever has it may decide."""
        return f"http://{self._names[0]}{self.path}/enter?token={self._token}"

    def check_source(self, headers: Headers, method: str) -> None:
        """Refuse what comes under a rebound name, or from a page that is not ours.

        Raises:
            PageRefusedError: it does, or it would change something and does not say where from.
        """
        host, origin = headers.get("host"), headers.get("origin")
        if host not in self._names:
            raise PageRefusedError(421, f"Only {' and '.join(self._names)} are answered.")
        if headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            raise PageRefusedError(403, "A page of another site asked for this.")
        if origin not in ((None,) if method in ("GET", "HEAD") else ()) + (f"http://{host}",):
            raise PageRefusedError(403, "This was not sent from a page of the dashboard.")

    def enter(self, token: str) -> str:
        """Return the cookie of a new session; beyond sixteen, the oldest one ends.

        Raises:
            PageRefusedError: it is not the token of the link.
        """
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            raise PageRefusedError(403, "This link is not of this dashboard.")
        cookie = secrets.token_urlsafe(32)
        self._sessions[_digest(cookie)] = Session()
        while len(self._sessions) > _SESSIONS_MAX:
            self._sessions.popitem(last=False)
        return cookie

    def session(self, cookie: str | None) -> Session:
        """Return the session of a cookie.

        Raises:
            PageRefusedError: there is none.
        """
        session = None if cookie is None else self._sessions.get(_digest(cookie))
        if session is None:
            raise PageRefusedError(401, "Open the link that the command printed.")
        return session


def _digest(cookie: str) -> bytes:
    """Return what a cookie is looked up by: the time of a look-up tells nothing about it."""
    return sha256(cookie.encode()).digest()
