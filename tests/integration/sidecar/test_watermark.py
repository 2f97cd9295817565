"""What a host was told is stored, its next check sees, or nobody judges it."""

from typing import Any

import anyio
import pytest

from pmcl.contracts import Evaluated
from pmcl.hosts import Host
from pmcl.outbox import open_host_file
from pmcl.workers import Incoming, ObserveWorker
from tests.integration.sidecar.room import WITHIN_S, Room, proposal

pytestmark = pytest.mark.anyio

_CHECKS = 1_000
_BACKLOG = 5_000
_WORKED_OFF_S = 60.0
_UNJUDGED = {"degraded.evidence_pending", "degraded.timeout"}


@pytest.mark.long
async def test_a_check_always_sees_the_observation_acknowledged_before_it(room: Room) -> None:
    seen = 0
    async with Host.connect(room.config()) as host:
        for number in range(_CHECKS):
            evidence_id = await host.observe(source="tool", summary=f"output {number}")
            verdict = await host.check(proposal(evidence_ids=(evidence_id,)))
            assert verdict.evaluation is not None, verdict.reasons
            seen += verdict.evaluation.evidence_ids == (evidence_id,)
    assert seen == _CHECKS


@pytest.mark.long
async def test_behind_a_backlog_a_check_sees_its_evidence_or_is_not_judged(room: Room) -> None:
    config = room.config(observe_ms=60_000)
    scope = config.credentials.scope
    seen = degraded = 0
    async with Host.connect(config) as host, Host.connect(config) as sibling:
        done = anyio.Event()

        async def flood() -> None:
            await sibling.observe_many(
                [{"source": "tool", "summary": f"output {n}"} for n in range(_BACKLOG)]
            )
            done.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(flood)
            while not done.is_set() or not seen:
                evidence_id = await host.observe(source="tool", summary="the newest")
                verdict = await host.check(proposal(evidence_ids=(evidence_id,)))
                if verdict.evaluation is None:
                    assert set(verdict.reasons) <= _UNJUDGED
                    degraded += 1
                else:
                    assert verdict.evaluation.evidence_ids == (evidence_id,)
                    seen += 1
        with anyio.fail_after(_WORKED_OFF_S):
            while (last := await host.check(proposal())).evaluation is None:
                assert set(last.reasons) <= _UNJUDGED
        assert last.status == "passed"
    assert len(await room.events(scope, Evaluated)) >= seen + 1
    (row,) = await room.rows("SELECT count(*) AS n FROM evidence WHERE scope = :s", s=scope)
    assert row["n"] == _BACKLOG + seen + degraded


async def test_a_check_waits_for_evidence_that_is_under_way(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = anyio.Event()
    prepare = ObserveWorker.prepare

    async def held_back(worker: ObserveWorker, incoming: Incoming) -> Any:
        await let_go.wait()
        return await prepare(worker, incoming)

    config = room.config(deadline_ms=600)
    async with Host.connect(config) as host:
        monkeypatch.setattr(ObserveWorker, "prepare", held_back)
        evidence_id = await host.observe(source="tool", summary="under way")
        asked = proposal(evidence_ids=(evidence_id,))
        early = await host.check(asked)
        assert (early.evaluation, early.reasons) == (None, ("degraded.evidence_pending",))
        assert await room.events(config.credentials.scope, Evaluated) == []
        verdicts = []
        async with anyio.create_task_group() as tasks:

            async def check() -> None:
                verdicts.append(await host.check(asked))

            tasks.start_soon(check)
            await anyio.wait_all_tasks_blocked()
            let_go.set()
        assert verdicts[0].evaluation is not None
        assert verdicts[0].evaluation.evidence_ids == (evidence_id,)


async def test_a_number_of_a_dead_process_degrades_its_host_for_a_while_only(room: Room) -> None:
    config = room.config(deadline_ms=400, sweep_ms=400)
    async with Host.connect(config) as host:
        await host.observe(source="tool", summary="before")
        assert (await host.check(proposal())).status == "passed"
        async with open_host_file(config.file) as dying:
            await dying.reserve(1, deadline_ms=2**50)
        evidence_id = await host.observe(source="tool", summary="after")
        statuses: list[str] = []
        with anyio.fail_after(WITHIN_S):
            while not statuses or statuses[-1] != "passed":
                verdict = await host.check(proposal(evidence_ids=(evidence_id,)))
                statuses.append("passed" if verdict.evaluation else verdict.reasons[0])
        assert set(statuses[:-1]) <= {"degraded.evidence_pending"}


async def test_a_dead_process_is_swept_at_the_next_start(room: Room) -> None:
    config = room.config()
    async with open_host_file(config.file) as dying:
        await dying.reserve(3, deadline_ms=2**50)
    async with Host.connect(config) as host:
        evidence_id = await host.observe(source="tool", summary="after")
        verdict = await host.check(proposal(evidence_ids=(evidence_id,)))
        assert verdict.status == "passed"
