"""Nobody holds the gateway up: sizes, times and numbers of everything have a bound."""

import json
from contextlib import AsyncExitStack

import anyio
import pytest
import structlog

from pmcl.hosts.desk import Desk
from pmcl.hosts.gateway.connection import BoundedProtocol
from tests.integration.gateway.opening import Configured, opened
from tests.integration.gateway.wire import Answer, Wire, exchange, parsed
from tests.integration.hosts.sidecar import Sidecar, until
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


def head(wire: Wire, *lines: str, path: str = "/v1/turns") -> bytes:
    lines = (f"host: 127.0.0.1:{wire.port}", f"authorization: Bearer {wire.key}", *lines)
    return "\r\n".join((f"POST {path} HTTP/1.1", *lines, "", "")).encode()


async def closed_with(stream: anyio.abc.SocketStream) -> Answer:
    """What a connection says before it is closed."""
    received = b""
    with anyio.fail_after(10):
        try:
            while True:
                received += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return parsed(received)


@pytest.mark.usefixtures("sidecar")
async def test_large_body_is_refused_while_it_is_read(
    configured: Configured, nats_server: NatsServer
) -> None:
    async with opened(configured(), nats_server) as wire:
        declared = head(wire, "content-type: application/json", "content-length: 262145")
        refused = await exchange(wire.port, declared)
        assert (refused.status, refused.body["code"]) == (413, "too_large")
        assert refused.body["limit"] == "262144 bytes"
        assert refused.headers["connection"] == "close"
        chunked = head(wire, "content-type: application/json", "transfer-encoding: chunked")
        async with await anyio.connect_tcp("127.0.0.1", wire.port) as stream:
            await stream.send(chunked)
            for _ in range(5):
                await stream.send(b"10000\r\n" + b" " * 65536 + b"\r\n")
            assert (await closed_with(stream)).status == 413


@pytest.mark.usefixtures("sidecar")
async def test_slow_body_and_slow_headers_are_given_up(
    configured: Configured, nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedProtocol, "header_s", 0.1)
    monkeypatch.setattr(BoundedProtocol, "tick_s", 0.02)
    async with opened(configured(body_s=0.1), nats_server) as wire:
        body = head(wire, "content-type: application/json", "content-length: 20")
        for sent in (body, body + b'{"turn', b"POST /v1/turns HT", b""):
            async with await anyio.connect_tcp("127.0.0.1", wire.port) as stream:
                await stream.send(sent)
                answer = await closed_with(stream)
                assert (answer.status, answer.body["code"]) == (408, "too_slow")
        assert (await wire.get("/v1/health")).status == 200


@pytest.mark.usefixtures("sidecar")
@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 20_000,
    ],
)
async def test_what_is_not_http_is_refused(
    configured: Configured, nats_server: NatsServer, sent: bytes
) -> None:
    async with opened(configured(), nats_server) as wire:
        answer = await exchange(wire.port, sent)
        assert (answer.status, answer.body["code"]) == (400, "malformed")


@pytest.mark.usefixtures("sidecar")
async def test_connections_are_bounded(
    configured: Configured, nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedProtocol, "connections_max", 2)
    async with opened(configured(), nats_server) as wire, AsyncExitStack() as stack:
        held = [
            await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", wire.port))
            for _ in range(2)
        ]

        async def refused() -> Answer | None:
            answer = await exchange(wire.port, head(wire))
            return answer if answer.status == 503 else None

        answer = await until(refused)
        assert answer.body["code"] == "busy"
        assert answer.headers["retry-after"] == "1"
        for stream in held:
            await stream.aclose()

        async def answered() -> bool:
            return (await wire.get("/v1/health")).status == 200

        await until(answered)


@pytest.mark.parametrize("bound", ["host_requests_max", "requests_max"])
async def test_requests_under_way_are_bounded(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar, bound: str
) -> None:
    async with opened(configured(**{bound: 1}), nats_server) as wire:
        await wire.begin()
        sidecar.answer = lambda request: None
        answers: list[Answer] = []
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                asked = {"goal": "g", "text": "t"}
                answers.append(await wire.post("/v1/checks/recommendation", asked))

            tasks.start_soon(ask)
            tasks.start_soon(ask)
        first, last = answers
        assert (first.status, first.body["code"]) == (503, "busy")
        assert first.headers["retry-after"] == "1"
        assert (last.status, last.body["reasons"]) == (200, ["degraded.timeout"])


@pytest.mark.usefixtures("sidecar")
async def test_sessions_are_bounded_and_an_idle_one_gives_way(
    configured: Configured, nats_server: NatsServer
) -> None:
    async with opened(configured(sessions_max=1), nats_server) as wire:
        await wire.begin()
        verdict = await wire.check("read_file", "/a")
        other = Wire(f"http://127.0.0.1:{wire.port}", nats_server.credentials("s", "b").seed)
        full = await other.post("/v1/lease", {"authority": {"tools": {}, "effects": {}}})
        assert (full.status, full.body["field"]) == (503, "$")
        assert (await wire.claim(verdict, "/a")).status == 201
        assert (await wire.outcome(verdict, "succeeded")).status == 200

        async def begun() -> bool:
            answer = await other.post("/v1/lease", {"authority": {"tools": {}, "effects": {}}})
            return answer.status == 200

        await until(begun)
        assert (await wire.get("/v1/lease")).body["generation"] is not None


@pytest.mark.usefixtures("sidecar")
async def test_client_that_reads_nothing_is_let_go(
    configured: Configured, nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, bound_s in (("header_s", 0.1), ("unread_s", 0.1), ("tick_s", 0.02)):
        monkeypatch.setattr(BoundedProtocol, name, bound_s)
    lost = anyio.Event()

    class Watched(BoundedProtocol):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            lost.set()

    monkeypatch.setattr("pmcl.hosts.gateway.http_server.BoundedProtocol", Watched)
    async with opened(configured(request_s=0.5), nats_server) as wire:
        ask = f"GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1:{wire.port}\r\n\r\n".encode()
        async with await anyio.connect_tcp("127.0.0.1", wire.port) as stream:
            await stream.send(ask * 400)
            with anyio.fail_after(10):
                await lost.wait()


async def test_defect_is_told_without_content_and_ends_nothing(
    configured: Configured,
    nats_server: NatsServer,
    sidecar: Sidecar,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(desk: Desk, proposal: object) -> None:
        raise RuntimeError("content of the call")

    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        with monkeypatch.context() as patch, structlog.testing.capture_logs() as logged:
            patch.setattr(Desk, "check", broken)
            asked = {"goal": "g", "text": "content of the call"}
            answer = await wire.post("/v1/checks/recommendation", asked)
        assert (answer.status, answer.body["code"]) == (500, "failed")
        assert "content" not in json.dumps([answer.body, logged])
        [entry] = [entry for entry in logged if entry["event"] == "gateway.failed"]
        assert (entry["error"], entry["line"].partition(":")[0]) == ("RuntimeError", "broken")
        assert (await wire.check("read_file", "/a"))["status"] == "passed"
