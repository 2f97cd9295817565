"""No kill loses what was acknowledged, does a thing twice, or gets around a hold."""

import random
from pathlib import Path

import anyio
import pytest

from tests.acceptance.chaos import KINDS, Chaos
from tests.acceptance.facts import count, log_is_the_journal, rows
from tests.acceptance.host_driver import Done, Job, read_records
from tests.acceptance.world import World

pytestmark = pytest.mark.anyio

OBSERVATIONS = 10_000
CHECKPOINTS = 1_000
WITHIN_S = 115.0


def jobs_of(world: World, seed: int) -> list[Job]:
    return [
        Job(
            config=world.host("s", name),
            records=world.directory / f"{name}.records",
            seed=seed + number,
            many=40,  # of 100 each
            one=925,
            inspect=200,
            hold=150,
            lift=75,  # one observation and two checkpoints each
        )
        for number, name in enumerate(("a", "b"))
    ]


def order_of(seed: int) -> list[str]:
    chosen = random.Random(seed)
    order = [*KINDS * 3, chosen.choice(KINDS)]
    chosen.shuffle(order)
    return order


@pytest.mark.long
async def test_ten_kills_lose_nothing_and_repeat_nothing(world: World, seed: int) -> None:
    jobs, order = jobs_of(world, seed), order_of(seed)
    with anyio.fail_after(WITHIN_S):
        chaos = Chaos(world, jobs, seed)
        await chaos.run(order)
        assert chaos.kills.total() == len(order) == 10
        assert min(chaos.kills[kind] for kind in KINDS) >= 3
        done = [record for job in jobs for record in read_records(job.records)]
        await expect_no_hold_bypassed(world.ledger, done)
        await expect_all_evidence_once(world.ledger, done)
        await expect_one_outcome_each(world.ledger, done)
        for job in jobs:
            expect_each_tool_ran_once(job)
            await expect_no_gap(world.ledger, job)
        async with world.admin() as admin:
            assert await log_is_the_journal(world.ledger, admin) > OBSERVATIONS + CHECKPOINTS


async def expect_all_evidence_once(ledger: Path, done: list[Done]) -> None:
    found = await rows(ledger, "SELECT evidence_id, host, key FROM evidence")
    assert len(found) == len({(row["host"], row["key"]) for row in found})
    acked = [pair for record in done for pair in record.evidence.items()]
    assert set(acked) <= {(row["key"], row["evidence_id"]) for row in found}
    assert len(found) == OBSERVATIONS
    assert len({evidence_id for _, evidence_id in acked}) == OBSERVATIONS


async def expect_one_outcome_each(ledger: Path, done: list[Done]) -> None:
    """Each verdict that was used is closed once; no outcome is without its verdict."""
    used = {record.id for record in done if record.what in ("dispatched", "claimed")}
    current = await rows(
        ledger,
        "SELECT e.evaluation_id AS id, e.status AS verdict, o.status AS status, o.reported_by"
        " FROM outcomes AS o JOIN evaluations AS e USING (evaluation_id)"
        " WHERE o.corrected_by IS NULL",
    )
    assert len(current) == len({row["id"] for row in current})
    assert used <= {row["id"] for row in current}
    assert {row["verdict"] for row in current} == {"passed"}
    by_id = {row["id"]: row["status"] for row in current}
    assert {by_id[id] for id in used} <= {"succeeded", "failed", "unknown"}
    assert await count(ledger, "listed_outcomes") == 0
    assert await count(ledger, "parked_outcomes") == 0
    loose = await rows(
        ledger,
        "SELECT 1 FROM outcomes WHERE corrected_by IS NOT NULL"
        " AND corrected_by NOT IN (SELECT outcome_id FROM outcomes)",
    )
    assert not loose
    ran_unjudged = {record.id for record in done if record.what == "audited"}
    audits = {row["audit_id"] for row in await rows(ledger, "SELECT audit_id FROM audits")}
    assert ran_unjudged <= audits


async def expect_no_hold_bypassed(ledger: Path, done: list[Done]) -> None:
    ran = {record.id for record in done if record.what == "dispatched"}
    held = {record.id for record in done if record.what == "held"}
    assert not ran & held
    verdicts = await rows(ledger, "SELECT evaluation_id, status, call_id FROM evaluations")
    status = {row["evaluation_id"]: row["status"] for row in verdicts}
    assert {status[id] for id in ran} == {"passed"}
    assert {status[id] for id in held} == {"held"}
    assert {row["status"] for row in verdicts if row["call_id"].startswith("hold-")} == {"held"}
    assert len(verdicts) >= CHECKPOINTS
    open_holds = await rows(ledger, "SELECT 1 FROM holds WHERE released_at IS NULL")
    assert open_holds


def expect_each_tool_ran_once(job: Job) -> None:
    """Or not at all, when the host died between claim and tool; never twice."""
    used = [r.item for r in read_records(job.records) if r.what in ("dispatched", "claimed")]
    assert len(used) == len(set(used)) == job.inspect + job.lift


async def expect_no_gap(ledger: Path, job: Job) -> None:
    """The inbox has every number that the host's file ever gave."""
    (state,) = await rows(job.config.file, "SELECT host_epoch, next_number, outbox_rows FROM file")
    epoch = state["host_epoch"]
    through = await rows(
        ledger, "SELECT through FROM inbox_watermarks WHERE epoch = :epoch", epoch=epoch
    )
    assert [row["through"] for row in through] == [state["next_number"] - 1]
    assert await count(ledger, "inbox_beyond") == 0
    assert state["outbox_rows"] == 0
