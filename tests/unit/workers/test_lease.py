from typing import Any

import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    BeginLease,
    CompleteTurn,
    ContractError,
    DisableLease,
    Heartbeat,
    LeaseBegan,
    LeaseEnded,
    LeaseEndedError,
    LeaseNotFoundError,
    LeaseRenewed,
    ResumeLease,
    StaleGenerationError,
    TurnCompleted,
)
from tests.unit.workers.desk import AUTHORITY, START_MS, TTL_MS, Desk, Ledger

pytestmark = pytest.mark.anyio

_LESS = msgspec.structs.replace(AUTHORITY, writable_roots=())


async def test_begin_gives_the_first_generation_with_its_times_and_salt(
    ledger: Ledger, desk: Desk
) -> None:
    assert desk.lease.generation == 1
    assert (desk.lease.joined, desk.lease.gap) == (False, None)
    assert desk.lease.expires_at == START_MS + TTL_MS
    assert (desk.lease.valid_for_ms, desk.lease.heartbeat_ms) == (TTL_MS, 20_000)
    assert desk.lease.salt == ledger.key.lease_salt(desk.lease.lease_id)
    (began,) = await ledger.events()
    assert isinstance(began, LeaseBegan)
    assert (began.authority, began.generation, began.resumed) == (AUTHORITY, 1, False)


async def test_begin_of_the_same_file_with_an_equal_snapshot_joins(
    ledger: Ledger, desk: Desk
) -> None:
    first = desk.lease
    ledger.clock.now_ms += 5_000
    second = await desk.begin()
    assert second.joined
    assert (second.lease_id, second.generation, second.salt) == (first.lease_id, 1, first.salt)
    assert second.expires_at == first.expires_at + 5_000
    assert len(await ledger.events(LeaseRenewed)) == 1


@pytest.mark.parametrize(
    "change",
    [{"authority": _LESS}, {"host_epoch": ulid_now()}, {"provider_locality": "local"}],
    ids=lambda change: next(iter(change)),
)
async def test_any_other_begin_fences_the_old_generation(
    ledger: Ledger, desk: Desk, change: dict[str, Any]
) -> None:
    old = desk.lease
    new = await desk.begin(**change)
    assert (new.joined, new.generation) == (False, 2)
    assert new.salt != old.salt
    (ended,) = await ledger.events(LeaseEnded)
    assert (ended.lease_id, ended.reason) == (old.lease_id, "superseded")
    with pytest.raises(StaleGenerationError) as refused:
        await desk.say("heartbeat", Heartbeat, lease_id=old.lease_id, generation=1)
    assert (refused.value.field, refused.value.limit) == ("$.generation", "2")


async def test_begin_after_the_lease_ran_out_is_a_new_generation(
    ledger: Ledger, desk: Desk
) -> None:
    ledger.clock.now_ms += TTL_MS
    assert (await desk.begin()).generation == 2
    (ended,) = await ledger.events(LeaseEnded)
    assert ended.reason == "expired"


async def test_resume_shows_the_gap_and_the_last_evidence(ledger: Ledger, desk: Desk) -> None:
    ledger.clock.now_ms += 1_000
    await desk.say("heartbeat", Heartbeat)
    seen = [await desk.observe(), await desk.observe()]
    ledger.clock.now_ms += 10 * TTL_MS
    resumed = await desk.begin(ResumeLease)
    assert resumed.generation == 2
    assert resumed.gap is not None
    assert (resumed.gap.from_ms, resumed.gap.to_ms) == (START_MS + 1_000, ledger.clock.now_ms)
    assert resumed.gap.unobserved is True
    assert resumed.last_evidence_id == seen[-1]


async def test_resume_while_the_lease_lives_never_joins(desk: Desk) -> None:
    resumed = await desk.begin(ResumeLease)
    assert (resumed.generation, resumed.joined) == (2, False)


async def test_resume_of_a_host_never_seen_has_no_gap(ledger: Ledger) -> None:
    resumed = await Desk(ledger).begin(ResumeLease)
    assert (resumed.generation, resumed.gap, resumed.last_evidence_id) == (1, None, None)


async def test_heartbeat_moves_the_expiry(ledger: Ledger, desk: Desk) -> None:
    ledger.clock.now_ms += TTL_MS - 1
    state = await desk.say("heartbeat", Heartbeat)
    assert state.live
    assert state.expires_at == START_MS + TTL_MS - 1 + TTL_MS
    assert (await ledger.rows("SELECT heard_at FROM leases"))[0]["heard_at"] == START_MS + 59_999


async def test_heartbeat_at_the_very_end_is_too_late(ledger: Ledger, desk: Desk) -> None:
    ledger.clock.now_ms += TTL_MS
    before = await ledger.tables()
    with pytest.raises(LeaseEndedError):
        await desk.say("heartbeat", Heartbeat)
    assert await ledger.tables() == before


async def test_complete_makes_one_waiting_reflection_for_each_turn(
    ledger: Ledger, desk: Desk
) -> None:
    for turn in ("turn-1", "turn-1", "turn-2"):
        state = await desk.say("complete", CompleteTurn, turn_id=turn, responded=True)
        assert state.live
    assert [event.turn_id for event in await ledger.events(TurnCompleted)] == ["turn-1", "turn-2"]
    rows = await ledger.rows("SELECT turn_id, reflection FROM turns ORDER BY turn_id")
    assert [(row["turn_id"], row["reflection"]) for row in rows] == [
        ("turn-1", "waiting"),
        ("turn-2", "waiting"),
    ]
    subjects = [subject for subject, _ in await ledger.journal()]
    assert subjects.count("pmcl.v1.reflection.team.desk.turn") == 2


async def test_complete_without_a_response_is_refused(ledger: Ledger, desk: Desk) -> None:
    before = await ledger.tables()
    with pytest.raises(ContractError) as refused:
        await desk.say("complete", CompleteTurn, turn_id="turn-1", responded=False)
    assert refused.value.field == "$.responded"
    assert await ledger.tables() == before


async def test_disable_ends_the_lease_now(ledger: Ledger, desk: Desk) -> None:
    state = await desk.say("disable", DisableLease)
    assert (state.live, state.valid_for_ms) == (False, 0)
    (ended,) = await ledger.events(LeaseEnded)
    assert ended.reason == "disabled"
    with pytest.raises(LeaseEndedError):
        await desk.say("heartbeat", Heartbeat)
    assert (await desk.begin()).generation == 2


async def test_sweep_ends_a_lease_once_when_its_time_is_over(ledger: Ledger, desk: Desk) -> None:
    ledger.clock.now_ms += TTL_MS - 1
    assert await ledger.sweep() == 0
    ledger.clock.now_ms += 1
    assert await ledger.sweep() == 1
    assert await ledger.sweep() == 0
    (ended,) = await ledger.events(LeaseEnded)
    assert (ended.reason, ended.lease_id) == ("expired", desk.lease.lease_id)
    assert (await ledger.rows("SELECT state FROM leases"))[0]["state"] == "expired"


async def test_sweep_ends_any_number_of_leases(ledger: Ledger) -> None:
    for number in range(70):
        await Desk(ledger, host=f"h{number}").begin()
    ledger.clock.now_ms += TTL_MS
    assert [await ledger.sweep() for _ in range(3)] == [64, 6, 0]


async def test_a_lease_of_another_host_is_not_found(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    with pytest.raises(LeaseNotFoundError):
        await other.ask(
            other.leases, "heartbeat", Heartbeat(lease_id=desk.lease.lease_id, generation=1)
        )
    await other.begin()
    before = await ledger.tables()
    for verb, kind in (("heartbeat", Heartbeat), ("disable", DisableLease)):
        with pytest.raises(LeaseNotFoundError):
            await other.say(verb, kind, lease_id=desk.lease.lease_id)
    assert await ledger.tables() == before


async def test_a_wrong_generation_of_the_own_lease_is_stale(desk: Desk) -> None:
    with pytest.raises(StaleGenerationError):
        await desk.say("heartbeat", Heartbeat, generation=7)


async def test_replies_carry_the_receipts_of_the_asking_file(ledger: Ledger, desk: Desk) -> None:
    await desk.observe()
    await desk.observe()
    desk.number += 1  # a number that is still under way
    await desk.observe()
    state = await desk.say("heartbeat", Heartbeat)
    assert state.received is not None
    assert (state.received.through, state.received.beyond) == (2, (4,))
    sibling = Desk(ledger)
    lease = await sibling.ask(
        sibling.leases, "begin", BeginLease(host_epoch=sibling.epoch, authority=AUTHORITY)
    )
    assert (lease.received.through, lease.received.beyond) == (0, ())
    assert lease.received.ledger_epoch == state.received.ledger_epoch
