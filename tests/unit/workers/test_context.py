"""A context holds what its provider may see, fits its budget, and invents nothing."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmcl.contracts import (
    BeliefProposed,
    Context,
    ContextRequest,
    DisableLease,
    Identity,
    IntentionProposed,
    LeaseEndedError,
    MemoryProposed,
    RecommendationProposed,
    SetIdentity,
    StaleGenerationError,
    WorkingStateProposed,
    encode,
)
from pmcl.workers import ContextWorker
from tests.unit.workers.desk import Desk, Ledger

pytestmark = pytest.mark.anyio

LOCAL = "quokka"
"""Stands in every text that is local only."""


@pytest.fixture
async def desk(ledger: Ledger) -> Desk:
    """A host with a local provider, whose lease lives."""
    made = Desk(ledger)
    await made.begin(provider_locality="local")
    return made


async def context(desk: Desk, goal: str = "", **changes: Any) -> Context:
    fields = {"lease_id": desk.lease.lease_id, "generation": desk.lease.generation, **changes}
    answer = await desk.ask(ContextWorker(), None, ContextRequest(goal=goal, **fields))
    assert isinstance(answer, Context)
    return msgspec.structs.replace(answer, received=None)


async def fill(desk: Desk, *, texts: int = 3) -> None:
    """Admit local and shareable items of each kind."""
    local = await desk.observe(summary=LOCAL)
    shared = await desk.observe(visibility="shareable")
    for number in range(texts):
        for seen, visibility, word in ((local, "local_only", LOCAL), (shared, "shareable", "open")):
            common: dict[str, Any] = {"evidence_ids": (seen,), "visibility": visibility}
            text = f"{word} deploy {number} \u4e16 " + "x" * (number * 40)
            await desk.reflect(
                MemoryProposed(text=text, **common),
                BeliefProposed(text=text, about=word, **common),
                IntentionProposed(text=text, **common),
                RecommendationProposed(text=text, simulated=True, **common),
                WorkingStateProposed(text=text, **common),
            )
    identity = Identity(name="Aura", text=LOCAL, ideal_self=(LOCAL,), desired_world=(LOCAL,))
    asked = SetIdentity(of_scope=desk.scope, identity=identity, label="ann")
    await desk.say_as_operator("identity", asked)


async def test_a_context_of_an_empty_ledger_invents_nothing(desk: Desk) -> None:
    found = await context(desk, "deploy")
    assert (found.status, found.identity, found.memories) == ("compiled", None, ())
    assert found.self_model_version_id == "self-model/0"
    assert found.operational.freshness == "unavailable"
    assert found.omitted == {}


async def test_what_the_goal_asks_for_comes_with_its_evidence(desk: Desk) -> None:
    seen = await desk.observe(trust="web")
    await desk.reflect(
        MemoryProposed(text="the deploy of billing timed out", evidence_ids=(seen,)),
        MemoryProposed(text="tea is green", evidence_ids=(seen,)),
    )
    first, second = (await context(desk, "deploying billing")).memories
    assert (first.text, first.evidence_ids, first.trust) == (
        "the deploy of billing timed out",
        (seen,),
        ("web",),
    )
    assert second.text == "tea is green"


async def test_a_local_provider_sees_all_of_it(desk: Desk) -> None:
    await fill(desk)
    found = await context(desk, "deploy", budget_bytes=65_536)
    assert found.identity is not None
    assert found.identity.text == LOCAL
    assert {item.visibility for item in found.memories} == {"local_only", "shareable"}
    assert len(found.intentions) == 6
    assert all(item.simulated for item in found.recommendations)
    assert found.omitted == {}


async def test_the_lease_and_not_the_request_says_whether_a_provider_is_local(desk: Desk) -> None:
    await fill(desk)
    await desk.begin(provider_locality="nonlocal")
    found = await context(desk, LOCAL, budget_bytes=65_536)
    assert found.provider_locality == "nonlocal"
    assert LOCAL not in encode(found).decode()
    assert found.identity is not None
    assert found.identity.name == "Aura"
    assert len(found.memories) == 6
    assert [item.visibility for item in found.working_state] == ["shareable"]


async def test_a_context_needs_a_living_lease(desk: Desk) -> None:
    with pytest.raises(StaleGenerationError):
        await context(desk, generation=desk.lease.generation + 1)
    await desk.say("disable", DisableLease)
    with pytest.raises(LeaseEndedError):
        await context(desk)


async def test_asking_changes_nothing(ledger: Ledger, desk: Desk) -> None:
    await fill(desk)
    before = await ledger.tables()
    await context(desk, "deploy")
    assert await ledger.tables() == before


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    texts=st.integers(0, 8),
    budget=st.integers(4096, 20_000),
    tokens=st.none() | st.integers(2048, 8000),
    locality=st.sampled_from(["local", "nonlocal"]),
    goal=st.text(max_size=200) | st.just(f"{LOCAL} deploy"),
)
async def test_no_context_passes_its_budget_or_shows_what_is_local_to_another(
    ledger: Ledger, texts: int, budget: int, tokens: int | None, locality: str, goal: str
) -> None:
    number = len(await ledger.rows("SELECT 1 FROM leases"))
    desk = Desk(ledger, scope=f"s{number}")
    await desk.begin(provider_locality=locality)
    await fill(desk, texts=texts)
    found = await context(desk, goal, budget_bytes=budget, budget_tokens=tokens)
    size = len(encode(found))
    assert size <= budget
    assert tokens is None or size <= 2 * tokens
    if locality == "nonlocal":
        assert LOCAL not in encode(found).decode()
