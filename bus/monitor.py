"""Questions to a server's monitoring port, bounded, and off the event loop."""

import http.client
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import msgspec

from pmcl.bus.errors import ServerError, StreamConfigError

__all__ = ["ailment", "check_server", "healthy", "loaded_at", "varz", "wait_loaded"]

_TIMEOUT_S = 1.0
_LOOK_S = 0.05


async def healthy(monitor_url: str) -> bool | None:
    """Return whether the server calls itself healthy; None if it does not answer."""
    answer = await _get(monitor_url, "/healthz")
    return None if answer is None else answer[0] == http.HTTPStatus.OK


async def ailment(monitor_url: str) -> str:
    """Return what an unhealthy server says is wrong with it; "" if it says nothing."""
    answer = await _get(monitor_url, "/healthz")
    if answer is None or answer[0] == http.HTTPStatus.OK:
        return ""
    try:
        return str(msgspec.json.decode(answer[1], type=dict[str, Any]).get("error", ""))
    except msgspec.MsgspecError:
        return ""


async def varz(monitor_url: str) -> dict[str, Any]:
    """Return the server's own description.

    Raises:
        ServerError: it does not answer.
    """
    answer = await _get(monitor_url, "/varz")
    if answer is None or answer[0] != http.HTTPStatus.OK:
        raise ServerError(f"{monitor_url}/varz does not answer")
    return msgspec.json.decode(answer[1], type=dict[str, Any])


async def loaded_at(monitor_url: str) -> Any:
    """Return when the server loaded its configuration last: another value once it has again.

    Raises:
        ServerError: it does not answer.
    """
    return (await varz(monitor_url)).get("config_load_time")


async def wait_loaded(monitor_url: str, before: Any) -> None:
    """The server has loaded its configuration since `loaded_at` was `before`; the caller bounds it.

    Raises:
        ServerError: it does not answer.
    """
    while await loaded_at(monitor_url) == before:  # noqa: ASYNC110 - a foreign process
        await anyio.sleep(_LOOK_S)


async def check_server(monitor_url: str) -> None:
    """Raise unless the server syncs every write before it acknowledges it.

    Raises:
        StreamConfigError: `sync_interval` is not `always`: a power cut would lose acknowledged
            messages. Source: facts/reliability, hazard 1.
        ServerError: it does not answer.
    """
    config = (await varz(monitor_url)).get("jetstream", {}).get("config", {})
    if config.get("sync_always") is not True:
        found = f"sync_interval {config.get('sync_interval', 'unset')}"
        raise StreamConfigError("server", found, "sync_interval: always")


async def _get(monitor_url: str, path: str) -> tuple[int, bytes] | None:
    ask = partial(_ask, urlsplit(monitor_url).netloc, path)
    return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)


def _ask(netloc: str, path: str) -> tuple[int, bytes] | None:
    connection = http.client.HTTPConnection(netloc, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
