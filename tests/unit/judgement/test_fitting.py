"""What is fitted never passes its budget; what had room when its turn came is not left out."""

from collections import Counter

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from pmcl.contracts import (
    BackgroundCycle,
    Capability,
    Context,
    ContextItem,
    IdentityShown,
    encode,
)
from pmcl.contracts.context import CONTEXT_MIN_BYTES
from pmcl.judgement import Piece, fit

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
WORDS = st.text(st.characters(codec="utf-8"), max_size=60)
ITEMS = st.builds(
    ContextItem,
    item_id=st.just(ULID),
    kind=st.sampled_from(["memory", "intention", "working_state"]),
    text=WORDS,
    confidence=st.floats(0, 1),
    visibility=st.just("shareable"),
    evidence_ids=st.lists(st.just(ULID), max_size=3).map(tuple),
    admitted_at=st.integers(0, 2**53 - 1),
    freshness=st.sampled_from(["fresh", "stale"]),
)
CAPABILITIES = st.builds(Capability, tool=WORDS, grant=st.sampled_from(["grant", "prohibit"]))
CYCLES = st.builds(
    BackgroundCycle,
    cycle_id=st.just(ULID),
    trigger=st.sampled_from(["idle", "turn"]),
    began_at=st.integers(0, 2**53 - 1),
    result=st.none() | st.sampled_from(["noop", "proposed"]),
    admitted=st.integers(0, 16),
    proposed=st.integers(0, 16),
    rejected=st.integers(0, 16),
)
PIECES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["working_state", "memories", "intentions"]), ITEMS),
        st.tuples(st.just("contradictions"), st.just((ULID, ULID))),
        st.tuples(st.just("background"), CYCLES),
        st.tuples(st.just("capabilities"), CAPABILITIES),
    ),
    max_size=24,
)
IDENTITIES = st.none() | st.builds(
    IdentityShown,
    version=st.integers(1, 9),
    name=WORDS,
    text=WORDS,
    ideal_self=st.lists(WORDS, max_size=2).map(tuple),
)


def named(bare: Context) -> Context:
    """The same with no more of the identity than its name."""
    identity = bare.identity
    if identity is None:
        return bare
    shown = IdentityShown(version=identity.version, name=identity.name)
    return msgspec.structs.replace(bare, identity=shown)


def size_counting(context: Context, pieces: list[Piece]) -> int:
    """How long it is if all of its pieces were counted as left out."""
    counts = dict(Counter(section for section, _ in pieces))
    return len(encode(msgspec.structs.replace(context, omitted=counts)))


def taking(context: Context, piece: Piece) -> Context:
    section, one = piece
    return msgspec.structs.replace(context, **{section: (*getattr(context, section), one)})


@st.composite
def asked(draw: st.DrawFn) -> tuple[Context, list[Piece], int]:
    """A budget anywhere between what can be no shorter and what has room for everything.

    Every second one is a size that some of the pieces have to the byte, or one byte beside it.
    """
    bare, pieces = Context(status="compiled", identity=draw(IDENTITIES)), draw(PIECES)
    least = size_counting(named(bare), pieces)
    whole = bare
    sizes = [least, size_counting(bare, pieces)]
    for piece in pieces:
        whole = taking(whole, piece)
        sizes.append(size_counting(whole, pieces))
    exact = st.builds(int.__add__, st.sampled_from(sizes), st.integers(-1, 1))
    budget = draw(st.one_of(exact, st.integers(least, sizes[-1] + 1)))
    return bare, pieces, max(budget, least)


@settings(max_examples=200)
@given(asked=asked())
def test_no_context_passes_its_budget(asked: tuple[Context, list[Piece], int]) -> None:
    bare, pieces, budget = asked
    assert len(encode(fit(bare, pieces, budget))) <= budget


@settings(max_examples=200)
@given(asked=asked())
def test_a_piece_goes_in_as_long_as_it_has_room(asked: tuple[Context, list[Piece], int]) -> None:
    bare, pieces, budget = asked
    wanted = bare if size_counting(bare, pieces) <= budget else named(bare)
    left: Counter[str] = Counter()
    for piece in pieces:
        longer = taking(wanted, piece)
        if size_counting(longer, pieces) <= budget:
            wanted = longer
        else:
            left[piece[0]] += 1
    assert fit(bare, pieces, budget) == msgspec.structs.replace(wanted, omitted=dict(left))


def test_the_least_budget_has_room_for_the_longest_that_every_context_has() -> None:
    identity = IdentityShown(version=2**53, name="\x01" * 256, text="\x01" * 4096)
    bare = Context(
        status="compiled",
        scope="s" * 64,
        generation=2**53,
        compiled_at=2**53,
        identity=identity,
        self_model_version_id="self-model/" + "9" * 16,
        self_model_waiting=2**53,
    )
    pieces: list[Piece] = [("capabilities", Capability(tool="t" * 256, grant="grant"))] * 1024
    found = fit(bare, pieces, CONTEXT_MIN_BYTES)
    assert len(encode(found)) <= CONTEXT_MIN_BYTES
    assert found.identity == IdentityShown(version=2**53, name="\x01" * 256)
    assert len(found.capabilities) + found.omitted["capabilities"] == 1024
