"""What an operator takes back counts no longer, and does not come back on the same evidence."""

from typing import Any

import pytest

from pmcl.contracts import (
    BeliefProposed,
    ContextRequest,
    IntentionProposed,
    MemoryProposed,
    ProposalRejected,
    Retraction,
    RetractItem,
    SelfModelProposed,
    UnknownItemError,
    WorkingStateProposed,
)
from pmcl.workers import ContextWorker
from tests.unit.workers.desk import Desk, Ledger

pytestmark = pytest.mark.anyio


async def admitted(desk: Desk, proposed: Any) -> str:
    made = await desk.reflect(proposed)
    assert made.counts.admitted == 1
    return made.payloads[0].id


async def retract(desk: Desk, item_id: str, **changes: Any) -> Retraction:
    asked = RetractItem(item_id=item_id, label="ann", **changes)
    done = await desk.say_as_operator("retract", asked)
    assert isinstance(done, Retraction)
    return done


async def named(desk: Desk) -> set[str]:
    """What a verdict and a context of now know of."""
    evaluation = await desk.check(desk.request("read_file", goal="deploy"))
    lineage = {each for item in evaluation.state_check.items for each in item.lineage}
    asked = ContextRequest(
        lease_id=desk.lease.lease_id, generation=desk.lease.generation, goal="deploy"
    )
    found = await desk.ask(ContextWorker(), None, asked)
    shown = (*found.memories, *found.intentions, *found.working_state)
    return lineage | {item.item_id for item in shown}


async def test_what_is_taken_back_is_known_to_no_verdict_and_no_context(
    ledger: Ledger, desk: Desk
) -> None:
    await desk.begin(provider_locality="local")
    seen = (await desk.observe(),)
    proposals = (
        MemoryProposed(text="the deploy timed out", evidence_ids=seen),
        BeliefProposed(text="the deploy is flaky", about="deploy", evidence_ids=seen),
        IntentionProposed(text="deploy again", evidence_ids=seen),
        WorkingStateProposed(text="half of the deploy is done", evidence_ids=seen),
    )
    ids = {await admitted(desk, proposed) for proposed in proposals}
    assert ids <= await named(desk)
    for item_id in ids:
        ledger.clock.now_ms += 1
        done = await retract(desk, item_id)
        assert (done.changed, done.state, done.closed_by) == (True, "retracted", "operator/ann")
        assert item_id not in await named(desk)
    assert not ids & await named(desk)
    rows = await ledger.rows("SELECT item_id, state, closed_by, closed_at FROM items")
    assert {(row["state"], row["closed_by"]) for row in rows} == {("retracted", "operator/ann")}
    assert ledger.clock.now_ms in [row["closed_at"] for row in rows]
    kept = await ledger.rows("SELECT id FROM payloads")
    assert ids <= {row["id"] for row in kept}


async def test_a_dry_run_tells_what_would_be_taken_back(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    item_id = await admitted(desk, MemoryProposed(text="tea is green", evidence_ids=(seen,)))
    before = await ledger.tables()
    done = await retract(desk, item_id, dry_run=True)
    assert (done.changed, done.state, done.kind, done.closed_by) == (True, "live", "memory", None)
    assert (done.scope, done.host) == (desk.scope, desk.host)
    assert await ledger.tables() == before


async def test_an_item_that_ended_is_not_ended_again(ledger: Ledger, desk: Desk) -> None:
    seen = (await desk.observe(),)
    first = await admitted(desk, BeliefProposed(text="it is up", about="ci", evidence_ids=seen))
    second = await admitted(
        desk, BeliefProposed(text="it is down", about="ci", evidence_ids=seen, replaces=first)
    )
    await retract(desk, second)
    before = await ledger.tables()
    again, replaced = await retract(desk, second), await retract(desk, first)
    assert (again.changed, again.state, again.closed_by) == (False, "retracted", "operator/ann")
    assert (replaced.changed, replaced.state, replaced.closed_by) == (False, "replaced", second)
    assert await ledger.tables() == before


async def test_only_items_can_be_taken_back(desk: Desk) -> None:
    seen = await desk.observe()
    made = await desk.reflect(
        MemoryProposed(text="deleting is permitted", evidence_ids=(seen,)),
        SelfModelProposed(text="it can deploy", evidence_ids=(seen,), part="skills"),
    )
    for unknown in (*(payload.id for payload in made.payloads), seen):
        with pytest.raises(UnknownItemError) as refused:
            await retract(desk, unknown)
        assert (refused.value.field, refused.value.value) == ("$.item_id", unknown)


async def test_the_same_comes_back_on_other_evidence_alone(ledger: Ledger, desk: Desk) -> None:
    seen, other = await desk.observe(), await desk.observe()
    memory = MemoryProposed(text="the deploy timed out", evidence_ids=(seen,))
    await retract(desk, await admitted(desk, memory))
    for times in (1, 2):
        made = await desk.reflect(memory)
        assert (made.counts.admitted, made.counts.rejected, made.counts.repeated) == (
            0,
            int(times == 1),
            int(times == 2),
        )
    (refused,) = await ledger.events(ProposalRejected)
    assert (refused.code, refused.field) == ("retracted", "$.text")
    await admitted(desk, MemoryProposed(text=memory.text, evidence_ids=(other,)))
