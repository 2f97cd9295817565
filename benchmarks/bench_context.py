"""What a context costs when much is remembered: it must not depend on what is not asked for."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from ulid_transform import ulid_now

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.sidecar import SCOPE, Sidecar, connected_hosts, running, up
from benchmarks.timing import p50_ms
from pmcl.contracts import MemoryProposed, Reflection
from pmcl.hosts import Host
from pmcl.ledger import ledger_config
from pmcl.ops.state_dir import ledger_key
from pmcl.outbox import UnitOfWork
from pmcl.store import open_writer
from pmcl.workers import Cycle, Decision, Units, admit_all

FEW: Final = 1_000
_AT_ONCE: Final = 250
_VOCABULARY: Final = [f"word{number}" for number in range(5_000)]
_GOAL: Final = "why did deploying the service time out after word42 and word4321"


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    many = max(FEW, sizes.history // 10)
    async with (
        _remembering(directory / "few", FEW) as short,
        _remembering(directory / "many", many) as long,
    ):
        few, grown = _side(short, FEW, sizes), _side(long, many, sizes)
        row = Row(
            name=f"context p50, {many:,} memories",
            unit="ms",
            ours=next(iter(grown)),
            baseline=next(iter(few)),
            bound=Bound("ratio", "<=", 1.5),
        )
        yield Bench({**few, **grown}, (row,))


def _side(sidecar: Sidecar, memories: int, sizes: Sizes) -> Mapping[str, Side]:
    async def latency() -> float:
        async with connected_hosts(sidecar) as (host,):
            return await p50_ms(partial(_ask, host), sizes.one_at_a_time)

    return {f"context of {memories:,} memories": latency}


async def _ask(host: Host, number: int) -> None:
    found = await host.context(_GOAL)
    assert found.status == "compiled", found.cause
    assert found.memories


@asynccontextmanager
async def _remembering(directory: Path, memories: int) -> AsyncIterator[Sidecar]:
    """Run a sidecar whose host's scope had that many memories admitted before."""
    async with running(directory, 1) as sidecar, connected_hosts(sidecar) as (host,):
        seen = await host.observe(source="ls", summary="x", visibility="shareable")
    key = ledger_key(directory / "state", make=False)
    chance = random.Random(memories)

    def admit(unit: UnitOfWork) -> Decision:
        texts = [
            "the deploy of a service timed out: " + " ".join(chance.choices(_VOCABULARY, k=12))
            for _ in range(_AT_ONCE)
        ]
        proposals = tuple(
            MemoryProposed(text=text, evidence_ids=(seen,), visibility="shareable")
            for text in texts
        )
        cycle = Cycle(scope=SCOPE, host="host-0", cycle_id=ulid_now())
        made = admit_all(unit, key, cycle, Reflection(proposals=proposals))
        return Decision(events=made.events, payloads=made.payloads)

    async with open_writer(ledger_config(directory / "state/ledger.sqlite")) as writer:
        for _ in range(memories // _AT_ONCE):
            await Units(writer).record(admit)
    async with up(directory / "state"):  # its ports are kept
        yield sidecar
