"""What the guard adds to a tool call: its verdict, its claim and the record of its output."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.bench_verdicts import check
from benchmarks.processes import ROOT, stop
from benchmarks.sidecar import SCOPE, Sidecar, connected_hosts, host_config, running
from benchmarks.timing import p50_ms
from pmcl.hosts import new_profile

GUARD = "guard"
FRAME_MAX = 65_536
PEER = (sys.executable, "-m", "benchmarks.peer_mcp")

APART_S = 0.03
"""Between two calls, as while a model thinks: what a call leaves to be written is written by then.

Without it, each call also waits until the ledger has the output of the one before, and shares the
processor with what the sidecar makes of that one's outcome.
"""

GUARDED = "tool call through the guard, one at a time"
DIRECT = "the same call, made directly"
ADDED = "what the guard adds to a tool call"
VERDICT = "verdict on a read, alone"
GUARDED_APART = f"{GUARDED}, apart"
DIRECT_APART = f"{DIRECT}, apart"
ADDED_APART = f"{ADDED}, apart"
VERDICT_APART = f"{VERDICT}, apart"

ROWS = (
    Row(
        name="tool call through the guard, p50",
        unit="ms",
        ours=GUARDED,
        baseline=DIRECT,
        bound=Bound("difference", "<=", 3.0),
    ),
    Row(
        name="added by the guard, p50",
        unit="ms",
        ours=ADDED,
        baseline=VERDICT,
        bound=Bound("ratio", "<=", 2.0),
    ),
    Row(
        name="tool call through the guard, calls apart, p50",
        unit="ms",
        ours=GUARDED_APART,
        baseline=DIRECT_APART,
        bound=Bound("difference", "<=", 3.0),
    ),
    Row(
        name="added by the guard, calls apart, p50",
        unit="ms",
        ours=ADDED_APART,
        baseline=VERDICT_APART,
        bound=Bound("ratio", "<=", 2.0),
    ),
)

numbers = count()


class Caller:
    """A client of one server on pipes."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)

    async def ask(self, method: str, **params: object) -> str:
        message = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
        await self._stdin.send(json.dumps(message).encode() + b"\n")
        return (await self._lines.receive_until(b"\n", FRAME_MAX)).decode()

    async def call(self, number: int) -> None:
        path = f"/srv/notes/{next(numbers)}.md"
        arguments = {"path": path, "limit": 200, "note": "x" * 600}
        answer = await self.ask("tools/call", name="read_file", arguments=arguments)
        assert path in answer, answer
        assert "isError" not in answer, answer


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        sidecar = await stack.enter_async_context(running(directory / "ours", 1))
        direct = await stack.enter_async_context(caller(PEER, directory / "direct.log"))
        command = await guarded(directory / "ours")
        through = await stack.enter_async_context(caller(command, directory / "guard.log"))
        yield Bench(sides(sidecar, direct, through, sizes), ROWS)


async def guarded(directory: Path) -> Sequence[str]:
    """Return the command of the guard, which is a host of its own: another would fence it."""
    await host_config(directory, GUARD)
    credentials = directory / f"{GUARD}.json"
    credentials.with_suffix(".toml").write_text(new_profile([Path("/srv")]))
    state = ("--state-dir", str(directory / "state"))
    pmcl = str(Path(sys.executable).with_name("pmcl"))
    return (pmcl, "guard", "--host", str(credentials), "--server", SCOPE, *state, "--", *PEER)


@asynccontextmanager
async def caller(command: Sequence[str], log: Path) -> AsyncIterator[Caller]:
    with log.open("ab") as errors:
        process = await anyio.open_process(command, stdin=subprocess.PIPE, stderr=errors, cwd=ROOT)
    try:
        client = Caller(process)
        assert "read_file" in await client.ask("tools/list")
        yield client
    finally:
        with anyio.CancelScope(shield=True):
            await stop(process)


def sides(sidecar: Sidecar, direct: Caller, through: Caller, sizes: Sizes) -> Mapping[str, Side]:
    calls, apart = sizes.one_at_a_time // 2, (sizes.apart, APART_S)

    async def verdict(count: int, apart_s: float = 0.0) -> float:
        async with connected_hosts(sidecar) as hosts:
            ask = partial(check, hosts[:1], "read_file", "passed")
            return await p50_ms(ask, count, apart_s)

    return {
        GUARDED: partial(p50_ms, through.call, calls),
        DIRECT: partial(p50_ms, direct.call, calls),
        ADDED: partial(added_ms, direct, through, calls),
        VERDICT: partial(verdict, calls),
        GUARDED_APART: partial(p50_ms, through.call, *apart),
        DIRECT_APART: partial(p50_ms, direct.call, *apart),
        ADDED_APART: partial(added_ms, direct, through, *apart),
        VERDICT_APART: partial(verdict, *apart),
    }


async def added_ms(direct: Caller, through: Caller, count: int, apart_s: float = 0.0) -> float:
    """Make each call both ways, one after the other, and compare the medians."""
    taken: dict[Caller, list[float]] = {direct: [], through: []}
    for number in range(count):
        for client, times in taken.items():
            await anyio.sleep(apart_s)
            begun = perf_counter()
            await client.call(number)
            times.append(perf_counter() - begun)
    return 1_000 * (median(taken[through]) - median(taken[direct]))
