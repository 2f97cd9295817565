"""One request of a known browser, and what its handler may answer."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request

from pmcl.ops.dashboard.access import Session
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.settings import Settings

__all__ = ["Done", "Handler", "Page", "Visit"]


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose sender and form are checked.

    Attributes:
        form: the fields of the form that was sent.
    """

    settings: Settings
    session: Session
    feed: Feed
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


Handler = Callable[[Visit], Awaitable[Page | Done]]
