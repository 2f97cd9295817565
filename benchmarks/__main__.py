"""`python -m benchmarks`: measure ours and its baselines in the same run and print the ratios."""

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio

from benchmarks import (
    bench_context,
    bench_guard,
    bench_history,
    bench_hook,
    bench_observations,
    bench_relay,
    bench_replay,
    bench_start,
    bench_verdicts,
)
from benchmarks.bench import OpenBench, Sizes
from benchmarks.report import as_json, print_table
from benchmarks.rounds import Result, measure
from pmcl.ops.console import configure_logs

BENCHES: dict[str, OpenBench] = {
    "verdicts": bench_verdicts.open_bench,
    "history": bench_history.open_bench,
    "context": bench_context.open_bench,
    "observations": bench_observations.open_bench,
    "relay": bench_relay.open_bench,
    "replay": bench_replay.open_bench,
    "guard": bench_guard.open_bench,
    "start": bench_start.open_bench,
    "hook": bench_hook.open_bench,
}


async def measure_all(names: Sequence[str], rounds: int, sizes: Sizes) -> list[Result]:
    results = []
    for name in names:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="pmcl-bench-") as directory:
            async with BENCHES[name](Path(directory), sizes) as bench:
                results += await measure(bench, rounds)
    return results


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    made.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all")
    made.add_argument("--rounds", type=int, default=5, help="counted rounds; one more warms up")
    made.add_argument("--scale", type=float, default=1.0, help="of the work in one round")
    made.add_argument("--json", action="store_true", help="print JSON in place of the table")
    return made


def main() -> None:
    arguments = parser()
    given = arguments.parse_args()
    unknown = sorted(set(given.names) - set(BENCHES))
    if unknown:
        arguments.error(f"unknown: {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    if importlib.util.find_spec("faststream") is None:
        arguments.error("FastStream is missing: .venv/bin/pip install -e '.[benchmarks]'")
    configure_logs("error")
    run = partial(measure_all, given.names or list(BENCHES), given.rounds)
    results = anyio.run(run, Sizes.scaled(given.scale), backend_options={"use_uvloop": True})
    if given.json:
        print(as_json(results, given.rounds))
    else:
        print_table(results, given.rounds)


if __name__ == "__main__":
    main()
