"""Whom a checkpoint asks, and what comes of a critic that vetoes, agrees, hangs or is away."""

from typing import Any

import anyio
import pytest

from pmcl.contracts import CheckpointRequest, Evaluation, HoldPlaced
from pmcl.judgement import Critique, judge
from pmcl.ledger import evaluations
from pmcl.workers import CheckpointWorker, CriticUse
from tests.unit.workers.desk import NOTES, Desk, Ledger, premortem

pytestmark = pytest.mark.anyio


class Says:
    """A critic that gives one answer, or none at all."""

    def __init__(self, critique: Critique | None) -> None:
        self.critique_given = critique
        self.asked: list[CheckpointRequest] = []

    async def critique(self, request: CheckpointRequest) -> Critique:
        self.asked.append(request)
        if self.critique_given is None:
            await anyio.sleep_forever()
        assert self.critique_given is not None
        return self.critique_given


def _beside(desk: Desk, critique: Critique | None, **changes: Any) -> Says:
    critic = Says(critique)
    desk.checkpoint = CheckpointWorker(desk.ledger.key, critic=CriticUse(critic=critic, **changes))
    return critic


async def _write(desk: Desk, **changes: Any) -> Evaluation:
    seen = await desk.observe(resources=(NOTES,))
    return await desk.check(desk.request(premortem=premortem(seen), **changes))


async def test_an_always_vetoing_critic_turns_passes_into_holds(ledger: Ledger, desk: Desk) -> None:
    assert (await _write(desk)).checkpoint_status == "passed"
    _beside(desk, Critique(verdict="veto", failure_mode="data_loss"))
    vetoed = await _write(desk)
    assert vetoed.reasons == ("plan.critic_veto",)
    (placed,) = await ledger.events(HoldPlaced)
    assert (placed.reason, placed.lift) == ("plan.critic_veto", "evidence_about_resource")
    await _write(desk)
    assert len(await ledger.events(HoldPlaced)) == 1


async def test_a_critic_that_agrees_lets_nothing_pass_that_was_held(desk: Desk) -> None:
    critic = _beside(desk, Critique(verdict="none"))
    held = await desk.check(desk.request())
    assert held.reasons == ("plan.unmitigated",)
    prohibited = await desk.check(desk.request("format_disk"))
    assert any(reason.startswith("authority.") for reason in prohibited.reasons)
    assert len(critic.asked) == 2


@pytest.mark.parametrize("required", [True, False], ids=["required", "optional"])
async def test_a_critic_that_hangs_is_waited_for_in_bounds(desk: Desk, *, required: bool) -> None:
    _beside(desk, None, within_ms=1, required=required)
    with anyio.fail_after(5):
        evaluation = await _write(desk)
    assert evaluation.reasons == (("degraded.critic_unavailable",) if required else ())
    noted = evaluation.state_check.items[-1]
    assert (noted.name, noted.freshness) == ("critic", "unavailable")
    assert noted.note.endswith(", timeout")


async def test_a_held_call_passes_once_the_required_critic_is_back(
    ledger: Ledger, desk: Desk
) -> None:
    critic = _beside(desk, Critique(verdict="unavailable", reason="circuit_open"), required=True)
    assert (await _write(desk)).checkpoint_status == "held"
    assert await ledger.events(HoldPlaced) == []
    critic.critique_given = Critique(verdict="none")
    assert (await _write(desk)).checkpoint_status == "passed"


async def test_nobody_is_asked_about_local_inspections(desk: Desk) -> None:
    critic = _beside(desk, None, required=True)
    with anyio.fail_after(5):
        evaluation = await desk.check(desk.request("read_file"))
    assert (evaluation.checkpoint_status, critic.asked) == ("passed", [])
    assert "critic" not in [item.name for item in evaluation.state_check.items]


async def test_a_critic_sees_no_secret(desk: Desk) -> None:
    critic = _beside(desk, Critique(verdict="none"))
    arguments = {"path": NOTES.value, "password": "hunter2-of-old"}
    await desk.check(desk.request(arguments=arguments))
    (asked,) = critic.asked
    assert "hunter2" not in str(asked)


async def test_what_a_critic_said_is_stored_so_that_it_can_be_judged_again(
    ledger: Ledger, desk: Desk
) -> None:
    _beside(desk, Critique(verdict="veto", failure_mode="data_loss"))
    vetoed = await _write(desk)
    stored = await ledger.writer.run(
        lambda tx: evaluations.judged(tx, desk.scope, vetoed.evaluation_id)
    )
    assert stored is not None
    assert judge(stored.inputs).evaluation == stored.evaluation
    assert stored.evaluation.reasons == vetoed.reasons == ("plan.critic_veto",)
