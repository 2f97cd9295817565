"""What a verdict costs over a message that is only carried there, stored and carried back."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from nats.aio.client import Client

from benchmarks.bench import Bench, Side, Sizes
from benchmarks.payloads import REQUEST
from benchmarks.processes import peer
from benchmarks.server import connected, nats_server
from benchmarks.timing import Call, p50_ms, per_second

REQUEST_S = 10.0


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(nats_server(directory / "server"))
        log, core = directory / "peers.log", server.url("core")
        for command in (
            ("peer_echo", core, "echo.raw"),
            ("peer_echo", core, "echo.stored", "--commit", directory / "stored.sqlite"),
            ("peer_faststream", "echo", core, "echo.framework"),
        ):
            await stack.enter_async_context(peer(*command, log=log))
        client = await stack.enter_async_context(connected(server.url("hosts")))
        yield Bench(baselines(client, sizes), ())


def baselines(client: Client, sizes: Sizes) -> dict[str, Side]:
    def ask(subject: str) -> Call:
        return partial(request, client, subject)

    return {
        "raw echo with one commit, one at a time": partial(
            p50_ms, ask("echo.stored"), sizes.one_at_a_time
        ),
        "raw echo, 64 in flight": partial(per_second, ask("echo.raw"), sizes.in_flight),
        "FastStream echo, 64 in flight": partial(
            per_second, ask("echo.framework"), sizes.in_flight
        ),
    }


async def request(client: Client, subject: str, number: int) -> None:
    answer = await client.request(subject, REQUEST, timeout=REQUEST_S)
    assert answer.data
