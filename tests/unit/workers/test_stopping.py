"""A stop through the real workers and a real ledger. Source: SPEC F7."""

from pathlib import Path

import pytest

from pmcl.contracts import (
    CellResumed,
    CellStopped,
    Heartbeat,
    LeaseEnded,
    LeaseEndedError,
    Resume,
    Stop,
    StopState,
)
from tests.unit.workers.desk import NOTES, START_MS, Desk, Ledger, open_ledger, premortem

pytestmark = pytest.mark.anyio

STOPPED = "authority.stopped"


async def stop(desk: Desk, *, dry_run: bool = False) -> StopState:
    state = await desk.say_as_operator("stop", Stop(label="ann", dry_run=dry_run))
    assert isinstance(state, StopState)
    return state


async def resume(desk: Desk, *, dry_run: bool = False) -> StopState:
    state = await desk.say_as_operator("resume", Resume(label="bob", dry_run=dry_run))
    assert isinstance(state, StopState)
    return state


async def test_a_stop_ends_every_lease_and_says_who_and_when(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, scope="elsewhere")
    await other.begin()
    state = await stop(desk)
    assert state == StopState(
        stopped=True, changed=True, since=START_MS, by="operator/ann", leases=2
    )
    (stopped,) = await ledger.events(CellStopped)
    assert (stopped.by, stopped.at_ms) == ("operator/ann", START_MS)
    assert [event.reason for event in await ledger.events(LeaseEnded)] == ["stopped", "stopped"]
    assert (await ledger.journal())[-3][0] == "pmcl.v1.event._cell.operator.cell-stopped"
    for one in (desk, other):
        with pytest.raises(LeaseEndedError):
            await one.say("heartbeat", Heartbeat)


async def test_under_a_stop_only_inspections_pass(desk: Desk) -> None:
    await stop(desk)
    assert (await desk.begin()).generation == 2
    assert (await desk.check(desk.request("read_file"))).checkpoint_status == "passed"
    seen = await desk.observe(resources=(NOTES,), trust="user")
    for tool in ("write_file", "fetch", "run", "frobnicate"):
        held = await desk.check(desk.request(tool, premortem=premortem(seen)))
        assert (held.checkpoint_status, held.revision_request) == ("held", None)
        assert held.reasons[0] == STOPPED


async def test_what_passed_before_is_not_given_again(desk: Desk) -> None:
    seen = await desk.observe(resources=(NOTES,))
    request = desk.request(premortem=premortem(seen))
    passed = await desk.check(request)
    assert passed.valid_for_ms > 0
    await stop(desk)
    again = await desk.check(request)
    assert (again.evaluation_id, again.valid_for_ms) == (passed.evaluation_id, 0)
    await resume(desk)
    assert (await desk.check(request)).valid_for_ms == 0


async def test_nobody_is_asked_to_approve_under_a_stop(desk: Desk) -> None:
    await stop(desk)
    await desk.begin()
    held = await desk.asked()
    assert held.approval_id is None
    assert STOPPED in held.reasons


async def test_a_grant_from_before_does_not_pass_under_a_stop(desk: Desk) -> None:
    await desk.grant(await desk.asked())
    await stop(desk)
    await desk.begin()
    assert STOPPED in (await desk.asked()).reasons


async def test_the_same_word_again_changes_nothing(ledger: Ledger, desk: Desk) -> None:
    assert (await resume(desk)) == StopState(stopped=False, changed=False)
    first = await stop(desk)
    await desk.begin()
    ledger.clock.now_ms += 5
    before = await ledger.tables()
    second = await stop(desk)
    assert (second.changed, second.since, second.by) == (False, first.since, first.by)
    assert await ledger.tables() == before


async def test_a_dry_run_changes_nothing(ledger: Ledger, desk: Desk) -> None:
    before = await ledger.tables()
    assert await stop(desk, dry_run=True) == StopState(stopped=False, changed=True, leases=1)
    assert await ledger.tables() == before
    await stop(desk)
    before = await ledger.tables()
    told = await resume(desk, dry_run=True)
    assert (told.stopped, told.changed, told.by) == (True, True, "operator/ann")
    assert await ledger.tables() == before


async def test_work_goes_on_after_resume(ledger: Ledger, desk: Desk) -> None:
    await stop(desk)
    await desk.begin()
    assert await resume(desk) == StopState(stopped=False, changed=True)
    (resumed,) = await ledger.events(CellResumed)
    assert resumed.by == "operator/bob"
    await desk.passed()


async def test_a_stop_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    async with open_ledger(path) as ledger:
        desk = Desk(ledger)
        await desk.begin()
        await stop(desk)
    async with open_ledger(path) as ledger:
        desk = Desk(ledger)
        await desk.begin()
        assert STOPPED in (await desk.check(desk.request())).reasons
