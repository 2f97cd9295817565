"""One door: what reflection proposes becomes derived state, waits, is rejected, or is a repeat."""

from typing import Any

import pytest

from pmcl.contracts import (
    EVERY_VISIBILITY,
    BeliefProposed,
    EvolutionProposed,
    IntentionProposed,
    ItemAdmitted,
    ItemClosed,
    MemoryProposed,
    ProposalRejected,
    RecommendationProposed,
    SelfModelProposed,
    WorkingStateProposed,
)
from pmcl.contracts.limits import RECOMMENDATION_TTL_MS
from pmcl.ledger import items, recalling
from tests.unit.workers.desk import Desk, Ledger

pytestmark = pytest.mark.anyio

SECRET = "ghp_" + "a1B2" * 9


async def found(desk: Desk, question: str, *visible: Any) -> list[str]:
    """The texts that a question brings, best first."""

    def read(tx: Any) -> list[items.Item]:
        seen = visible or EVERY_VISIBILITY
        return recalling.relevant(tx, desk.scope, question, desk.ledger.clock.now_ms, seen)

    return [item.text for item in await desk.ledger.writer.run(read)]


async def ended(desk: Desk) -> list[tuple[str, str]]:
    return [(event.item_id, event.reason) for event in await desk.ledger.events(ItemClosed)]


async def test_an_admitted_memory_is_found_by_its_words(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    await desk.reflect(
        MemoryProposed(text="the deploy of billing timed out", evidence_ids=(seen,)),
        MemoryProposed(text="the notes are kept in order", evidence_ids=(seen,)),
    )
    assert (await found(desk, "why did deploying time out"))[0].startswith("the deploy")
    assert (await found(desk, "note"))[0].startswith("the notes")


async def test_what_is_old_is_found_by_its_words_alone(desk: Desk) -> None:
    seen = await desk.observe()
    old, wanted = "the old notes", "the deploy of billing timed out"
    await remember(desk, seen, old, wanted, *[f"fact {number}" for number in range(16)])
    asked = await found(desk, "why did deploying time out")
    assert (asked[0], len(asked)) == (wanted, 17)
    assert wanted not in await found(desk, "fact")


async def test_what_was_rejected_hides_nothing_that_was_admitted(desk: Desk) -> None:
    seen = await desk.observe()
    wanted = "the deploy of billing timed out"
    await remember(desk, seen, wanted, *[f"fact {number}" for number in range(16)])
    await remember(desk, seen, *[f"I feel proud of deploy {number}" for number in range(80)])
    assert (await found(desk, "deploy"))[0] == wanted


async def remember(desk: Desk, seen: str, *texts: str) -> None:
    for text in texts:
        await desk.reflect(MemoryProposed(text=text, evidence_ids=(seen,)))


async def test_no_scope_finds_what_another_said(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, scope="elsewhere")
    await other.begin()
    for one in (desk, other):
        seen = await one.observe()
        text = f"the {one.scope} deploy timed out"
        await one.reflect(MemoryProposed(text=text, evidence_ids=(seen,)))
    assert await found(desk, "deploy") == ["the team deploy timed out"]
    assert await found(other, "deploy") == ["the elsewhere deploy timed out"]


async def test_evidence_of_another_scope_is_unknown(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, scope="elsewhere")
    await other.begin()
    theirs = await other.observe()
    made = await desk.reflect(MemoryProposed(text="it is so", evidence_ids=(theirs,)))
    assert (made.counts.admitted, made.counts.rejected) == (0, 1)
    (told,) = await ledger.events(ProposalRejected)
    assert (told.code, told.field) == ("unknown_evidence", "$.evidence_ids[0]")


async def test_where_only_shareable_may_be_seen_nothing_else_is_looked_at(desk: Desk) -> None:
    local = await desk.observe()
    shared = await desk.observe(visibility="shareable")
    await desk.reflect(
        MemoryProposed(text="the local deploy", evidence_ids=(local,)),
        MemoryProposed(text="the open deploy", evidence_ids=(shared,), visibility="shareable"),
    )
    assert len(await found(desk, "deploy")) == 2
    assert await found(desk, "deploy", "shareable") == ["the open deploy"]


async def test_the_same_on_the_same_evidence_is_a_repeat(ledger: Ledger, desk: Desk) -> None:
    seen, other = await desk.observe(), await desk.observe()
    memory = MemoryProposed(text="it is so", evidence_ids=(seen, other), confidence=0.4)
    turned = MemoryProposed(text="it is so", evidence_ids=(other, seen), confidence=0.9)
    first = await desk.reflect(memory, turned)
    assert (first.counts.admitted, first.counts.repeated) == (1, 1)
    before = await ledger.tables()
    again = await desk.reflect(memory, turned)
    assert (again.counts.admitted, again.counts.repeated, again.events) == (0, 2, ())
    assert await ledger.tables() == before
    more = await desk.reflect(MemoryProposed(text="it is so", evidence_ids=(seen,)))
    assert more.counts.admitted == 1


async def test_a_rejection_is_kept_once_with_its_reason(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    claim = MemoryProposed(text="I feel proud of it", evidence_ids=(seen,))
    assert (await desk.reflect(claim)).counts.rejected == 1
    again = await desk.reflect(claim)
    assert (again.counts.rejected, again.counts.repeated) == (0, 1)
    (told,) = await ledger.events(ProposalRejected)
    assert (told.kind, told.code, told.evidence_ids) == ("memory", "claims_experience", (seen,))
    (kept,) = await ledger.rows("SELECT content FROM payloads WHERE id = :id", id=told.proposal_id)
    assert b"I feel proud of it" in kept["content"]
    assert await found(desk, "proud") == []


async def test_a_secret_is_redacted_before_anything_is_kept(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    made = await desk.reflect(
        MemoryProposed(text=f"the token is {SECRET}", evidence_ids=(seen,)),
        BeliefProposed(text="it works", about=SECRET, evidence_ids=(seen,)),
        MemoryProposed(text=f"I feel that {SECRET} is fine", evidence_ids=(seen,)),
    )
    assert (made.counts.admitted, made.counts.rejected) == (2, 1)
    for rows in (await ledger.tables()).values():
        assert SECRET not in str(rows)
    assert await ledger.rows("SELECT * FROM payload_words('ghp*')") == []


async def test_an_intention_is_resolved_once(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    made = await desk.reflect(IntentionProposed(text="ship it", evidence_ids=(seen,)))
    intention = made.payloads[0].id
    ends = [
        IntentionProposed(text=text, evidence_ids=(seen,), resolves=intention)
        for text in ("shipped", "dropped")
    ]
    twice = await desk.reflect(*ends)
    assert (twice.counts.admitted, twice.counts.rejected) == (1, 1)
    assert await ended(desk) == [(intention, "resolved")]
    open_ones = await ledger.writer.run(lambda tx: items.open_intentions(tx, desk.scope, 10))
    assert open_ones == []
    resolve_end = IntentionProposed(
        text="again", evidence_ids=(seen,), resolves=twice.payloads[0].id
    )
    assert (await desk.reflect(resolve_end)).counts.rejected == 1


async def test_a_revised_belief_stays_in_the_record(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    first = await desk.reflect(BeliefProposed(text="a", about="x", evidence_ids=(seen,)))
    old = first.payloads[0].id
    second = await desk.reflect(
        BeliefProposed(text="b", about="x", evidence_ids=(seen,), replaces=old)
    )
    new = second.payloads[0].id
    assert await ended(desk) == [(old, "replaced")]
    (row,) = await ledger.rows("SELECT * FROM items WHERE item_id = :id", id=old)
    assert (row["state"], row["closed_by"], row["erased"]) == ("replaced", new, 0)
    stale = BeliefProposed(text="c", about="x", evidence_ids=(seen,), replaces=old)
    assert (await desk.reflect(stale)).counts.rejected == 1


async def test_contradicting_beliefs_both_stand(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    first = await desk.reflect(BeliefProposed(text="a", about="x", evidence_ids=(seen,)))
    one = first.payloads[0].id
    second = await desk.reflect(
        BeliefProposed(text="b", about="x", evidence_ids=(seen,), contradicts=(one,))
    )
    other = second.payloads[0].id
    pairs = await ledger.writer.run(lambda tx: items.contradicting(tx, desk.scope, 10))
    assert pairs == [(other, one)]
    await desk.reflect(BeliefProposed(text="c", about="x", evidence_ids=(seen,), replaces=one))
    assert await ledger.writer.run(lambda tx: items.contradicting(tx, desk.scope, 10)) == []


async def test_where_the_work_stands_is_one_thing_for_each_host(ledger: Ledger) -> None:
    for host in ("desk", "other"):
        desk = Desk(ledger, host=host)
        await desk.begin()
        seen = await desk.observe()
        for step in ("one", "two"):
            await desk.reflect(WorkingStateProposed(text=f"{host} {step}", evidence_ids=(seen,)))
    for host in ("desk", "other"):
        state = await ledger.writer.run(
            lambda tx, host=host: items.working_state(tx, "team", host)  # type: ignore[misc]
        )
        assert state is not None
        assert state.text == f"{host} two"


async def test_a_change_of_the_self_model_waits(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    change = SelfModelProposed(text="it can deploy", evidence_ids=(seen,), part="active_goals")
    made = await desk.reflect(change, change)
    assert (made.counts.admitted, made.counts.proposed, made.counts.repeated) == (0, 1, 1)
    (told,) = await ledger.events(EvolutionProposed)
    weighed = (told.part, told.risk, told.impact_radius, told.reversibility)
    assert weighed == ("active_goals", "high", "scope", "reversible")
    assert await ledger.events(ItemAdmitted) == []


async def test_a_recommendation_ends_after_a_week(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    made = await desk.reflect(
        RecommendationProposed(text="run it again", evidence_ids=(seen,)),
        MemoryProposed(text="it ran", evidence_ids=(seen,)),
    )
    ledger.clock.now_ms += RECOMMENDATION_TTL_MS - 1
    await ledger.sweep()
    assert await ended(desk) == []
    ledger.clock.now_ms += 1
    await ledger.sweep()
    assert await ended(desk) == [(made.payloads[0].id, "expired")]
