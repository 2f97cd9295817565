"""A real browser, driven by keys, that waits for facts of its page and is gone after the test.

Its driver speaks HTTP, so a client of HTTP is all that is needed. Source: W3C WebDriver; the
commands of the DevTools and of the log are chromedriver's own.
"""

import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio.streams.text import TextReceiveStream

__all__ = ["ENTER", "ESCAPE", "Browser", "browser"]

ENTER = "\ue007"
ESCAPE = "\ue00c"
_TAB = "\ue004"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",  # a container has little of it
)  # fmt: skip
_START_S = 30.0
_WITHIN_S = 10.0
_STOP_S = 10.0
_TABS_MAX = 200
# What the driver says when a page was left while its facts were waited for, or when a script's own
# time of 30 s is over before a longer wait is.
_LEFT = ("unloaded", "javascript error", "script timeout")

# Looks whenever the page changes; a page that was left is looked at no more.
_UNTIL = """
const done = arguments[arguments.length - 1];
const look = () => {
  const found = (() => (%s))();
  if (found) { watching.disconnect(); done(found); }
};
const watching = new MutationObserver(look);
watching.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
look();
"""
_FOCUSED = """
const here = document.activeElement, style = getComputedStyle(here);
return {
  text: (here.textContent || here.id).replace(/\\s+/g, " ").trim(),
  outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
};
"""
# What has the focus; its place in the document, null when it is past the last stop; and whether it
# lies in the window with nothing above it.
_STOP = """
const here = document.activeElement;
const box = here.getBoundingClientRect();
const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
return {
  place: here === document.body ? null : [...document.querySelectorAll("*")].indexOf(here),
  seen: here.contains(top),
};
"""


def _find_browser() -> tuple[str, str]:
    """Return a browser and its driver; without them the test is skipped, but never in CI."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    driver = shutil.which("chromedriver")
    if found is None or driver is None:
        missing = "needs chromium and chromedriver on PATH (Debian: chromium, chromium-driver)"
        assert "CI" not in os.environ, missing
        pytest.skip(missing)
    return found, driver


class DriverError(Exception):
    """The driver refused a command; its code is the first word."""


class Browser:
    """One window."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def as_new(self) -> None:
        """Forget what the test before set, and what its pages complained about."""
        await self.devtools("Emulation.setEmulatedMedia", features=[])
        await self.devtools("Emulation.clearDeviceMetricsOverride")
        await self.open("about:blank")
        await self.complaints()

    async def open(self, address: str) -> None:
        await self._post("url", url=address)

    async def address(self) -> str:
        return str(await self.evaluate("return location.href"))

    async def evaluate(self, script: str) -> Any:
        """What a script returns."""
        return await self._post("execute/sync", script=script, args=[])

    async def keys(self, *keys: str) -> None:
        """Press one key after another, wherever the focus is."""
        pressed = [{"type": way, "value": key} for key in keys for way in ("keyDown", "keyUp")]
        await self._post("actions", actions=[{"type": "key", "id": "keys", "actions": pressed}])

    async def until(self, expression: str, *, within_s: float = _WITHIN_S) -> Any:
        """The first true value of an expression, also on a page that is still to come."""
        script = _UNTIL % expression
        with anyio.fail_after(within_s):
            while True:
                try:
                    return await self._post("execute/async", script=script, args=[])
                except DriverError as error:
                    if not any(left in str(error) for left in _LEFT):
                        raise

    async def sees(self, text: str, *, within_s: float = _WITHIN_S) -> None:
        """The page's text has this in it, at last."""
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        await self.until(f'document.body?.innerText.includes("{quoted}")', within_s=within_s)

    async def tab_to(self, text: str) -> None:
        """Go on by the tab key alone until what has the focus begins with a text, and is marked."""
        for _ in range(_TABS_MAX):
            await self.keys(_TAB)
            focused = await self.evaluate(_FOCUSED)
            if focused["text"].startswith(text):
                assert focused["outlined"], text
                return
        raise AssertionError(f"no way to {text!r} by the tab key")

    async def stops(self) -> list[dict[str, Any]]:
        """Every stop of the tab key from the start of the page to its end: `_FOCUSED`, `_STOP`."""
        found: list[dict[str, Any]] = []
        for _ in range(_TABS_MAX):
            await self.keys(_TAB)
            stop = await self.evaluate(_STOP)
            if stop["place"] is None:
                return found
            found.append(stop | await self.evaluate(_FOCUSED))
        raise AssertionError(f"more than {_TABS_MAX} stops")

    async def scheme(self, name: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": name}]
        await self.devtools("Emulation.setEmulatedMedia", features=features)

    async def width(self, pixels: int) -> None:
        size = {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        await self.devtools("Emulation.setDeviceMetricsOverride", **size)

    @asynccontextmanager
    async def before_pages(self, script: str) -> AsyncIterator[None]:
        """Have a script run in each page before its own, while the block runs."""
        command = "Page.addScriptToEvaluateOnNewDocument"
        added = await self.devtools(command, source=script)
        try:
            yield
        finally:
            await self.devtools("Page.removeScriptToEvaluateOnNewDocument", **added)

    async def complaints(self) -> list[str]:
        """What the browser's console holds against the pages since the last time."""
        return [entry["message"] for entry in await self._post("se/log", type="browser")]

    async def devtools(self, command: str, **given: Any) -> Any:
        return await self._post("goog/cdp/execute", cmd=command, params=given)

    async def _post(self, command: str, **given: Any) -> Any:
        answer = await self._client.post(command, json=given)
        value = answer.json()["value"]
        if answer.status_code != httpx.codes.OK:
            raise DriverError(f"{value['error']}: {value['message']}")
        return value


@asynccontextmanager
async def browser(profile: Path) -> AsyncIterator[Browser]:
    """A browser with an empty profile."""
    binary, driver = _find_browser()
    process = await anyio.open_process(
        [driver, "--port=0"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        with anyio.fail_after(_START_S):
            port = await _port(TextReceiveStream(process.stdout))
        options = {"binary": binary, "args": [*_FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        async with httpx.AsyncClient(timeout=_START_S, trust_env=False) as client:
            answer = await client.post(
                f"http://127.0.0.1:{port}/session",
                json={"capabilities": {"alwaysMatch": wanted}},
            )
            session = f"http://127.0.0.1:{port}/session/{answer.json()['value']['sessionId']}"
            client.base_url = httpx.URL(f"{session}/")
            try:
                yield Browser(client)
            finally:
                with anyio.move_on_after(_STOP_S, shield=True):
                    (await client.delete(session)).raise_for_status()  # else the browser lives on
    finally:
        with anyio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            await process.aclose()


async def _port(lines: TextReceiveStream) -> int:
    told = ""
    async for text in lines:
        told += text
        if found := re.search(r"started successfully on port (\d+)", told):
            return int(found[1])
    raise EOFError(told)
