"""What it costs to have an observation committed, from its publish to its acknowledgement."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

from nats.aio.client import Client

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.payloads import OBSERVATION, SUMMARY
from benchmarks.processes import peer
from benchmarks.server import Server, connected, nats_server
from benchmarks.sidecar import Sidecar, connected_hosts, running
from benchmarks.streams import add_consumer, add_stream, until_drained
from benchmarks.timing import IN_FLIGHT, send_all
from pmcl.hosts import Host, ObservationFields

DURABLE = "sink"
PUBLISH_S = 10.0

ONE_BY_ONE = f"observe, {IN_FLIGHT} in flight"
MANY = "observe_many"
RAW = "raw pull, commit, ack"
FRAMEWORK = "FastStream PullSub() that does nothing"

ROWS = (
    Row(
        name="observations, one by one",
        unit="/s",
        ours=ONE_BY_ONE,
        baseline=FRAMEWORK,
        bound=Bound("ratio", ">=", 2.5),
    ),
    Row(
        name="observations, one by one",
        unit="/s",
        ours=ONE_BY_ONE,
        baseline=RAW,
        bound=Bound("ratio", ">=", 0.7),
    ),
    Row(
        name="observations, observe_many",
        unit="/s",
        ours=MANY,
        baseline=FRAMEWORK,
        bound=Bound("ratio", ">=", 5.0),
    ),
)

FIELDS: ObservationFields = {"source": "read_file", "summary": SUMMARY}


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(nats_server(directory / "server"))
        await add_streams(server)
        for command in sinks(server, directory):
            await stack.enter_async_context(peer(*command, log=directory / "peers.log"))
        client = await stack.enter_async_context(connected(server.url("hosts")))
        sidecar = await stack.enter_async_context(running(directory / "ours", 1))
        yield Bench({**baselines(client, server, sizes), **ours(sidecar, sizes)}, ROWS)


async def add_streams(server: Server) -> None:
    async with connected(server.url("core")) as core:
        for stream, subject in (("RAW", "observation.raw"), ("FRAMEWORK", "observation.fast")):
            await add_stream(core, stream, subject)
            await add_consumer(core, stream, DURABLE)


def sinks(server: Server, directory: Path) -> tuple[tuple[str, ...], ...]:
    url = server.url("core")
    return (
        ("peer_pull", url, "RAW", DURABLE, str(directory / "raw.sqlite")),
        ("peer_faststream", "pull", url, "FRAMEWORK", DURABLE, "observation.fast"),
    )


def baselines(client: Client, server: Server, sizes: Sizes) -> Mapping[str, Side]:
    def side(stream: str, subject: str) -> Side:
        send = partial(send_all, partial(publish, client, subject), sizes.observations)
        return partial(handled_per_second, send, sizes.observations, server.monitor_url, stream)

    return {RAW: side("RAW", "observation.raw"), FRAMEWORK: side("FRAMEWORK", "observation.fast")}


async def publish(client: Client, subject: str, number: int) -> None:
    await client.jetstream().publish(subject, OBSERVATION, timeout=PUBLISH_S)


def ours(sidecar: Sidecar, sizes: Sizes) -> Mapping[str, Side]:
    async def measured(observe: Callable[[Host, int], Awaitable[object]]) -> float:
        async with connected_hosts(sidecar) as [host]:
            send = partial(observe, host, sizes.observations)
            return await handled_per_second(send, sizes.observations, sidecar.monitor_url, "INTAKE")

    return {ONE_BY_ONE: partial(measured, one_by_one), MANY: partial(measured, many)}


async def one_by_one(host: Host, observations: int) -> None:
    async def observe(number: int) -> None:
        await host.observe(**FIELDS)

    await send_all(observe, observations)


async def many(host: Host, observations: int) -> None:
    await host.observe_many([FIELDS] * observations)


async def handled_per_second(
    send: Callable[[], Awaitable[object]], sent: int, monitor_url: str, stream: str
) -> float:
    begun = perf_counter()
    await send()
    await until_drained(monitor_url, stream)
    return sent / (perf_counter() - begun)
