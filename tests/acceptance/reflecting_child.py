"""A process that reflects on a ledger: it takes one job, says its claim, and goes on when it may.

`reflecting_child.py LEDGER AHEAD_MS GO`: its clock is so far ahead; it answers once GO is a file.
"""

import sys
import time
from functools import partial
from pathlib import Path

import anyio
import structlog

from pmcl.contracts import IntentionProposed, Reflection, Spending
from pmcl.judgement import Retrospect
from pmcl.ledger import LedgerKey, ledger_config
from pmcl.ledger.reflections import OpenCycle
from pmcl.ops.reflection import reflection_config
from pmcl.ops.settings import Settings
from pmcl.outbox import UnitOfWork
from pmcl.store import open_writer
from pmcl.workers import (
    Admission,
    Cycle,
    Reflected,
    ReflectorTraits,
    ReflectWorker,
    Units,
    admit_all,
)

_POLL_S = 0.01


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Waiting:
    """Answers with what it was told to have seen, once it may."""

    traits = ReflectorTraits(name="waiting", reservation=Spending(ms=60_000))

    def __init__(self, go: Path) -> None:
        self._go = go

    async def reflect(self, retrospect: Retrospect) -> Reflected:
        _say(f"claim {retrospect.claim}")
        while not self._go.exists():  # noqa: ASYNC110 - a file tells nobody
            await anyio.sleep(_POLL_S)
        seen = (retrospect.evidence[0].evidence_id,)
        said = IntentionProposed(text=f"claim {retrospect.claim} was here", evidence_ids=seen)
        return Reflected(reflection=Reflection(proposals=(said,)))


def _now_ms(ahead_ms: int) -> int:
    return time.time_ns() // 1_000_000 + ahead_ms


def _admit(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
    whose = Cycle(scope=cycle.scope, host=cycle.host, cycle_id=cycle.cycle_id)
    return admit_all(unit, LedgerKey(bytes(32)), whose, reflection)


def _own_end(unit: UnitOfWork, retrospect: Retrospect) -> str:
    row = unit.tx.one(
        "SELECT result, reason FROM reflections WHERE cycle_id = :cycle_id",
        cycle_id=retrospect.cycle_id,
    )
    assert row is not None
    return f"{row['result']} {row['reason']}"


async def _main(ledger: Path, ahead_ms: int, go: Path) -> None:
    config = reflection_config(Settings(state_dir=ledger.parent))
    async with open_writer(ledger_config(ledger)) as writer:
        units = Units(writer, now_ms=partial(_now_ms, ahead_ms))
        worker = ReflectWorker(units, Waiting(go), config, _admit)
        await worker.tend()
        retrospect = await worker.claim()
        if not isinstance(retrospect, Retrospect):
            _say(f"nothing {retrospect}")
            return
        await worker.finish(retrospect, await worker.ask(retrospect))
        _say(await units.look(partial(_own_end, retrospect=retrospect)))


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    anyio.run(_main, Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
