"""One request of a known browser, and what its handler may answer."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from starlette.requests import Request

from pmcl.ops.dashboard.access import PageRefusedError, Session
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.looking import Lookout
from pmcl.ops.settings import Settings

__all__ = ["Done", "Handler", "Page", "Visit", "number_of"]

_DIGITS_MAX: Final = 15


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose sender and form are checked.

    Attributes:
        form: the fields of the form that was sent.
    """

    settings: Settings
    session: Session
    feed: Feed
    lookout: Lookout
    request: Request
    form: dict[str, str] = {}

    def asked(self, name: str) -> str | None:
        """Return a field of the query, `None` where it is missing or empty."""
        return self.request.query_params.get(name) or None

    @property
    def named(self) -> str:
        """What the path names."""
        return str(self.request.path_params["named"])


class Page(msgspec.Struct, frozen=True):
    """A page to be made: its template and what that shows.

    Attributes:
        sequence: the journal's number that the page shows the state of; else that of the menu.
    """

    template: str
    title: str
    facts: dict[str, Any] = {}
    status: int = 200
    sequence: int | None = None


class Done(msgspec.Struct, frozen=True):
    """Something was done: the browser goes on to another page, which tells of it."""

    then: str
    told: str


def number_of(text: str, refusal: str) -> int:
    """Return a number that a browser sent: fifteen digits of ASCII at most.

    Raises:
        PageRefusedError: it is none; `refusal` tells so.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX):
        raise PageRefusedError(400, refusal)
    return int(text)


Handler = Callable[[Visit], Awaitable[Page | Done]]
