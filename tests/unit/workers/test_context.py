"""A context holds what its provider may see, fits its budget, and invents nothing."""

from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmcl.contracts import (
    EVERY_VISIBILITY,
    BeliefProposed,
    Context,
    ContextRequest,
    DisableLease,
    EvolutionProposed,
    Identity,
    IntentionProposed,
    ItemAdmitted,
    LeaseEndedError,
    LessonProposed,
    MemoryProposed,
    Proposed,
    RecommendationProposed,
    SelfModelProposed,
    SetIdentity,
    StaleGenerationError,
    Visibility,
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
    await configure(desk, "local_only")


async def configure(desk: Desk, visibility: Visibility) -> None:
    """Set the identity of the desk's scope."""
    word = LOCAL if visibility == "local_only" else "open"
    identity = Identity(
        name="Aura", text=word, ideal_self=(word,), desired_world=(word,), visibility=visibility
    )
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


@pytest.mark.parametrize(("budget", "tokens"), [(4096, None), (4096, 65_536), (131_072, 2048)])
async def test_of_two_budgets_the_smaller_one_counts(
    desk: Desk, budget: int, tokens: int | None
) -> None:
    await fill(desk, texts=6)
    found = await context(desk, budget_bytes=budget, budget_tokens=tokens)
    assert found.omitted
    assert 3000 < len(encode(found)) <= 4096


async def test_asking_changes_nothing(ledger: Ledger, desk: Desk) -> None:
    await fill(desk)
    before = await ledger.tables()
    await context(desk, "deploy")
    assert await ledger.tables() == before


class Said(NamedTuple):
    """What reflection is to derive, from evidence of the same visibility."""

    kind: type[Proposed]
    visibility: Visibility
    text: str
    ends: bool
    """That it brings an earlier belief or intention to its end."""


class Contents(NamedTuple):
    """What a scope holds."""

    said: list[Said]
    identity: Visibility | None


KINDS: list[type[Proposed]] = [
    MemoryProposed,
    BeliefProposed,
    IntentionProposed,
    LessonProposed,
    RecommendationProposed,
    SelfModelProposed,
    WorkingStateProposed,
]
VISIBILITIES = st.sampled_from(EVERY_VISIBILITY)
TEXTS = st.builds(
    lambda words, length: words + "x" * length,
    st.text('abc \u4e16\n\\"', max_size=40),
    st.integers(0, 900),
)
CONTENTS = st.builds(
    Contents,
    said=st.lists(
        st.builds(Said, st.sampled_from(KINDS), VISIBILITIES, TEXTS, st.booleans()), max_size=14
    ),
    identity=st.none() | VISIBILITIES,
)
BUDGETS = st.tuples(
    st.sampled_from([4096, 131_072]) | st.integers(4096, 12_000),
    st.none() | st.integers(2048, 6000),
)
GOALS = st.text(max_size=100) | st.sampled_from([LOCAL, f"{LOCAL} deploy", "deploy"])


async def hold(desk: Desk, contents: Contents) -> set[str]:
    """Put the contents into the desk's scope; return the ids of all that is local only.

    All of that says so in each of its texts.
    """
    seen = {
        "local_only": await desk.observe(summary=LOCAL, source=LOCAL),
        "shareable": await desk.observe(visibility="shareable"),
    }
    local = {seen["local_only"]}
    earlier: dict[type[Proposed], str] = {}
    for number, said in enumerate(contents.said):
        word = LOCAL if said.visibility == "local_only" else "open"
        proposed = said.kind(
            text=f"{word} deploy {number} {said.text}",
            evidence_ids=(seen[said.visibility],),
            visibility=said.visibility,
            **particulars(said, f"{word} {number}", earlier.get(said.kind)),
        )
        (event, *_) = (await desk.reflect(proposed)).events
        assert isinstance(event, ItemAdmitted | EvolutionProposed)
        if isinstance(event, ItemAdmitted):
            earlier[said.kind] = event.item_id
            local |= {event.item_id} if event.visibility == "local_only" else set()
            if getattr(proposed, "resolves", None):
                del earlier[said.kind]
    if contents.identity is not None:
        await configure(desk, contents.identity)
    return local


def particulars(said: Said, about: str, earlier: str | None) -> dict[str, Any]:
    """Return what only proposals of this kind say."""
    if said.kind is BeliefProposed:
        named = {} if earlier is None else {"contradicts": (earlier,)}
        return {"about": about, **({"replaces": earlier} if said.ends else named)}
    if said.kind is IntentionProposed:
        return {"resolves": earlier if said.ends else None}
    if said.kind is LessonProposed:
        return {"fingerprint": "f" * 64}
    return {"part": "skills"} if said.kind is SelfModelProposed else {}


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents=CONTENTS, asked=st.lists(st.tuples(GOALS, BUDGETS), min_size=1, max_size=3))
async def test_no_context_passes_its_budget_or_shows_what_is_local_to_another(
    ledger: Ledger,
    contents: Contents,
    asked: list[tuple[str, tuple[int, int | None]]],
) -> None:
    number = len(await ledger.rows("SELECT 1 FROM leases"))
    desk = Desk(ledger, scope=f"s{number}")
    await desk.begin(provider_locality="nonlocal")
    local = await hold(desk, contents)
    for goal, (budget, tokens) in asked:
        found = encode(await context(desk, goal, budget_bytes=budget, budget_tokens=tokens))
        assert len(found) <= budget
        assert tokens is None or len(found) <= 2 * tokens
        shown = found.decode()
        assert LOCAL not in shown
        assert not [each for each in local if each in shown]
    await everything_is_shown_to_a_local_one(desk)


async def everything_is_shown_to_a_local_one(desk: Desk) -> None:
    """What another did not see was there to be seen."""
    await desk.begin(provider_locality="local")
    shown = encode(await context(desk, budget_bytes=131_072)).decode()
    rows = await desk.ledger.rows(
        "SELECT item_id FROM items WHERE scope = :scope AND state = 'live' AND resolves IS NULL",
        scope=desk.scope,
    )
    assert not [row["item_id"] for row in rows if row["item_id"] not in shown]
