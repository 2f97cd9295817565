"""Nobody holds the gateway up: sizes, times and numbers of everything have a bound."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import pytest

from pmcl.hosts.desk import Desk
from pmcl.hosts.gateway import GatewayConfig, run_gateway
from pmcl.hosts.gateway.connection import BoundedProtocol
from tests.integration.gateway.wire import Answer, Wire, exchange, parsed
from tests.integration.hosts.sidecar import Sidecar, evaluation_of, until
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

Configured = Callable[..., GatewayConfig]


@asynccontextmanager
async def opened(config: GatewayConfig, nats_server: NatsServer) -> AsyncIterator[Wire]:
    async with run_gateway(config) as url:
        yield Wire(url, nats_server.credentials("s", "a").seed)


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


async def test_idle_session_is_closed_and_comes_back(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with opened(configured(idle_s=0.0), nats_server) as wire:
        await wire.begin()

        async def begun_again() -> bool:
            verdict = await wire.check("read_file", "/a")
            assert verdict["status"] == "passed", verdict
            assert (await wire.claim(verdict, "/a")).status == 201
            assert (await wire.outcome(verdict, "succeeded")).status == 200
            return begins() > 1

        def begins() -> int:
            return sum(1 for message, _ in sidecar.asked if message.subject.endswith(".begin"))

        await until(begun_again)


async def test_unclaimed_verdict_ends_as_unused(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    sidecar.answer = lambda request: evaluation_of(request, valid_for_ms=50)
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        verdict = await wire.check("read_file", "/a")

        async def unused() -> bool:
            return any(b'"status":"unused"' in message.data for message in await sidecar.stored())

        await until(unused)
        refused = await wire.claim(verdict, "/a")
        assert (refused.status, refused.body["code"]) == (409, "expired")


async def test_open_dispatches_are_unknown_when_the_gateway_stops(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        verdict = await wire.check("read_file", "/a")
        await wire.check("read_file", "/b")
        assert (await wire.claim(verdict, "/a")).status == 201
    outcomes = [json.loads(message.data) for message in await sidecar.stored()]
    assert sorted(outcome["status"] for outcome in outcomes) == ["unknown", "unused"]
    [unknown] = [outcome for outcome in outcomes if outcome["status"] == "unknown"]
    assert unknown["evaluation_id"] == verdict["verdict_id"]


async def test_away_sidecar_degrades_and_is_never_an_error(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        nats_server.kill()
        held = await wire.check("delete_file", "/a")
        assert (held["status"], held["evaluation"]) == ("held", None)
        assert held["reasons"][0].startswith("degraded.")
        inspected = await wire.check("read_file", "/a")
        assert inspected["status"] == "degraded"
        assert (await wire.claim(inspected, "/a")).status == 201
        assert (await wire.outcome(inspected, "succeeded")).status == 200
        assert (await wire.claim(inspected, "/a")).body["code"] == "claimed"


async def test_begin_without_a_sidecar_is_a_lease_that_comes_later(
    configured: Configured, nats_server: NatsServer
) -> None:
    nats_server.kill()
    async with opened(configured(), nats_server) as wire:
        lease = await wire.begin()
        assert (lease["live"], lease["generation"]) == (False, None)
        assert (await wire.check("read_file", "/a"))["status"] == "degraded"


@pytest.mark.usefixtures("sidecar")
async def test_lost_observation_is_told_by_its_key(
    configured: Configured, nats_server: NatsServer
) -> None:
    async with opened(configured(), nats_server) as wire:
        await wire.begin()
        nats_server.kill()
        observed = {"source": "ls", "summary": "a", "key": "key-1"}
        lost = await wire.post("/v1/observations", observed)
        assert (lost.status, lost.body["code"]) == (503, "observation_lost")
        assert lost.body["lost"] == ["key-1"]
        assert lost.headers["retry-after"] == "1"


@pytest.mark.usefixtures("sidecar")
async def test_readiness_is_the_sidecars(configured: Configured, nats_server: NatsServer) -> None:
    async with opened(configured(is_ready=lambda: False), nats_server) as wire:
        answer = await wire.get("/v1/ready")
        assert (answer.status, answer.body) == (503, {"ready": False})
        assert (await wire.get("/v1/health")).status == 200


async def test_session_that_is_closing_takes_no_new_call(
    configured: Configured, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    class Slow(Desk):
        async def close(self) -> None:
            closing.set()
            await release.wait()

    closing, release = anyio.Event(), anyio.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pmcl.hosts.gateway.session.Desk", Slow)
        async with opened(configured(idle_s=0.0), nats_server) as wire:
            await wire.begin()
            with anyio.fail_after(10):
                await closing.wait()
            seen = len(sidecar.asked)
            assert (await wire.get("/v1/lease")).body["live"]
            begun = [message.subject for message, _ in sidecar.asked[seen:]]
            assert begun[0].endswith(".begin")
            release.set()
