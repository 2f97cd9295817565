"""What the sidecar adds to the start of the server that it embeds."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from benchmarks.bench import Bench, Sizes
from benchmarks.server import nats_server


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    fresh = (directory / str(number) for number in count())
    yield Bench({"bare nats-server": partial(server_start_s, fresh)}, ())


async def server_start_s(fresh: Iterator[Path]) -> float:
    begun = perf_counter()
    async with nats_server(next(fresh)):
        return perf_counter() - begun
