"""A host that works through its items in a process of its own, so that it can be killed.

It reads its job from standard input, and writes on disk what was acknowledged to it. The tool that
a call would run is the record of the call itself: where there is none, nothing ran. Killed and
started again, it goes on where its records end.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import anyio
import msgspec

from pmcl.hosts import (
    DispatchRefusedError,
    Host,
    HostConfig,
    ObservationFields,
    ObservationLostError,
    Proposal,
    Verdict,
)
from pmcl.ops.console import configure_logs
from pmcl.ops.program.calls import deletion, reading, seen

__all__ = ["BATCH", "Done", "Job", "items_of", "read_records"]

BATCH: Final = 10
"""Observations of one item of that kind."""
_KINDS: Final = ("observe", "inspect", "hold", "lift")
_HELD_PATHS: Final = 5
_WORKERS: Final = 4


class Job(msgspec.Struct, frozen=True):
    """What the host is to do: `items`, a quarter of each kind."""

    config: HostConfig
    records: Path
    items: int


class Done(msgspec.Struct, frozen=True, omit_defaults=True):
    """One record.

    Attributes:
        what: `observed` (acknowledged), `ran` (the tool), `claimed` (by a life before this one,
            which died), `audited` (ran unjudged), `held`, `finished` (the item).
        id: evaluation id, audit id or evidence id.
        key: of an observation.
    """

    what: Literal["observed", "ran", "claimed", "audited", "held", "finished"]
    item: str
    id: str = ""
    key: str = ""


def items_of(count: int) -> Iterator[str]:
    """Yield the names of the items in their order; a name begins with its kind."""
    for number in range(count):
        yield f"{_KINDS[number % len(_KINDS)]}-{number}"


def read_records(path: Path) -> list[Done]:
    """Return what was recorded so far."""
    return msgspec.json.Decoder(Done).decode_lines(path.read_bytes()) if path.exists() else []


class _Records:
    """An append-only file; a record is on disk when `add` returns."""

    def __init__(self, path: Path) -> None:
        known = read_records(path)
        self.finished = {record.item for record in known if record.what == "finished"}
        self.ran = {record.item for record in known if record.what in ("ran", "claimed")}
        self._descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def add(self, record: Done) -> None:
        os.write(self._descriptor, msgspec.json.encode(record) + b"\n")
        os.fsync(self._descriptor)


class _Worker:
    """Does the items that are left with one connected host."""

    def __init__(self, job: Job, host: Host, records: _Records) -> None:
        self._host = host
        self._records = records
        self._items = iter([item for item in items_of(job.items) if item not in records.finished])

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(_WORKERS):
                tasks.start_soon(self._work)

    async def _work(self) -> None:
        for item in self._items:
            kind, _, number = item.partition("-")
            match kind:
                case "observe":
                    for each in range(BATCH):
                        await self._observe(item, f"{item}.{each}", seen(f"/work/{item}"))
                case "inspect":
                    await self._inspect(item)
                case "hold":
                    path = f"/work/held-{int(number) // len(_KINDS) % _HELD_PATHS}"
                    await self._expect_held(item, deletion(path, call_id=item, goal=item))
                case _:
                    await self._lift(item)
            self._records.add(Done("finished", item))

    async def _observe(self, item: str, key: str, told: ObservationFields) -> str:
        """Return the evidence id once it is acknowledged, however often it takes."""
        told["key"] = key
        while True:
            try:
                evidence_id = await self._host.observe(**told)
            except ObservationLostError:
                continue
            self._records.add(Done("observed", item, evidence_id, key))
            return evidence_id

    async def _inspect(self, item: str) -> None:
        """Run once under a verdict, and once more each time nobody judged it."""
        attempt = 0
        while item not in self._records.ran:
            proposal = reading(f"/work/{item}", call_id=f"{item}.{attempt}")
            attempt += 1
            verdict = await self._host.check(proposal)
            if verdict.status == "degraded":
                await self._dispatch(item, verdict, proposal, "audited")
            elif await self._dispatch(item, verdict, proposal, "ran"):
                self._records.ran.add(item)

    async def _lift(self, item: str) -> None:
        """Be held, show what the hold asks for, and run once."""
        path, attempt = f"/work/{item}", 0
        if item in self._records.ran:
            return
        await self._expect_held(item, deletion(path, call_id=f"{item}.first"))
        shown = await self._observe(item, f"{item}.seen", seen(path))
        while item not in self._records.ran:
            proposal = deletion(path, shown, call_id=f"{item}.{attempt}")
            attempt += 1
            if await self._dispatch(item, await self._judged(proposal), proposal, "ran"):
                self._records.ran.add(item)

    async def _judged(self, proposal: Proposal) -> Verdict:
        """Ask until somebody judges; the same call gets the same evaluation."""
        while True:
            verdict = await self._host.check(proposal)
            told = verdict.evaluation
            if told is not None and told.checkpoint_status != "degraded":
                return verdict

    async def _expect_held(self, item: str, proposal: Proposal) -> None:
        verdict = await self._judged(proposal)
        assert verdict.evaluation is not None
        await self._dispatch(item, verdict, proposal, "ran")
        self._records.add(Done("held", item, verdict.evaluation.evaluation_id))

    async def _dispatch(
        self, item: str, verdict: Verdict, proposal: Proposal, what: Literal["ran", "audited"]
    ) -> bool:
        """Run the tool; return whether the item needs no other verdict."""
        try:
            async with self._host.dispatch(verdict, proposal):
                self._records.add(Done(what, item, verdict.claim_id))
        except DispatchRefusedError as refused:
            if refused.reason != "claimed":
                return False
            self._records.add(Done("claimed", item, verdict.claim_id))
        return True


async def _main(job: Job) -> None:
    records = _Records(job.records)
    async with Host.connect(job.config) as host:
        await _Worker(job, host, records).run()


if __name__ == "__main__":
    configure_logs("error")
    text = sys.stdin.buffer.read()
    given = msgspec.json.decode(text, type=Job, dec_hook=lambda kind, raw: kind(raw))
    anyio.run(_main, given, backend_options={"use_uvloop": sys.platform != "win32"})
