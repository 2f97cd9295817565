"""What it costs to replay what was done, beside fetching and acknowledging the same messages."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

import anyio
import psutil
from nats.aio.client import Client
from nats.aio.msg import Msg

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.bench_observations import FIELDS
from benchmarks.peer_pull import BATCH, ask, is_status
from benchmarks.server import connected, nats_server
from benchmarks.sidecar import connected_hosts, running
from benchmarks.streams import add_consumer, add_stream, until_drained
from benchmarks.timing import send_all
from pmcl.bus import INTAKE, Message, read_page, stream_state
from pmcl.ops.reach import reach_bus
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid
from pmcl.ops.stream_replay import ReplayReport, Stretch, replay

OBSERVED_AT_ONCE = 5_000
PAGE = 2_000
COPIES_IN_FLIGHT = 256
LOOK_S = 0.01
MIB = 1024**2

REPLAY = "pmcl replay of what was done"
RAW = "raw fetch and ack"
TENTH, HALF, WHOLE = "resident at 10 %", "resident at 50 %", "resident at 100 %"

ROWS = (
    Row(
        name="replay of what was done",
        unit="/s",
        ours=REPLAY,
        baseline=RAW,
        bound=Bound("ratio", ">=", 0.7),
    ),
    Row(
        name="sidecar's memory, half through a replay",
        unit="MiB",
        ours=HALF,
        baseline=TENTH,
        bound=Bound("ratio", "<=", 1.1),
    ),
    Row(
        name="sidecar's memory, at the end of a replay",
        unit="MiB",
        ours=WHOLE,
        baseline=TENTH,
        bound=Bound("ratio", "<=", 1.1),
    ),
)


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    settings = Settings(state_dir=directory / "ours/state")
    async with AsyncExitStack() as stack:
        sidecar = await stack.enter_async_context(running(directory / "ours", 1))
        async with connected_hosts(sidecar) as (host,):
            for _ in range(max(1, sizes.replayed // OBSERVED_AT_ONCE)):
                await host.observe_many([FIELDS] * min(sizes.replayed, OBSERVED_AT_ONCE))
                await until_drained(sidecar.monitor_url, INTAKE)
        server = await stack.enter_async_context(nats_server(directory / "server"))
        core = await stack.enter_async_context(connected(server.url("core")))
        messages = await copied(settings, core)
        yield Bench({**ours(settings), RAW: partial(fetched_per_second, core, messages)}, ROWS)


async def copied(settings: Settings, core: Client) -> int:
    """Copy INTAKE to the baseline's server, message for message; return how many there are."""
    subject = "pmcl.v1.observation.*.*"
    await add_stream(core, "RAW", subject)
    first, count = 1, 0
    async with reach_bus(settings, "admin") as admin:
        state = await stream_state(admin, INTAKE)
        assert state is not None
        while first <= state.last:
            page = await read_page(admin, INTAKE, [subject], first, PAGE)
            found = [stored.message for stored in page.messages]
            await send_all(partial(copy, core, found), len(found), COPIES_IN_FLIGHT)
            first, count = page.messages[-1].sequence + 1, count + len(found)
    return count


async def copy(core: Client, messages: list[Message], number: int) -> None:
    message = messages[number]
    await core.jetstream().publish(message.subject, message.data, headers=dict(message.headers))


async def fetched_per_second(client: Client, messages: int) -> float:
    jetstream = client.jetstream()
    durable = f"raw-{perf_counter():.0f}"
    await add_consumer(client, "RAW", durable)
    inbox = client.new_inbox()
    pulled = await client.subscribe(inbox)
    begun, left = perf_counter(), messages
    while left > 0:
        await ask(client, f"$JS.API.CONSUMER.MSG.NEXT.RAW.{durable}", inbox)
        for _ in range(min(BATCH, left)):
            message: Msg = await pulled.next_msg(timeout=10)
            assert not is_status(message), message.headers
            await message.ack()
            left -= 1
    await client.flush()
    taken_s = perf_counter() - begun
    await pulled.unsubscribe()
    await jetstream.delete_consumer("RAW", durable)
    return messages / taken_s


def ours(settings: Settings) -> Mapping[str, Side]:
    resident: dict[str, float] = {}

    async def replayed_per_second() -> float:
        report = ReplayReport()
        begun = perf_counter()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, settings, report, resident)
            await replay(settings, Stretch(), report)
            taken_s = perf_counter() - begun
            tasks.cancel_scope.cancel()
        assert (report.repeats, report.done) == (report.messages, 0)
        resident[WHOLE] = resident_mib(settings)
        return report.messages / taken_s

    async def at(mark: str) -> float:
        return resident[mark]

    return {REPLAY: replayed_per_second, **{mark: partial(at, mark) for mark in MARKS}}


MARKS = {TENTH: 0.1, HALF: 0.5, WHOLE: 1.0}


async def watch(settings: Settings, report: ReplayReport, resident: dict[str, float]) -> None:
    """Note how much memory the sidecar has at each mark but the last."""
    for mark in (TENTH, HALF):
        while report.repeats < max(1, report.messages * MARKS[mark]):  # noqa: ASYNC110 - a report
            await anyio.sleep(LOOK_S)
        resident[mark] = resident_mib(settings)


def resident_mib(settings: Settings) -> float:
    pid = running_pid(settings.state_dir)
    assert pid is not None
    return float(psutil.Process(pid).memory_info().rss) / MIB
