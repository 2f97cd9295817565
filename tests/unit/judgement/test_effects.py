from itertools import product

import pytest

from pmcl.contracts import Effect, Reversibility
from pmcl.judgement import classify, reversibility, riskier

ORDER: tuple[Effect, ...] = (
    "inspect_local",
    "network",
    "sensing",
    "mutation",
    "communication",
    "execution",
)


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("read_file", "inspect_local"),
        ("readFile", "inspect_local"),
        ("list.items", "execution"),  # the segment that names the action is `items`
        ("files/list_items", "inspect_local"),
        ("github:search-issues", "inspect_local"),
        ("READ", "inspect_local"),
        ("HTTPGet", "network"),
        ("fetch", "network"),
        ("get_webpage", "inspect_local"),
        ("web_search", "network"),
        ("take_screenshot", "sensing"),
        ("get_location", "sensing"),
        ("create_event", "mutation"),
        ("getAndDelete", "mutation"),
        ("read_file_and_email", "communication"),
        ("post-message", "communication"),
        ("run_query", "execution"),
        ("bash", "execution"),
        ("send_and_exec", "execution"),
        ("frobnicate", "execution"),
        ("frobnicate_list", "execution"),
        ("reader", "execution"),
        ("", "execution"),
        ("___", "execution"),
        ("r\u0435ad_file", "execution"),  # Cyrillic e
        ("read_s\u0435nd", "execution"),
    ],
)
def test_name_gives_the_riskiest_word(name: str, effect: Effect) -> None:
    assert classify(name, None, None) == effect


@pytest.mark.parametrize(("claim", "own"), [*product(ORDER, ["read_file", "create_file", "zzz"])])
def test_claim_raises_and_never_lowers(claim: Effect, own: str) -> None:
    alone = classify(own, None, None)
    assert ORDER.index(classify(own, claim, None)) == max(ORDER.index(alone), ORDER.index(claim))


@pytest.mark.parametrize("name", ["read_file", "fetch", "create_file", "send", "zzz"])
def test_read_only_hint_lowers_nothing(name: str) -> None:
    assert classify(name, None, read_only=True) == classify(name, None, None)


def test_denied_read_only_raises_an_inspection_to_mutation() -> None:
    assert classify("read_file", None, read_only=False) == "mutation"
    assert classify("read_file", "execution", read_only=False) == "execution"
    assert classify("fetch", None, read_only=False) == "network"


@pytest.mark.parametrize(("one", "other"), [*product(ORDER, ORDER)])
def test_riskier_follows_the_order(one: Effect, other: Effect) -> None:
    assert riskier(one, other) == ORDER[max(ORDER.index(one), ORDER.index(other))]


@pytest.mark.parametrize(
    ("effect", "claim", "expected"),
    [
        ("inspect_local", None, "reversible"),
        ("network", None, "reversible"),
        ("sensing", None, "irreversible"),
        ("mutation", None, "compensable"),
        ("communication", None, "irreversible"),
        ("execution", None, "irreversible"),
        ("mutation", "reversible", "compensable"),
        ("mutation", "irreversible", "irreversible"),
        ("network", "compensable", "compensable"),
        ("communication", "reversible", "irreversible"),
    ],
)
def test_reversibility_is_the_worse_of_usual_and_claim(
    effect: Effect, claim: Reversibility | None, expected: Reversibility
) -> None:
    assert reversibility(effect, claim) == expected
