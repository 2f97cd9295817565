"""One clock, two figures: the median of calls made one at a time, the rate of calls in flight."""

from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from time import perf_counter

import anyio

__all__ = ["IN_FLIGHT", "Call", "p50_ms", "per_second", "send_all"]

IN_FLIGHT = 64

Call = Callable[[int], Awaitable[object]]
"""Makes the call with this number, counted from 0, and returns when it was answered."""


async def p50_ms(call: Call, count: int, apart_s: float = 0.0) -> float:
    taken = []
    for number in range(count):
        await anyio.sleep(apart_s)
        begun = perf_counter()
        await call(number)
        taken.append(perf_counter() - begun)
    return 1_000 * median(taken)


async def send_all(call: Call, count: int, in_flight: int = IN_FLIGHT) -> None:
    numbers = iter(range(count))
    async with anyio.create_task_group() as group:
        for _ in range(in_flight):
            group.start_soon(send_from, call, numbers)


async def send_from(call: Call, numbers: Iterator[int]) -> None:
    for number in numbers:
        await call(number)


async def per_second(call: Call, count: int, in_flight: int = IN_FLIGHT) -> float:
    begun = perf_counter()
    await send_all(call, count, in_flight)
    return count / (perf_counter() - begun)
