"""A host that works through its plan, and writes on disk what was acknowledged to it.

`host_driver.py JOB`: killed at any moment and started again, it goes on where its records end. The
tool that a call would run is the record of the call itself: where there is none, nothing ran.
"""

import os
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec
import structlog

from pmcl.contracts import Premortem, Resource, Tool, sha256
from pmcl.hosts import (
    DispatchRefusedError,
    Host,
    HostConfig,
    ObservationFields,
    ObservationLostError,
    Proposal,
    Verdict,
)

__all__ = ["Done", "Job", "load_job", "read_records", "save_job"]

_SETTLED_S = 30.0
_POLL_S = 0.02
_HELD_RESOURCES = 10
_FAILED_SHARE = 0.2
_TOOL_MAX_S = 0.05

ItemKind = Literal["many", "one", "inspect", "hold", "lift"]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What one host is to do.

    Attributes:
        many: batches of 100 observations.
        one: observations by themselves.
        inspect: local inspections, each dispatched.
        hold: mutations without mitigation, none dispatched.
        lift: mutations held first, then lifted by an observation of their own, then dispatched.
        workers: items under way at once.
    """

    config: HostConfig
    records: Path
    seed: int
    many: int
    one: int
    inspect: int
    hold: int
    lift: int
    workers: int = 8

    def plan(self) -> list[str]:
        """Return the names of all items in their order."""
        kinds: tuple[ItemKind, ...] = ("many", "one", "inspect", "hold", "lift")
        items = [f"{kind}-{number}" for kind in kinds for number in range(getattr(self, kind))]
        random.Random(self.seed).shuffle(items)
        return items


class Done(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record.

    Attributes:
        what: `observed` (acknowledged), `dispatched` (the tool ran), `claimed` (a life before this
            one claimed it and died), `held`, `audited` (ran unjudged), `finished` (the item).
        evidence: key to evidence id.
        id: evaluation id or audit id.
    """

    what: Literal["observed", "dispatched", "claimed", "held", "audited", "finished"]
    item: str
    evidence: dict[str, str] = {}
    id: str = ""


def save_job(job: Job, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(job, enc_hook=str))


def load_job(path: Path) -> Job:
    return msgspec.json.decode(path.read_bytes(), type=Job, dec_hook=lambda kind, raw: kind(raw))


def read_records(path: Path) -> list[Done]:
    return msgspec.json.Decoder(Done).decode_lines(path.read_bytes()) if path.exists() else []


class Records:
    """An append-only file; a record is on disk when `add` returns."""

    def __init__(self, path: Path) -> None:
        known = read_records(path)
        self.finished = {record.item for record in known if record.what == "finished"}
        self.ran = {record.item for record in known if record.what in ("dispatched", "claimed")}
        self._descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def add(self, *records: Done) -> None:
        os.write(self._descriptor, b"".join(msgspec.json.encode(r) + b"\n" for r in records))
        os.fsync(self._descriptor)


class Driver:
    """Does one job with one connected host."""

    def __init__(self, job: Job, host: Host, records: Records) -> None:
        self._host = host
        self._records = records
        self._choices = random.Random()
        self._items = iter([item for item in job.plan() if item not in records.finished])
        self._workers = job.workers

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(self._workers):
                tasks.start_soon(self._work)

    async def _work(self) -> None:
        for item in self._items:
            kind, _, number = item.partition("-")
            match kind:
                case "many":
                    await self._observe(item, [f"{item}.{each}" for each in range(100)])
                case "one":
                    await self._observe(item, [item])
                case "inspect":
                    await self._inspect(item)
                case "hold":
                    await self._hold(item, int(number))
                case _:
                    await self._lift(item)
            self._records.add(Done(what="finished", item=item))

    async def _observe(
        self, item: str, keys: Iterable[str], resources: tuple[Resource, ...] = ()
    ) -> dict[str, str]:
        """Return the evidence id of each key, once all are acknowledged."""
        stored: dict[str, str] = {}
        waiting = list(keys)
        while waiting:
            fields: list[ObservationFields] = [
                {"source": "driver", "key": key, "summary": f"saw {key}", "resources": resources}
                for key in waiting
            ]
            try:
                ids, lost = await self._host.observe_many(fields), set[str]()
            except ObservationLostError as error:
                ids, lost = list(error.stored), set(error.lost)
            evidence = dict(zip((key for key in waiting if key not in lost), ids, strict=True))
            self._records.add(Done(what="observed", item=item, evidence=evidence))
            stored |= evidence
            waiting = [key for key in waiting if key in lost]
        return stored

    async def _inspect(self, item: str) -> None:
        """Run an inspection once under a verdict, and once more each time nobody judged it."""
        attempt = 0
        while item not in self._records.ran:
            proposal = _proposal("read_file", f"/work/{item}", f"{item}.{attempt}")
            verdict = await self._host.check(proposal)
            if verdict.status == "degraded":
                attempt += await self._audit(item, verdict, proposal)
            else:
                attempt += not await self._dispatch(item, verdict, proposal)

    async def _hold(self, item: str, number: int) -> None:
        """Be held, by one of a few resources about which nothing is ever observed."""
        path = f"/work/held-{number % _HELD_RESOURCES}"
        tool = ("delete_file", "write_file", "move_file")[number % 3]
        proposal = _proposal(tool, path, item, text=item)
        verdict = await self._judged(proposal)
        await self._expect_held(item, verdict, proposal)

    async def _lift(self, item: str) -> None:
        path = f"/work/{item}"
        if item in self._records.ran:
            return
        first = _proposal("delete_file", path, f"{item}.first")
        await self._expect_held(item, await self._judged(first), first)
        (seen,) = (await self._observe(item, [f"{item}.seen"], first.resources)).values()
        attempt = 0
        while item not in self._records.ran:
            proposal = _proposal("delete_file", path, f"{item}.{attempt}", shown=seen)
            verdict = await self._judged(proposal)
            attempt += not await self._dispatch(item, verdict, proposal)

    async def _judged(self, proposal: Proposal) -> Verdict:
        """Ask until somebody judges; the same call gets the same evaluation."""
        while True:
            verdict = await self._host.check(proposal)
            if (
                verdict.evaluation is not None
                and verdict.evaluation.checkpoint_status != "degraded"
            ):
                return verdict

    async def _expect_held(self, item: str, verdict: Verdict, proposal: Proposal) -> None:
        assert verdict.evaluation is not None
        evaluation_id = verdict.evaluation.evaluation_id
        try:
            async with self._host.dispatch(verdict, proposal):
                self._records.add(Done(what="dispatched", item=item, id=evaluation_id))
        except DispatchRefusedError:
            pass
        self._records.add(Done(what="held", item=item, id=evaluation_id))

    async def _audit(self, item: str, verdict: Verdict, proposal: Proposal) -> bool:
        """Go on with an inspection that nobody judged; return whether it ran."""
        try:
            async with self._host.dispatch(verdict, proposal):
                self._records.add(Done(what="audited", item=item, id=verdict.claim_id))
        except DispatchRefusedError:
            return False
        return True

    async def _dispatch(self, item: str, verdict: Verdict, proposal: Proposal) -> bool:
        """Run the tool; return whether the item needs no other verdict."""
        try:
            async with self._host.dispatch(verdict, proposal) as run:
                self._records.add(Done(what="dispatched", item=item, id=verdict.claim_id))
                await anyio.sleep(self._choices.uniform(0.0, _TOOL_MAX_S))  # the tool at work
                if self._choices.random() < _FAILED_SHARE:
                    run.failed("not_found")
        except DispatchRefusedError as refused:
            if refused.reason != "claimed":
                return False
            self._records.add(Done(what="claimed", item=item, id=verdict.claim_id))
        self._records.ran.add(item)
        return True


def _proposal(tool: str, path: str, call_id: str, shown: str = "", **more: Any) -> Proposal:
    premortem = Premortem(
        failure_mode="data_loss", likelihood=0.2, mitigation="looked", evidence_ids=(shown,)
    )
    return Proposal(
        goal="work",
        tool=Tool(server="files", name=tool, definition_hash=sha256(tool.encode())),
        arguments={"path": path, **more},
        call_id=call_id,
        resources=(Resource(kind="path", value=path, argument="path"),),
        premortem=premortem if shown else None,
    )


async def _main(job: Job) -> None:
    sys.stdout.write("started\n")
    sys.stdout.flush()
    records = Records(job.records)
    async with Host.connect(job.config) as host:
        await Driver(job, host, records).run()
        with anyio.fail_after(_SETTLED_S):
            while not host._session.file.is_empty:  # noqa: ASYNC110 - receipts of another process
                await anyio.sleep(_POLL_S)


if __name__ == "__main__":
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(20),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    anyio.run(_main, load_job(Path(sys.argv[1])), backend_options={"use_uvloop": True})
