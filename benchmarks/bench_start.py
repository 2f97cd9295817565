"""What the sidecar adds to the start of the server that it embeds."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from benchmarks.bench import Bench, Bound, Row, Sizes
from benchmarks.server import nats_server
from benchmarks.sidecar import up

OURS = "pmcl up, to its ready line"
BARE = "bare nats-server, to healthy"

ROWS = (
    Row(
        name="start on an empty folder",
        unit="s",
        ours=OURS,
        baseline=BARE,
        bound=Bound("difference", "<=", 1.5),
    ),
)


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    folders = (directory / str(number) for number in count())

    async def start_s(open_it: Callable[[Path], AbstractAsyncContextManager[object]]) -> float:
        begun = perf_counter()
        async with open_it(next(folders)):
            return perf_counter() - begun

    yield Bench({BARE: partial(start_s, nats_server), OURS: partial(start_s, up)}, ROWS)
