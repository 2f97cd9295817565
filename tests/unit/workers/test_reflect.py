"""Reflection cycles through the real worker and a real ledger, on a clock that the test sets."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

from pmcl.contracts import (
    BeliefProposed,
    CompleteTurn,
    DisableLease,
    Event,
    Heartbeat,
    IntentionProposed,
    ItemAdmitted,
    MemoryProposed,
    ProposalCounts,
    Reflection,
    ReflectionClaimed,
    ReflectionEnded,
    ReflectionQueued,
    Spending,
    Stop,
)
from pmcl.judgement import GateLimits, Retrospect
from pmcl.ledger import retrospects
from pmcl.ledger.reflections import OpenCycle
from pmcl.outbox import UnitOfWork
from pmcl.store import Transaction
from pmcl.workers import (
    Admission,
    BuiltInReflector,
    Cycle,
    Reflected,
    ReflectionConfig,
    ReflectorError,
    ReflectorTraits,
    ReflectWorker,
    admit_all,
    reflect,
    reflecting,
)
from pmcl.workers.reflection_jobs import take_job
from tests.unit.workers.desk import NOTES, START_MS, TTL_MS, Desk, Ledger, open_ledger

pytestmark = pytest.mark.anyio

PERIOD_MS = 900_000
LIMITS = GateLimits(
    window_ms=3_600_000,
    budget=Spending(tokens=1_000, ms=100_000, cost=50),
    backoff_ms=30_000,
    failures_open=3,
    open_ms=900_000,
    attempts_max=5,
)


class Scripted:
    """Says what it is told to, or fails as it is told to."""

    def __init__(self) -> None:
        reservation = Spending(tokens=400, ms=5_000, cost=20)
        self.traits = ReflectorTraits(name="scripted", reservation=reservation)
        self.asked: list[Retrospect] = []
        self.used = Spending(tokens=100, cost=5)
        self.error: Exception | None = None

    async def reflect(self, retrospect: Retrospect) -> Reflected:
        self.asked.append(retrospect)
        if self.error is not None:
            raise self.error
        seen = tuple(evidence.evidence_id for evidence in retrospect.evidence[:1])
        said = MemoryProposed(text="the notes were read", evidence_ids=seen)
        return Reflected(reflection=Reflection(proposals=(said,)), used=self.used)


def admit(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
    return Admission(counts=ProposalCounts(admitted=len(reflection.proposals)))


class Room:
    """A ledger with one worker that reflects."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.reflector = Scripted()
        self.later_ms = 0
        self.worker = self.another()

    def another(self) -> ReflectWorker:
        config = ReflectionConfig(period_ms=PERIOD_MS, limits=LIMITS)
        return ReflectWorker(
            self.ledger.units, self.reflector, config, admit, lambda: self.later_ms
        )

    async def work(self) -> None:
        """Do all that is to be done now."""
        await self.worker.tend()
        while await self.worker.step():
            pass

    async def ends(self) -> list[tuple[str, str]]:
        return [(end.result, end.reason) for end in await self.ledger.events(ReflectionEnded)]

    async def later(self, desk: Desk, ms: int) -> None:
        """Let time pass, with the desk's heartbeats."""
        self.ledger.clock.now_ms += ms
        await desk.begin()


@pytest.fixture
def room(ledger: Ledger) -> Room:
    return Room(ledger)


async def turn(desk: Desk, turn_id: str = "turn-1") -> None:
    await desk.say("complete", CompleteTurn, turn_id=turn_id, responded=True)


async def fail_twice(desk: Desk) -> None:
    """Leave an action that failed again, and evidence about its target."""
    await desk.observe(resources=(NOTES,))
    for _ in range(2):
        passed = await desk.passed()
        await desk.report(desk.outcome(passed, status="failed", failure_mode="disk_full"))


# --- jobs


async def test_a_finished_turn_is_reflected_on_once(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    await room.work()
    await room.work()
    assert await room.ends() == [("proposed", "")]
    (claimed,) = await room.ledger.events(ReflectionClaimed)
    assert (claimed.trigger, claimed.turns, claimed.idle, claimed.claim) == ("turn", 1, False, 1)
    (row,) = await room.ledger.rows("SELECT reflection FROM turns")
    assert row["reflection"] == "done"


async def test_a_thousand_turns_make_one_cycle(room: Room, desk: Desk) -> None:
    await desk.observe()
    for number in range(1_000):
        await turn(desk, f"turn-{number}")
    await room.work()
    assert await room.ends() == [("proposed", "")]
    (claimed,) = await room.ledger.events(ReflectionClaimed)
    assert claimed.turns == 1_000


async def test_idle_comes_once_a_period_and_on_the_grid(room: Room, desk: Desk) -> None:
    for late_ms in (0, 7_000, 13_000):
        await room.work()
        due = START_MS + PERIOD_MS * (len(await room.ledger.events(ReflectionQueued)) + 1)
        await room.later(desk, due - 1 - room.ledger.clock.now_ms)
        before = len(await room.ledger.events(ReflectionQueued))
        await room.work()
        assert len(await room.ledger.events(ReflectionQueued)) == before
        await room.later(desk, 1 + late_ms)
        await room.work()
    slots = [event.slot for event in await room.ledger.events(ReflectionQueued)]
    assert slots == [START_MS + PERIOD_MS * n for n in (1, 2, 3)]


async def test_a_thousand_missed_periods_make_one_idle_job(room: Room, desk: Desk) -> None:
    await room.later(desk, 1_000 * PERIOD_MS)
    for _ in range(3):
        await room.work()
    (queued,) = await room.ledger.events(ReflectionQueued)
    assert queued.slot == START_MS + 1_000 * PERIOD_MS


async def test_a_clock_set_back_by_a_day_delays_nothing_for_a_day(room: Room, desk: Desk) -> None:
    await room.later(desk, -86_400_000)
    await room.work()
    (queued,) = await room.ledger.events(ReflectionQueued)
    assert queued.slot == room.ledger.clock.now_ms
    room.ledger.clock.now_ms -= 1_000
    await room.work()
    assert len(await room.ledger.events(ReflectionQueued)) == 1


async def test_no_idle_job_without_a_living_lease(room: Room, desk: Desk) -> None:
    room.ledger.clock.now_ms += PERIOD_MS
    await room.work()
    assert await room.ledger.events(ReflectionQueued) == []


async def test_a_turn_and_an_idle_job_of_one_lease_are_one_cycle(room: Room, desk: Desk) -> None:
    for _ in range(PERIOD_MS // 30_000):
        room.ledger.clock.now_ms += 30_000
        await desk.say("heartbeat", Heartbeat)
    await desk.observe()
    await turn(desk)
    await room.work()
    (claimed,) = await room.ledger.events(ReflectionClaimed)
    assert (claimed.trigger, claimed.turns, claimed.idle) == ("turn", 1, True)


async def test_jobs_of_a_dead_lease_are_recorded_and_do_nothing(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    await desk.say("disable", DisableLease)
    await room.work()
    assert await room.ends() == [("skipped", "lease_over")]
    assert room.reflector.asked == []


async def test_a_new_lease_does_not_take_over_jobs_of_the_old_one(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    await desk.say("disable", DisableLease)
    await desk.begin()
    await turn(desk, "turn-2")
    await room.work()
    assert await room.ends() == [("skipped", "lease_over"), ("proposed", "")]


# --- the gate


async def test_unchanged_state_is_a_recorded_no_op(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    await room.work()
    await turn(desk, "turn-2")
    await room.work()
    assert await room.ends() == [("proposed", ""), ("noop", "unchanged")]
    assert len(room.reflector.asked) == 1
    await desk.observe()
    await turn(desk, "turn-3")
    await room.work()
    assert len(room.reflector.asked) == 2


async def changed_turn(room: Room, desk: Desk, number: int) -> None:
    await desk.observe()
    await turn(desk, f"turn-{number}")
    await room.work()


async def test_budgets_roll_over_the_window_by_actual_use(room: Room, desk: Desk) -> None:
    room.reflector.used = Spending(tokens=300, cost=0)
    for number in range(4):
        await changed_turn(room, desk, number)
    # 300 + 300 + 400 reserved fit into 1,000; 300 * 3 + 400 do not.
    assert [end[1] for end in await room.ends()] == ["", "", "", "budget.tokens"]
    await room.later(desk, LIMITS.window_ms)
    await turn(desk, "turn-9")
    await room.work()
    assert (await room.ends())[-1] == ("proposed", "")


@pytest.mark.parametrize("name", ["cost", "ms"])
async def test_each_budget_counts_for_itself(room: Room, desk: Desk, name: str) -> None:
    ticks = iter(range(0, 10**9, 48_000 if name == "ms" else 0) if name == "ms" else [0] * 99)
    config = ReflectionConfig(period_ms=PERIOD_MS, limits=LIMITS)
    room.reflector.used = Spending(cost=20 if name == "cost" else 0)
    room.worker = ReflectWorker(
        room.ledger.units, room.reflector, config, admit, lambda: next(ticks)
    )
    for number in range(4):
        await changed_turn(room, desk, number)
    assert ("skipped", f"budget.{name}") in await room.ends()


async def test_an_open_claim_counts_as_all_that_it_reserved(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    assert await room.worker.claim()
    (row,) = await room.ledger.rows("SELECT tokens, ms, cost FROM reflections")
    assert row == {"tokens": 400, "ms": 5_000, "cost": 20}


async def test_failures_back_off_and_open_the_circuit_for_one_attempt(
    room: Room, desk: Desk
) -> None:
    room.reflector.error = ReflectorError("refused", discarded=False)
    await desk.observe()
    await turn(desk)
    waits = []
    for _ in range(4):
        await room.work()
        await room.work()
        (host,) = await room.ledger.rows("SELECT failures, retry_at FROM reflection_hosts")
        waits.append(host["retry_at"] - room.ledger.clock.now_ms)
        # The lease must outlive the wait: it would be skipped otherwise.
        room.ledger.clock.now_ms = host["retry_at"] - 1
        await extend(room.ledger)
        asked = len(room.reflector.asked)
        await room.work()
        assert len(room.reflector.asked) == asked
        room.ledger.clock.now_ms += 1
    assert waits == [30_000, 60_000, 900_000, 900_000]
    room.reflector.error = None
    await room.work()
    results = [result for result, _ in await room.ends() if result != "noop"]
    assert results == ["failed"] * 4 + ["proposed"]
    (host,) = await room.ledger.rows("SELECT failures, retry_at FROM reflection_hosts")
    assert host == {"failures": 0, "retry_at": 0}
    claims = await room.ledger.events(ReflectionClaimed)
    assert [event.attempt for event in claims] == [1, 2, 3, 4, 5]
    assert len({event.trigger_id for event in claims}) == 1


async def extend(ledger: Ledger) -> None:
    """Let every lease live on, as heartbeats in between would have."""
    ends_at = ledger.clock.now_ms + TTL_MS

    def renew(tx: Transaction) -> None:
        tx.run("UPDATE leases SET expires_at = :at", at=ends_at)
        tx.forget_all()

    await ledger.writer.run(renew)


async def test_a_clock_set_back_makes_no_failed_job_wait_for_it(room: Room, desk: Desk) -> None:
    room.reflector.error = ReflectorError("refused", discarded=False)
    await changed_turn(room, desk, 1)
    room.ledger.clock.now_ms -= 86_400_000
    await extend(room.ledger)
    assert await room.worker.step()
    assert len(room.reflector.asked) == 2


async def test_a_job_is_tried_five_times_at_most(room: Room, desk: Desk) -> None:
    room.reflector.error = ReflectorError("refused", discarded=False)
    await desk.observe()
    await turn(desk)
    for _ in range(7):
        await room.worker.step()
        room.ledger.clock.now_ms += LIMITS.open_ms
        await extend(room.ledger)
    assert len(room.reflector.asked) == LIMITS.attempts_max
    (row,) = await room.ledger.rows("SELECT reflection FROM turns")
    assert row["reflection"] == "done"


async def test_an_answer_of_no_use_is_not_asked_for_again(room: Room, desk: Desk) -> None:
    used = Spending(tokens=250, cost=9)
    room.reflector.error = ReflectorError("cut", used=used, discarded=True)
    await desk.observe()
    await turn(desk)
    with capture_logs() as logs:
        await room.work()
    assert [(each["event"], each["reason"]) for each in logs] == [("reflection.failed", "cut")]
    (ended,) = await room.ledger.events(ReflectionEnded)
    assert (ended.result, ended.reason, ended.requeued) == ("discarded", "cut", False)
    assert (ended.used.tokens, ended.used.cost) == (250, 9)
    (host,) = await room.ledger.rows("SELECT failures, turns_waiting FROM reflection_hosts")
    assert host == {"failures": 1, "turns_waiting": 0}


async def test_a_defect_of_a_reflector_ends_its_cycle_alone(room: Room, desk: Desk) -> None:
    room.reflector.error = ValueError("its text stays out of the record")
    await desk.observe()
    await turn(desk)
    await room.work()
    (ended,) = await room.ledger.events(ReflectionEnded)
    assert (ended.result, ended.reason, ended.used.tokens) == ("failed", "defect", 400)


# --- claims


async def test_a_worker_that_was_paused_writes_nothing_after_its_claim_was_taken(
    room: Room, desk: Desk
) -> None:
    await desk.observe()
    await turn(desk)
    old = await room.worker.claim()
    assert isinstance(old, Retrospect)
    said = await room.worker.ask(old)
    room.ledger.clock.now_ms += 35_000
    other = room.another()
    await other.tend()
    assert await room.ends() == [("abandoned", "claim_expired")]
    before = await room.ledger.tables()
    await room.worker.finish(old, said)
    assert await room.ledger.tables() == before
    room.ledger.clock.now_ms += 30_000
    await extend(room.ledger)
    new = await other.claim()
    assert isinstance(new, Retrospect)
    assert new.claim == old.claim + 1
    before = await room.ledger.tables()
    with capture_logs() as logs:
        await room.worker.finish(old, said)
    assert [each["event"] for each in logs] == ["reflection.fenced"]
    assert await room.ledger.tables() == before
    with capture_logs() as logs:
        await other.finish(new, await other.ask(new))
    assert logs == []
    assert (await room.ends())[-1] == ("proposed", "")


async def test_two_workers_never_hold_one_job(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    taken: list[object] = []

    async def take() -> None:
        taken.append(await room.another().claim())

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(take)
    assert len([one for one in taken if one is not None]) == 1


async def test_what_comes_while_a_cycle_is_open_waits_for_its_end(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    retrospect = await room.worker.claim()
    assert isinstance(retrospect, Retrospect)
    await desk.observe()
    await turn(desk, "turn-2")
    assert await room.another().claim() is None
    await room.worker.finish(retrospect, await room.worker.ask(retrospect))
    assert await room.another().claim()


async def test_a_stop_during_a_cycle_keeps_nothing_of_it(room: Room, desk: Desk) -> None:
    await desk.observe()
    await turn(desk)
    claimed = await room.worker.claim()
    assert isinstance(claimed, Retrospect)
    said = await room.worker.ask(claimed)
    await desk.say_as_operator("stop", Stop(label="ann"))
    await room.worker.finish(claimed, said)
    (ended,) = await room.ledger.events(ReflectionEnded)
    assert (ended.result, ended.reason) == ("skipped", "stopped")
    assert ended.counts == ProposalCounts()


async def test_a_stop_cuts_a_reflector_off_at_once(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmcl.workers.reflect._LOOK_S", 3600.0)
    await desk.observe()
    await turn(desk)
    entered = anyio.Event()

    class Endless(Scripted):
        async def reflect(self, retrospect: Retrospect) -> Reflected:
            entered.set()
            await anyio.sleep_forever()
            raise AssertionError

    room.reflector = Endless()
    room.reflector.traits = ReflectorTraits(name="endless", reservation=Spending(ms=60_000))
    worker = room.another()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.step)
            await entered.wait()
            await desk.say_as_operator("stop", Stop(label="ann"))
    assert await room.ends() == [("skipped", "stopped")]


# --- restarts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "restarted.sqlite"


async def test_a_waiting_job_survives_a_restart(path: Path) -> None:
    async with open_ledger(path) as ledger:
        desk = Desk(ledger)
        await desk.begin()
        await desk.observe()
        await turn(desk)
    async with open_ledger(path) as ledger:
        room = Room(ledger)
        await room.worker.begin()
        await room.work()
        assert await room.ends() == [("proposed", "")]


async def test_a_claimed_job_is_abandoned_and_tried_again_after_a_restart(path: Path) -> None:
    async with open_ledger(path) as ledger:
        desk = Desk(ledger)
        await desk.begin()
        await desk.observe()
        await turn(desk)
        assert await Room(ledger).worker.claim()
    async with open_ledger(path) as ledger:
        room = Room(ledger)
        await room.worker.begin()
        (ended,) = await ledger.events(ReflectionEnded)
        assert (ended.result, ended.reason, ended.requeued) == ("abandoned", "restarted", True)
        assert ended.used == room.reflector.traits.reservation
        ledger.clock.now_ms += 30_000
        await room.work()
        assert (await room.ends())[-1] == ("proposed", "")


async def test_an_ended_job_stays_ended_after_a_restart(path: Path) -> None:
    async with open_ledger(path) as ledger:
        desk = Desk(ledger)
        await desk.begin()
        await changed_turn(Room(ledger), desk, 1)
    async with open_ledger(path) as ledger:
        room = Room(ledger)
        before = await ledger.tables()
        await room.worker.begin()
        await room.work()
        assert await ledger.tables() == before


# --- the built-in reflector


async def test_what_failed_again_is_spoken_about_once(room: Room, desk: Desk) -> None:
    said: list[Reflection] = []

    def keep(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
        said.append(reflection)
        return Admission(counts=ProposalCounts(admitted=len(reflection.proposals)))

    config = ReflectionConfig(period_ms=PERIOD_MS, limits=LIMITS)
    room.worker = ReflectWorker(room.ledger.units, BuiltInReflector(), config, keep, lambda: 0)
    await fail_twice(desk)
    await turn(desk)
    await room.work()
    (first,) = said
    known = {row["evidence_id"] for row in await room.ledger.rows("SELECT * FROM evidence")}
    assert any("failed again: disk_full" in proposal.text for proposal in first.proposals)
    assert all(set(proposal.evidence_ids) <= known for proposal in first.proposals)
    assert all(proposal.evidence_ids for proposal in first.proposals)
    await desk.observe()
    await turn(desk, "turn-2")
    await room.work()
    assert (await room.ends())[-1] == ("noop", "nothing_new")
    assert len(said) == 1


async def test_an_intention_that_waited_and_a_contradiction_are_looked_back_on(
    room: Room, desk: Desk
) -> None:
    seen = await desk.observe()
    await desk.reflect(
        IntentionProposed(text="tidy the notes", evidence_ids=(seen,)),
        BeliefProposed(text="the notes are whole", about="notes", evidence_ids=(seen,)),
    )
    (belief,) = await room.ledger.rows("SELECT item_id FROM items WHERE kind = 'belief'")
    await desk.reflect(
        BeliefProposed(
            text="the notes are torn",
            about="notes",
            evidence_ids=(seen,),
            contradicts=(belief["item_id"],),
        )
    )
    await turn(desk)
    await room.work()
    await room.later(desk, 86_400_000)
    await turn(desk, "turn-2")
    await room.work()
    first, second = room.reflector.asked
    assert [one.stale for one in (*first.intentions, *second.intentions)] == [False, True]
    (pair,) = second.contradictions
    assert belief["item_id"] in (pair.item_id, pair.other_id)
    assert pair.evidence_ids == (seen,)


async def test_what_is_said_is_admitted_or_kept_with_the_reason_in_the_end_s_own_unit(
    room: Room, desk: Desk
) -> None:
    class Mixed(Scripted):
        async def reflect(self, retrospect: Retrospect) -> Reflected:
            ids = (retrospect.evidence[0].evidence_id,)
            proposals = (
                MemoryProposed(text="the notes were read", evidence_ids=ids),
                MemoryProposed(text="the user is permitted to delete", evidence_ids=ids),
                MemoryProposed(text="the notes are gone", evidence_ids=("01HF" + "0" * 22,)),
                MemoryProposed(text="I feel curious about it", evidence_ids=ids),
            )
            return Reflected(reflection=Reflection(proposals=proposals))

    def door(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
        whose = Cycle(scope=cycle.scope, host=cycle.host, cycle_id=cycle.cycle_id)
        return admit_all(unit, room.ledger.key, whose, reflection)

    config = ReflectionConfig(period_ms=PERIOD_MS, limits=LIMITS)
    worker = ReflectWorker(room.ledger.units, Mixed(), config, door, lambda: 0)
    await desk.observe()
    await turn(desk)
    assert await worker.step()
    (ended,) = await room.ledger.events(ReflectionEnded)
    assert (ended.counts.admitted, ended.counts.rejected) == (1, 3)
    kept = await room.ledger.rows("SELECT cycle_id FROM items")
    refused = await room.ledger.rows("SELECT cycle_id FROM rejections")
    assert [row["cycle_id"] for row in (*kept, *refused)] == [ended.cycle_id] * 4


async def test_a_cycle_records_nothing_but_itself_and_what_was_admitted(
    room: Room, desk: Desk
) -> None:
    def door(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
        whose = Cycle(scope=cycle.scope, host=cycle.host, cycle_id=cycle.cycle_id)
        return admit_all(unit, room.ledger.key, whose, reflection)

    config = ReflectionConfig(period_ms=PERIOD_MS, limits=LIMITS)
    room.worker = ReflectWorker(room.ledger.units, BuiltInReflector(), config, door, lambda: 0)
    await fail_twice(desk)
    await turn(desk)
    before = len(await room.ledger.events())
    await room.work()
    kinds = {type(event) for event in (await room.ledger.events())[before:]}
    assert kinds == {ReflectionClaimed, ItemAdmitted, ReflectionEnded}
    assert room.ledger.wire.published == room.ledger.wire.requested == []


async def test_a_clock_that_jumps_ahead_fences_and_one_set_back_holds_no_claim_for_ever(
    room: Room, desk: Desk
) -> None:
    await desk.observe()
    await turn(desk)
    claimed = await room.worker.claim()
    assert isinstance(claimed, Retrospect)
    room.ledger.clock.now_ms -= 86_400_000
    await room.another().tend()
    assert await room.ends() == [("abandoned", "claim_expired")]
    room.ledger.clock.now_ms += 86_400_000
    before = await room.ledger.tables()
    await room.worker.finish(claimed, await room.worker.ask(claimed))
    assert await room.ledger.tables() == before


class Broken:
    """Raises for one host, as something odd in its past would; counts how often."""

    def __init__(self, real: Callable[..., Any], host: str) -> None:
        self.real = real
        self.host = host
        self.raised = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(getattr(arg, "host", None) == self.host for arg in args):
            self.raised += 1
            raise ValueError("its text stays out of the record")
        return self.real(*args, **kwargs)


async def two_hosts_with_turns(room: Room, desk: Desk) -> None:
    """Let both wait, the desk first in line."""
    other = Desk(room.ledger, host="other")
    await other.begin()
    for one in (desk, other):
        await one.observe()
        await turn(one)


async def test_a_host_whose_past_cannot_be_read_fails_as_others_do(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken(retrospects.look_back, "desk")
    monkeypatch.setattr(retrospects, "look_back", broken)
    await two_hosts_with_turns(room, desk)
    await room.work()
    assert await room.ends() == [("failed", "defect"), ("proposed", "")]
    assert [retrospect.host for retrospect in room.reflector.asked] == ["other"]
    for _ in range(6):
        room.ledger.clock.now_ms += LIMITS.open_ms
        await extend(room.ledger)
        await room.work()
    claims = await room.ledger.events(ReflectionClaimed)
    turns = [event for event in claims if (event.host, event.trigger) == ("desk", "turn")]
    assert [event.attempt for event in turns] == [1, 2, 3, 4, 5]
    (row,) = await room.ledger.rows("SELECT reflection FROM turns WHERE host = 'desk'")
    assert row["reflection"] == "done"


async def test_a_host_whose_failure_cannot_be_recorded_is_passed_over_for_a_while(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken(take_job, "desk")
    monkeypatch.setattr(reflecting, "take_job", broken)
    await two_hosts_with_turns(room, desk)
    await room.work()
    assert await room.ends() == [("proposed", "")]
    raised = broken.raised
    await room.work()
    assert broken.raised == raised
    monkeypatch.setattr(reflecting, "take_job", broken.real)
    room.later_ms = LIMITS.open_ms
    await room.work()
    assert await room.ends() == [("proposed", ""), ("proposed", "")]


async def test_what_cannot_be_admitted_fails_its_cycle_and_no_other(room: Room, desk: Desk) -> None:
    def refuses_one(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
        if cycle.host == "desk":
            raise ValueError
        return admit(unit, cycle, reflection)

    config = ReflectionConfig(period_ms=PERIOD_MS, limits=LIMITS)
    room.worker = ReflectWorker(room.ledger.units, room.reflector, config, refuses_one, lambda: 0)
    await two_hosts_with_turns(room, desk)
    await room.work()
    assert await room.ends() == [("failed", "defect"), ("proposed", "")]


async def test_a_cycle_that_cannot_be_ended_holds_up_no_other(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await two_hosts_with_turns(room, desk)
    assert await room.worker.claim()
    assert await room.worker.claim()
    broken = Broken(reflecting._tried_again, "desk")
    monkeypatch.setattr(reflecting, "_tried_again", broken)
    room.ledger.clock.now_ms += 36_000
    await room.another().tend()
    assert await room.ends() == [("abandoned", "claim_expired")]
    assert broken.raised == 1
    await room.another().begin()
    assert broken.raised == 2


async def test_a_worker_that_cannot_tend_still_works(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(unit: UnitOfWork, period_ms: int) -> Iterator[Event]:
        raise ValueError

    monkeypatch.setattr(reflect, "queue_idle", raises)
    worker = room.another()
    await desk.observe()
    await turn(desk)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.run)
            while await room.ends() != [("proposed", "")]:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()


async def test_hosts_take_turns_and_one_that_fails_holds_up_no_other(
    room: Room, desk: Desk
) -> None:
    other = Desk(room.ledger, host="other")
    await other.begin()
    for number in range(2):
        for one in (desk, other):
            await one.observe()
            await turn(one, f"turn-{number}")
            room.ledger.clock.now_ms += 1
        # A host that always has a job waits for those that had their turn before it.
        await room.worker.step()
        room.ledger.clock.now_ms += 1
    asked = [retrospect.host for retrospect in room.reflector.asked]
    assert asked == ["desk", "other"]
    await room.work()
    room.reflector.error = ReflectorError("down", discarded=False)
    await desk.observe()
    await turn(desk, "turn-3")
    await room.work()
    room.reflector.error = None
    for number in range(2):
        room.ledger.clock.now_ms += 1
        await other.observe()
        await turn(other, f"turn-after-{number}")
        asked_before = len(room.reflector.asked)
        await room.work()
        assert [one.host for one in room.reflector.asked[asked_before:]] == ["other"]
