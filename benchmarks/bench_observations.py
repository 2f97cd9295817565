"""What it costs to have an observation committed, from its publish to its acknowledgement."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

from nats.aio.client import Client

from benchmarks.bench import Bench, Side, Sizes
from benchmarks.payloads import OBSERVATION
from benchmarks.processes import peer
from benchmarks.server import Server, connected, nats_server
from benchmarks.streams import add_consumer, add_stream, until_drained
from benchmarks.timing import Call, send_all

DURABLE = "sink"
PUBLISH_S = 10.0


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(nats_server(directory / "server"))
        async with connected(server.url("core")) as core:
            for stream, subject in (("RAW", "observation.raw"), ("FRAMEWORK", "observation.fast")):
                await add_stream(core, stream, subject)
                await add_consumer(core, stream, DURABLE)
        log, url = directory / "peers.log", server.url("core")
        for command in (
            ("peer_pull", url, "RAW", DURABLE, directory / "raw.sqlite"),
            ("peer_faststream", "pull", url, "FRAMEWORK", DURABLE, "observation.fast"),
        ):
            await stack.enter_async_context(peer(*command, log=log))
        client = await stack.enter_async_context(connected(server.url("hosts")))
        yield Bench(baselines(client, server, sizes), ())


def baselines(client: Client, server: Server, sizes: Sizes) -> dict[str, Side]:
    def handled(stream: str, subject: str) -> Side:
        send = partial(publish, client, subject)
        return partial(handled_per_second, send, sizes.observations, server.monitor_url, stream)

    return {
        "raw pull, commit, ack": handled("RAW", "observation.raw"),
        "FastStream PullSub() that does nothing": handled("FRAMEWORK", "observation.fast"),
    }


async def publish(client: Client, subject: str, number: int) -> None:
    await client.jetstream().publish(subject, OBSERVATION, timeout=PUBLISH_S)


async def handled_per_second(send: Call, count: int, monitor_url: str, stream: str) -> float:
    begun = perf_counter()
    await send_all(send, count)
    await until_drained(monitor_url, stream)
    return count / (perf_counter() - begun)
