"""What a browser does with a dashboard, without one: cookies, forms, and a stream of events."""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import msgspec

__all__ = ["Browsing", "browsing"]

_WITHIN_S = 15.0


class Browsing:
    """One browser, at one dashboard."""

    def __init__(self, link: str, client: httpx.AsyncClient) -> None:
        parts = urlsplit(link)
        self.link = link
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.base = parts.path.removesuffix("/enter")
        self.client = client

    async def enter(self) -> httpx.Response:
        return await self.client.get(self.link)

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(self.base + path, headers=headers)

    async def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        sent = {"origin": self.origin, **headers}
        return await self.client.post(self.base + path, data=fields, headers=sent)

    async def form(self, path: str) -> tuple[str, dict[str, str]]:
        """The form of a page: where it goes, and its hidden fields."""
        found = await self.get(path)
        assert found.status_code == 200, found.text
        [action] = re.findall(r'<form method="post" action="([^"]*)"', found.text)
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', found.text)
        return action.removeprefix(self.base), {
            name: html.unescape(value) for name, value in hidden
        }

    async def submit(self, path: str, **fields: str) -> httpx.Response:
        """Send the form of a page, and see where that leads."""
        action, hidden = await self.form(path)
        done = await self.post(action, {**hidden, **fields})
        assert done.status_code == 303, done.text
        return await self.client.get(done.headers["location"])

    @asynccontextmanager
    async def events(self, after: int) -> AsyncIterator["Events"]:
        """The stream of events behind a number of the journal."""
        path = f"{self.base}/events?after={after}"
        with anyio.fail_after(_WITHIN_S):
            async with self.client.stream("GET", path) as response:
                assert response.headers["content-type"] == "text/event-stream"
                yield Events(response.aiter_lines())


class Events:
    """Batches as they come; comments are passed over."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.last_id = 0

    async def next(self) -> dict[str, Any]:
        async for line in self._lines:
            if line.startswith("id: "):
                self.last_id = int(line.removeprefix("id: "))
            elif line.startswith("data: "):
                batch: dict[str, Any] = msgspec.json.decode(line.removeprefix("data: "))
                return batch
        raise EOFError

    async def verdict(self, evaluation_id: str) -> dict[str, Any]:
        """The row of a verdict, once it comes."""
        while True:
            for row in (await self.next())["rows"]:
                if row["id"] == evaluation_id:
                    found: dict[str, Any] = row
                    return found


@asynccontextmanager
async def browsing(link: str) -> AsyncIterator[Browsing]:
    parts = urlsplit(link)
    async with httpx.AsyncClient(
        base_url=f"{parts.scheme}://{parts.netloc}", timeout=_WITHIN_S, trust_env=False
    ) as client:
        yield Browsing(link, client)
