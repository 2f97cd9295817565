"""The awake cycle in real processes: jobs, claims, budgets and the circuit outlive whatever dies.

The model is a stub in the test's own process, which answers when it is let; the sidecar, its ledger
and its bus are the real ones.
"""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from pmcl.hosts import Host
from pmcl.ops.reflections import CycleView, HostView, list_reflections
from pmcl.ops.settings import Settings
from tests.acceptance.facts import digests, log_is_the_journal, rows, until
from tests.acceptance.processes import Child, child
from tests.acceptance.world import World
from tests.stub_model import StubModel, open_stub_model

pytestmark = pytest.mark.anyio

TRIGGERS = 1_000
AT_ONCE = 16
RESERVED_TOKENS = 8_192 + 512
USED_TOKENS = 120
REFLECTING = Path(__file__).with_name("reflecting_child.py")


@pytest.fixture
async def model() -> AsyncIterator[StubModel]:
    async with open_stub_model() as opened:
        yield opened


class Awake:
    """A world whose hosts are reflected on by the stub."""

    def __init__(self, world: World, model: StubModel) -> None:
        self.world = world
        self.model = model
        self.settings = Settings(state_dir=world.state_dir)

    def sidecar(self, **environment: str) -> AbstractAsyncContextManager[Child]:
        return self.world.sidecar(PMCL_MODEL_URL=self.model.url, **environment)

    async def cycles(self) -> list[CycleView]:
        """Every cycle, the oldest first."""
        found: list[CycleView] = (await list_reflections(self.settings))["cycles"]
        return found[::-1]

    async def ends(self) -> list[tuple[str | None, str | None]]:
        return [(cycle.result, cycle.reason) for cycle in await self.cycles()]

    async def ended(self, count: int) -> list[CycleView]:
        """The first cycles, once so many have ended."""

        async def enough() -> list[CycleView]:
            cycles = [cycle for cycle in await self.cycles() if cycle.result is not None]
            return cycles if len(cycles) >= count else []

        return await until(enough)

    async def circuit(self, state: str) -> HostView:
        async def found() -> HostView | None:
            (host,) = (await list_reflections(self.settings, host="a"))["hosts"]
            assert isinstance(host, HostView)
            return host if host.circuit == state else None

        return await until(found)

    async def asked(self, count: int) -> None:
        """Return once the model was asked so often."""

        async def enough() -> bool:
            return len(self.model.asked) >= count

        await until(enough)
        assert len(self.model.asked) == count

    async def is_whole(self) -> None:
        """The journal's chain verifies, and LOG is the journal."""
        async with self.world.admin() as admin:
            await log_is_the_journal(self.world.ledger, admin)


@pytest.fixture
def awake(world: World, model: StubModel) -> Awake:
    return Awake(world, model)


async def turn(host: Host, number: int) -> None:
    """Leave something new, and end a turn."""
    await host.observe(source="shell", summary=f"build {number} failed: no gcc")
    await host.complete(f"turn-{number}")


async def kill(sidecar: Child) -> None:
    sidecar.send(signal.SIGKILL)
    await sidecar.wait()


async def test_a_thousand_triggers_during_a_cycle_are_one_more(awake: Awake) -> None:
    awake.model.open.clear()
    async with awake.sidecar(), Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        await awake.asked(1)
        await host.observe(source="shell", summary="the disk is full")
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def complete(number: int) -> None:
            async with limiter:
                await host.complete(f"turn-{number}")

        async with anyio.create_task_group() as tasks:
            for number in range(1, TRIGGERS + 1):
                tasks.start_soon(complete, number)
        awake.model.open.set()
        first, second = await awake.ended(2)
    assert (first.turns, second.turns) == (1, TRIGGERS)
    assert await awake.ends() == [("proposed", ""), ("proposed", "")]
    await awake.asked(2)
    await awake.is_whole()


async def test_nothing_new_is_a_recorded_no_op_that_asks_nobody(awake: Awake) -> None:
    async with awake.sidecar(), Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        await awake.ended(1)
        await host.complete("turn-1")
        (_, noop) = await awake.ended(2)
        assert (noop.result, noop.reason, noop.tokens) == ("noop", "unchanged", 0)
        await awake.asked(1)
        await turn(host, 2)
        await awake.ended(3)
        await awake.asked(2)


async def test_a_budget_rolls_with_its_window(awake: Awake) -> None:
    """Whatever the machine's pace, each cycle's end follows from what the record says."""
    window_ms, budget = 4_000, RESERVED_TOKENS + USED_TOKENS
    limits = {
        "PMCL_REFLECTION_TOKENS": str(budget),
        "PMCL_REFLECTION_WINDOW_MS": str(window_ms),
    }
    async with awake.sidecar(**limits), Host.connect(awake.world.host()) as host:
        number = 0
        with anyio.fail_after(60):
            while True:
                await turn(host, number)
                number += 1
                ends = [cycle.result for cycle in await awake.ended(number)]
                if "skipped" in ends and ends[-1] == "proposed":
                    break
    cycles = await awake.cycles()
    for cycle in cycles:
        spent = sum(
            other.tokens
            for other in cycles
            if other.claim < cycle.claim and other.claimed_at > cycle.claimed_at - window_ms
        )
        fits = spent + RESERVED_TOKENS <= budget
        expected = ("proposed", "") if fits else ("skipped", "budget.tokens")
        assert (cycle.result, cycle.reason) == expected
    await awake.asked(sum(cycle.result == "proposed" for cycle in cycles))


async def test_failures_open_the_circuit_and_one_attempt_closes_it(awake: Awake) -> None:
    open_ms = 3_000
    quick = {"PMCL_REFLECTION_BACKOFF_MS": "1", "PMCL_REFLECTION_OPEN_MS": str(open_ms)}
    awake.model.status = "503 Busy"
    async with awake.sidecar(**quick), Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        assert (await awake.circuit("open")).failures == 3
        await awake.asked(3)
        awake.model.open.clear()
        await awake.asked(4)
        assert (await awake.circuit("half_open")).failures == 3
        awake.model.open.set()
        assert (await awake.circuit("open")).failures == 4
        awake.model.status = "200 OK"
        host_now = await awake.circuit("closed")
    assert (host_now.failures, host_now.turns_waiting) == (0, 0)
    cycles = await awake.cycles()
    assert await awake.ends() == [("failed", "status_503")] * 4 + [("proposed", "")]
    for before, after in pairwise(cycles[2:]):
        assert before.ended_at is not None
        assert after.claimed_at >= before.ended_at + open_ms
    assert [cycle.attempt for cycle in cycles] == [1, 2, 3, 4, 5]
    assert [cycle.claim for cycle in cycles] == [1, 2, 3, 4, 5]


# --- the sidecar is killed


async def test_a_job_that_waits_outlives_kill_9(awake: Awake) -> None:
    async with (
        awake.sidecar(PMCL_REFLECTION="off") as sidecar,
        Host.connect(awake.world.host()) as host,
    ):
        await turn(host, 0)
        await kill(sidecar)
    assert await awake.cycles() == []
    async with awake.sidecar():
        (cycle,) = await awake.ended(1)
    assert (cycle.result, cycle.turns, cycle.attempt) == ("proposed", 1, 1)
    await awake.is_whole()


async def test_an_idle_job_outlives_kill_9(awake: Awake) -> None:
    awake.model.open.clear()
    often = {"PMCL_REFLECTION_IDLE_MS": "1000", "PMCL_REFLECTION_BACKOFF_MS": "1"}
    async with awake.sidecar(**often) as sidecar, Host.connect(awake.world.host()) as host:
        await host.observe(source="shell", summary="the disk is full")
        await awake.asked(1)
        await kill(sidecar)
    awake.model.open.set()
    async with awake.sidecar(PMCL_REFLECTION_BACKOFF_MS="1"):
        cycles = await awake.ended(2)
    assert [cycle.trigger for cycle in cycles] == ["idle", "idle"]
    assert [(cycle.result, cycle.reason) for cycle in cycles] == [
        ("abandoned", "restarted"),
        ("proposed", ""),
    ]


async def test_a_job_whose_cycle_was_killed_is_tried_again_and_charged(awake: Awake) -> None:
    awake.model.open.clear()
    async with awake.sidecar() as sidecar, Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        await awake.asked(1)
        await kill(sidecar)
    awake.model.open.set()
    async with awake.sidecar(PMCL_REFLECTION_BACKOFF_MS="1"):
        gone, again = await awake.ended(2)
    assert (gone.result, gone.reason, gone.requeued) == ("abandoned", "restarted", True)
    assert (gone.tokens, again.tokens) == (RESERVED_TOKENS, USED_TOKENS)
    assert (again.result, again.turns, again.attempt) == ("proposed", 1, 2)
    await awake.is_whole()


async def test_a_job_that_waits_for_its_next_attempt_outlives_kill_9(awake: Awake) -> None:
    wait_ms = 3_000
    awake.model.status = "503 Busy"
    slowly = {"PMCL_REFLECTION_BACKOFF_MS": str(wait_ms)}
    async with awake.sidecar(**slowly) as sidecar, Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        (failed,) = await awake.ended(1)
        await kill(sidecar)
    awake.model.status = "200 OK"
    async with awake.sidecar(**slowly):
        (_, again) = await awake.ended(2)
    assert (failed.result, again.result, again.attempt) == ("failed", "proposed", 2)
    assert failed.ended_at is not None
    assert again.claimed_at >= failed.ended_at + wait_ms


@pytest.mark.parametrize("state", ["open", "half_open"])
async def test_a_circuit_that_is_not_closed_outlives_kill_9(awake: Awake, state: str) -> None:
    open_ms = 4_000
    quick = {"PMCL_REFLECTION_BACKOFF_MS": "1", "PMCL_REFLECTION_OPEN_MS": str(open_ms)}
    awake.model.status = "503 Busy"
    async with awake.sidecar(**quick) as sidecar, Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        await awake.circuit("open")
        awake.model.open.clear()
        if state == "half_open":
            await awake.asked(4)
        assert (await awake.circuit(state)).failures == 3
        await kill(sidecar)
    killed = await awake.cycles()
    awake.model.status = "200 OK"
    awake.model.open.set()
    async with awake.sidecar(**quick):
        host_now = await awake.circuit("closed")
    assert (host_now.failures, host_now.turns_waiting) == (0, 0)
    cycles = await awake.cycles()
    last, probe = cycles[-2:]
    # A probe that was killed counts as one that failed: the circuit is open again.
    probing = [("abandoned", "restarted")] if state == "half_open" else []
    ends = [("failed", "status_503")] * 3 + probing
    assert await awake.ends() == [*ends, ("proposed", "")]
    assert [cycle.cycle_id for cycle in cycles[:-1]] == [cycle.cycle_id for cycle in killed]
    assert last.ended_at is not None
    assert probe.claimed_at >= last.ended_at + open_ms
    assert (probe.turns, probe.attempt) == (1, len(cycles))
    await awake.asked(len(cycles))
    await awake.is_whole()


async def test_an_ended_job_is_not_done_again_after_kill_9(awake: Awake) -> None:
    async with awake.sidecar() as sidecar, Host.connect(awake.world.host()) as host:
        await turn(host, 0)
        await awake.ended(1)
        await kill(sidecar)
    async with awake.sidecar(), Host.connect(awake.world.host()) as host:
        await turn(host, 1)
        (first, second) = await awake.ended(2)
    assert (first.turns, second.turns) == (1, 1)
    await awake.asked(2)
    (memories,) = await rows(awake.world.ledger, "SELECT count(*) AS n FROM items")
    assert memories["n"] == 2


# --- a worker that sleeps through its claim


async def test_a_stopped_process_whose_claim_was_taken_writes_nothing(
    world: World, tmp_path: Path
) -> None:
    async with (
        world.sidecar(PMCL_REFLECTION="off") as sidecar,
        Host.connect(world.host()) as host,
    ):
        await turn(host, 0)
        await kill(sidecar)

    def reflecting(ahead_ms: int, go: Path) -> AbstractAsyncContextManager[Child]:
        command = (sys.executable, str(REFLECTING), str(world.ledger), str(ahead_ms), str(go))
        return child(command, tmp_path / "reflecting.err", world.environment)

    old_may, new_may, never = tmp_path / "old", tmp_path / "new", tmp_path / "never"
    async with reflecting(0, old_may) as old:
        assert await old.line() == "claim 1"
        old.send(signal.SIGSTOP)
        async with reflecting(100_000, never) as between:
            # It ends the claim that ran out, and waits as after any failure.
            assert await between.line() == "nothing None"
        async with reflecting(150_000, new_may) as new:
            assert await new.line() == "claim 2"
            before = await digests(world.ledger)
            old_may.touch()
            old.send(signal.SIGCONT)
            assert await old.line() == "abandoned claim_expired"
            assert await old.ends() == 0
            assert "reflection.fenced" in old.errors
            assert await digests(world.ledger) == before
            new_may.touch()
            assert await new.line() == "proposed "
            assert await new.ends() == 0
    (item,) = await rows(world.ledger, "SELECT cycle_id FROM items")
    cycles = await rows(world.ledger, "SELECT cycle_id, claim, result FROM reflections")
    ends = {row["claim"]: (row["cycle_id"], row["result"]) for row in cycles}
    assert ends[2] == (item["cycle_id"], "proposed")
    assert ends[1][1] == "abandoned"
    async with world.sidecar(PMCL_REFLECTION="off"), world.admin() as admin:
        await log_is_the_journal(world.ledger, admin)
