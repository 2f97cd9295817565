"""What a verdict costs when the ledger has grown: it must not depend on what is not asked for."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.bench import Bench, Bound, Row, Side, Sizes
from benchmarks.bench_verdicts import proposal
from benchmarks.history import evidence_id, with_history
from benchmarks.sidecar import Sidecar, connected_hosts
from benchmarks.timing import p50_ms
from pmcl.contracts import CheckpointStatus
from pmcl.hosts import Host

FEW = 1_000
CITED = 16
"""Ids that a proposal names, spread over all rows."""

_BOUND = Bound("ratio", "<=", 1.2)


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    many = max(FEW, sizes.history)
    async with (
        with_history(directory / "few", FEW) as short,
        with_history(directory / "many", many) as long,
    ):
        few, grown = sides(short, FEW, sizes), sides(long, many, sizes)
        rows = tuple(
            Row(name=name, unit="ms", ours=ours, baseline=baseline, bound=_BOUND)
            for name, ours, baseline in zip(NAMES, grown, few, strict=True)
        )
        yield Bench({**few, **grown}, rows)


NAMES = ("verdict p50, passed, on a grown ledger", "verdict p50, held, on a grown ledger")


def sides(sidecar: Sidecar, rows: int, sizes: Sizes) -> Mapping[str, Side]:
    async def latency(tool: str, expected: CheckpointStatus) -> float:
        async with connected_hosts(sidecar) as (host,):
            return await p50_ms(partial(check, host, tool, expected, rows), sizes.one_at_a_time)

    return {
        f"verdict on a read, {rows:,} evidence rows": partial(latency, "read_file", "passed"),
        f"verdict on a deletion, {rows:,} evidence rows": partial(latency, "delete_file", "held"),
    }


async def check(host: Host, tool: str, expected: CheckpointStatus, rows: int, number: int) -> None:
    step = rows // CITED
    cited = tuple(evidence_id((number + each * step) % rows + 1) for each in range(CITED))
    asked = msgspec.structs.replace(proposal(tool), evidence_ids=cited)
    verdict = await host.check(asked)
    assert verdict.status == expected, f"{verdict.status}: {verdict.reasons}"
