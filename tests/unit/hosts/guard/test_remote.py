"""A server at an address, played by a function: what it is sent, and what the guard hears."""

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest

from pmcl.hosts.guard.messages import is_unanswered
from pmcl.hosts.guard.remote import Remote

pytestmark = pytest.mark.anyio

WITHIN_S = 5.0
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
CALL = {"name": "wipe", "arguments": {"region": "eu"}, "_meta": MODERN}
SCHEMA = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

Play = Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]


class Heard:
    """The guard's side of a session."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    async def say(self, method: str, id: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        given = message if id is None else message | {"id": id}
        with anyio.fail_after(WITHIN_S):
            await self.remote.send(json.dumps(given).encode() + b"\n")

    async def hear(self) -> Any:
        with anyio.fail_after(WITHIN_S):
            frame = await self.remote.receive()
        assert frame.find(b"\n") == len(frame) - 1
        return json.loads(frame)


@asynccontextmanager
async def opened(play: Play) -> AsyncIterator[Heard]:
    transport = httpx.MockTransport(play)
    async with (
        httpx.AsyncClient(transport=transport) as http,
        anyio.create_task_group() as tasks,
    ):
        remote = Remote(http, "http://server/mcp", tasks, lambda name: SCHEMA)
        tasks.start_soon(remote.run)
        with remote.heard:
            yield Heard(remote)
            remote.end()
        tasks.cancel_scope.cancel()


def answering(**result: Any) -> Play:
    async def play(request: httpx.Request) -> httpx.Response:
        id = json.loads(request.content).get("id")
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": id, "result": result})

    return play


async def test_headers_say_what_the_body_says() -> None:
    seen: list[httpx.Request] = []

    async def play(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return await answering()(request)

    async with opened(play) as heard:
        await heard.say("tools/call", 1, **CALL)
        assert (await heard.hear())["id"] == 1
    [request] = seen
    assert json.loads(request.content)["params"] == CALL
    told = {name: request.headers.get(name) for name in ("Mcp-Method", "Mcp-Name")}
    assert told == {"Mcp-Method": "tools/call", "Mcp-Name": "wipe"}
    assert request.headers["Mcp-Param-Region"] == "eu"
    assert request.headers["MCP-Protocol-Version"] == "2026-07-28"
    assert "Mcp-Session-Id" not in request.headers


async def test_a_session_of_the_older_revision_is_kept_and_ended() -> None:
    seen: list[tuple[str, str | None, str | None]] = []

    async def play(request: httpx.Request) -> httpx.Response:
        given = request.headers
        seen.append(
            (request.method, given.get("Mcp-Session-Id"), given.get("MCP-Protocol-Version"))
        )
        if request.method != "POST":
            return httpx.Response(405)
        if "id" not in json.loads(request.content):
            return httpx.Response(202, headers={"Content-Type": "application/json"})
        answer = await answering(protocolVersion="2025-11-25")(request)
        answer.headers["Mcp-Session-Id"] = "s1"
        return answer

    async with opened(play) as heard:
        await heard.say("initialize", 1)
        await heard.hear()
        await heard.say("notifications/progress")
        await heard.say("ping", 2)
        assert (await heard.hear())["id"] == 2
        heard.remote.close()
        assert await heard.remote.receive() == b""
        assert await heard.remote.wait() == 0
    assert seen == [
        ("POST", None, None),
        ("POST", "s1", "2025-11-25"),
        ("POST", "s1", "2025-11-25"),
        ("DELETE", "s1", "2025-11-25"),
    ]


async def test_what_a_server_says_by_itself_is_heard() -> None:
    async def play(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            event = b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
            return httpx.Response(200, content=event, headers={"Content-Type": "text/event-stream"})
        return httpx.Response(202)

    async with opened(play) as heard:
        await heard.say("notifications/initialized")
        assert (await heard.hear())["method"] == "notifications/message"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(503, text="no"),
        httpx.Response(302, headers={"Location": "http://elsewhere/"}),
        httpx.Response(200, content=b"", headers={"Content-Type": "text/event-stream"}),
        httpx.Response(200, json={"jsonrpc": "2.0", "id": 9, "result": {}}),
        httpx.Response(202),
    ],
)
async def test_a_request_without_an_answer_is_told_so(answer: httpx.Response) -> None:
    async def play(request: httpx.Request) -> httpx.Response:
        assert request.url.host == "server"
        return answer

    async with opened(play) as heard:
        await heard.say("tools/call", 1, **CALL)
        told = await heard.hear()
        if told["id"] == 9:
            told = await heard.hear()
        assert told["id"] == 1
        assert is_unanswered(told)
        status = f"HTTP status {answer.status_code}"
        assert answer.is_success or status in told["error"]["message"]


async def test_a_refusal_with_a_message_is_the_servers_own() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32020, "message": "mismatch"}}

    async def play(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400, json=error)

    async with opened(play) as heard:
        await heard.say("tools/call", 1, **CALL)
        assert await heard.hear() == error


async def test_a_message_over_several_lines_is_one_frame() -> None:
    async def play(request: httpx.Request) -> httpx.Response:
        body = b'{\r\n "jsonrpc": "2.0",\n "id": 1, "result": {}\n}'
        return httpx.Response(200, content=body, headers={"Content-Type": "application/json"})

    async with opened(play) as heard:
        await heard.say("ping", 1)
        assert await heard.hear() == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_a_cancelled_request_of_the_newer_revision_is_hung_up_on() -> None:
    begun, hung_up = anyio.Event(), anyio.Event()
    posted: list[str] = []

    async def play(request: httpx.Request) -> httpx.Response:
        posted.append(json.loads(request.content)["method"])
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            hung_up.set()
        raise AssertionError

    async with opened(play) as heard:
        await heard.say("tools/call", 1, **CALL)
        await begun.wait()
        await heard.say("notifications/cancelled", requestId=1)
        with anyio.fail_after(WITHIN_S):
            await hung_up.wait()
    assert posted == ["tools/call"]
