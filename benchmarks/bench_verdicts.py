"""What a verdict costs over a message that is only carried there, stored and carried back."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path

from nats.aio.client import Client

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.payloads import REQUEST
from benchmarks.processes import peer
from benchmarks.server import Server, connected, nats_server
from benchmarks.sidecar import Sidecar, connected_hosts, running
from benchmarks.timing import IN_FLIGHT, p50_ms, per_second
from pmcl.contracts import CheckpointStatus, Resource, Tool
from pmcl.hosts import Host, Proposal

HOSTS = 4
"""The in-flight requests are spread over them: one host alone may have 32 under way."""
REQUEST_S = 10.0

PASSED = "verdict on a read, one at a time"
HELD = "verdict on an unmitigated deletion, one at a time"
RATE = f"verdicts on reads, {IN_FLIGHT} in flight"
STORED = "raw echo with one commit, one at a time"
RAW = f"raw echo, {IN_FLIGHT} in flight"
FRAMEWORK = f"FastStream echo, {IN_FLIGHT} in flight"

ROWS = (
    Row(
        name="verdict p50, passed",
        unit="ms",
        ours=PASSED,
        baseline=STORED,
        bound=Bound("ratio", "<=", 1.5),
    ),
    Row(name="verdict p50, held", unit="ms", ours=HELD, baseline=STORED),
    Row(
        name="verdicts, 64 in flight",
        unit="/s",
        ours=RATE,
        baseline=FRAMEWORK,
        bound=Bound("ratio", ">=", 1.0),
    ),
    Row(name="verdicts, 64 in flight", unit="/s", ours=RATE, baseline=RAW),
)

numbers = count()
"""Names a new path for each proposal: a verdict on a path would be met by the hold on it."""


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(nats_server(directory / "server"))
        for command in responders(server, directory):
            await stack.enter_async_context(peer(*command, log=directory / "peers.log"))
        client = await stack.enter_async_context(connected(server.url("hosts")))
        sidecar = await stack.enter_async_context(running(directory / "ours", HOSTS))
        yield Bench({**baselines(client, sizes), **ours(sidecar, sizes)}, ROWS)


def responders(server: Server, directory: Path) -> tuple[tuple[str, ...], ...]:
    core = server.url("core")
    return (
        ("peer_echo", core, "echo.raw"),
        ("peer_echo", core, "echo.stored", "--commit", str(directory / "stored.sqlite")),
        ("peer_faststream", "echo", core, "echo.framework"),
    )


def baselines(client: Client, sizes: Sizes) -> Mapping[str, Side]:
    raw, stored, framework = (
        partial(request, client, f"echo.{kind}") for kind in ("raw", "stored", "framework")
    )
    return {
        STORED: partial(p50_ms, stored, sizes.one_at_a_time),
        RAW: partial(per_second, raw, sizes.in_flight),
        FRAMEWORK: partial(per_second, framework, sizes.in_flight),
    }


async def request(client: Client, subject: str, number: int) -> None:
    answer = await client.request(subject, REQUEST, timeout=REQUEST_S)
    assert answer.data


def ours(sidecar: Sidecar, sizes: Sizes) -> Mapping[str, Side]:
    async def latency(tool: str, expected: CheckpointStatus) -> float:
        async with connected_hosts(sidecar) as hosts:
            ask = partial(check, hosts[:1], tool, expected)
            return await p50_ms(ask, sizes.one_at_a_time)

    async def rate() -> float:
        async with connected_hosts(sidecar) as hosts:
            return await per_second(partial(check, hosts, "read_file", "passed"), sizes.in_flight)

    return {
        PASSED: partial(latency, "read_file", "passed"),
        HELD: partial(latency, "delete_file", "held"),
        RATE: rate,
    }


async def check(hosts: list[Host], tool: str, expected: CheckpointStatus, number: int) -> None:
    verdict = await hosts[number % len(hosts)].check(proposal(tool))
    assert verdict.status == expected, f"{verdict.status}: {verdict.reasons}"


def proposal(tool: str) -> Proposal:
    path = f"/srv/notes/{next(numbers)}.md"
    return Proposal(
        goal="Find the section about fees in the notes and quote it",
        tool=Tool(server="files", name=tool, definition_hash="0" * 64),
        arguments={"path": path, "limit": 200, "note": "x" * 600},
        resources=(Resource(kind="path", value=path, argument="path"),),
        expected_outcome="the section as it stands",
    )
