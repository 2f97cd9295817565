"""An operator sees which outcomes are linked to no evaluation, and why."""

import pytest
from ulid_transform import ulid_now

from pmcl.contracts import Outcome, OutcomeListed, OutcomeParked
from pmcl.ops.console import console
from pmcl.ops.unlinked import list_unlinked, show_unlinked
from tests.integration.sidecar.plain import PlainHost
from tests.integration.sidecar.room import Room

pytestmark = pytest.mark.anyio


def outcome(evaluation_id: str, proposal_hash: str = "a" * 64) -> Outcome:
    return Outcome(
        outcome_id=ulid_now(),
        evaluation_id=evaluation_id,
        proposal_hash=proposal_hash,
        status="failed",
        failure_mode="timeout",
        finished_at=1_700_000_000_000,
    )


async def test_parked_and_listed_outcomes_are_told_by_id(room: Room, plain: PlainHost) -> None:
    parked = outcome(ulid_now())
    await plain.tell("outcome", parked)
    await room.event(plain.scope, OutcomeParked)
    verdict = await plain.check(plain.request())
    foreign = outcome(verdict["evaluation_id"], "b" * 64)
    await plain.tell("outcome", foreign)
    await room.event(plain.scope, OutcomeListed)
    found = await list_unlinked(room.settings, scope=plain.scope)
    seen = {each.outcome_id: (each.why, each.evaluation_id) for each in found["outcomes"]}
    assert seen == {
        parked.outcome_id: ("parked", parked.evaluation_id),
        foreign.outcome_id: ("other_proposal", foreign.evaluation_id),
    }
    assert not found["more"]
    assert {each.status for each in found["outcomes"]} == {"failed"}
    with console.capture() as printed:
        show_unlinked(found)
    assert "other_proposal" in printed.get()


async def test_scope_host_and_limit_narrow_the_list(room: Room, plain: PlainHost) -> None:
    for _ in range(2):
        await plain.tell("outcome", outcome(ulid_now()))
    await room.event(plain.scope, OutcomeParked, 2)
    one = await list_unlinked(room.settings, scope=plain.scope, host=plain.host, limit=1)
    assert (len(one["outcomes"]), one["more"]) == (1, True)
    none = await list_unlinked(room.settings, scope=plain.scope, host="nobody")
    assert (none["outcomes"], none["more"]) == ([], False)
    with console.capture() as printed:
        show_unlinked(none)
    assert "Every outcome is linked" in printed.get()
