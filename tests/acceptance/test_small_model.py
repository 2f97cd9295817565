"""A real model of 135 million parameters reflects and criticises; what it means is nobody's claim.

Its answers are held to their shape: nothing it says is kept without known evidence, lets a call
pass or hold up a local inspection.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from pmcl.hosts import Host
from pmcl.ops.memories import list_memories
from pmcl.ops.reflections import CycleView, list_reflections
from pmcl.ops.settings import Settings
from tests.acceptance.small_model import WITHIN_S, needs_small_model, open_small_model
from tests.acceptance.world import World, deleting, reading

POLL_S = 0.1

pytestmark = [pytest.mark.anyio, needs_small_model]


@pytest.fixture
async def model_url(tmp_path: Path) -> AsyncIterator[str]:
    async with open_small_model(tmp_path) as url:
        yield url


async def ended_cycle(settings: Settings) -> CycleView:
    with anyio.fail_after(WITHIN_S):
        while True:
            cycles: list[CycleView] = (await list_reflections(settings))["cycles"]
            if cycles and cycles[0].ended_at is not None:
                return cycles[0]
            await anyio.sleep(POLL_S)


async def test_what_it_proposes_is_admitted_or_refused_with_a_reason(
    world: World, model_url: str
) -> None:
    async with world.sidecar(PMCL_MODEL_URL=model_url), Host.connect(world.host()) as host:
        for number in range(3):
            await host.observe(source="shell", summary=f"make build {number} failed: no gcc")
        await host.complete("turn-1")
        settings = Settings(state_dir=world.state_dir)
        cycle = await ended_cycle(settings)
        kept = (await list_memories(settings, ended=True))["memories"]
        refused = (await list_memories(settings, what="rejected"))["memories"]
    assert cycle.reflector.startswith("model/")
    assert cycle.result in ("proposed", "discarded"), cycle.reason
    assert 0 < cycle.tokens < settings.reflection_tokens
    said = cycle.admitted + cycle.proposed + cycle.rejected + cycle.repeated
    assert (said > 0) == (cycle.result == "proposed")
    assert [bool(each["evidence_ids"]) for each in kept] == [True] * cycle.admitted
    assert [bool(each["code"]) for each in refused] == [True] * cycle.rejected


async def test_as_a_critic_it_only_holds(world: World, model_url: str) -> None:
    patient = world.host(deadline_ms=60_000)
    critic = {"PMCL_CRITIC": "optional", "PMCL_CRITIC_DEADLINE_MS": "20000"}
    async with world.sidecar(PMCL_MODEL_URL=model_url, **critic), Host.connect(patient) as host:
        assert (await host.check(reading("/srv/a"))).passed
        held = await host.check(deleting("/srv/a"))
    assert held.status == "held"
    assert {"plan.unmitigated"} <= {*held.reasons} <= {"plan.unmitigated", "plan.critic_veto"}
