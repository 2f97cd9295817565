from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from pmcl.contracts import CheckpointRequest, Effect, Reversibility
from pmcl.judgement import (
    EffectRules,
    Inputs,
    ToolRule,
    classify,
    judge,
    reversibility,
    riskier,
)

MakeRequest = Callable[..., CheckpointRequest]

ORDER: tuple[Effect, ...] = (
    "inspect_local",
    "network",
    "sensing",
    "mutation",
    "communication",
    "execution",
)


def effect_of(make_request: MakeRequest, name: str, **changes: Any) -> Effect:
    return classify(make_request(name, **changes), EffectRules()).effect


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
        ("get_webpage", "network"),
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
def test_name_gives_the_riskiest_word(make_request: MakeRequest, name: str, effect: Effect) -> None:
    assert effect_of(make_request, name) == effect


@pytest.mark.parametrize(("claim", "own"), [*product(ORDER, ["read_file", "create_file", "zzz"])])
def test_claim_raises_and_never_lowers(make_request: MakeRequest, claim: Effect, own: str) -> None:
    alone, found = (effect_of(make_request, own, effect=said) for said in (None, claim))
    assert ORDER.index(found) == max(ORDER.index(alone), ORDER.index(claim))


@pytest.mark.parametrize("name", ["read_file", "fetch", "create_file", "send", "zzz"])
def test_read_only_hint_lowers_nothing(make_request: MakeRequest, name: str) -> None:
    assert effect_of(make_request, name, read_only=True) == effect_of(make_request, name)


def test_denied_read_only_raises_an_inspection_to_mutation(make_request: MakeRequest) -> None:
    assert effect_of(make_request, "read_file", read_only=False) == "mutation"
    assert effect_of(make_request, "fetch", read_only=False) == "mutation"


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


def test_reasons_are_in_the_execution_check(
    make_request: MakeRequest, make_inputs: Callable[..., Inputs]
) -> None:
    request = make_request("read_file", effect="communication")
    check = judge(make_inputs(request)).evaluation.execution_check
    assert check.rules == ("claim.effect", "name.inspects")


def test_an_operator_lowers_what_rules_find_but_not_what_the_host_claims(
    make_request: MakeRequest,
) -> None:
    rules = EffectRules(tools={"files/frobnicate": ToolRule(effect="network")})
    asked = make_request("frobnicate")
    assert classify(asked, rules).effect == "network"
    claimed = make_request("frobnicate", effect="mutation")
    assert classify(claimed, rules).effect == "mutation"
    assert classify(asked, rules.about(make_request("read_file"))).effect == "execution"
