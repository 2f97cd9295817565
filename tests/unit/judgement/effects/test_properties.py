"""Whatever is asked: an answer, never below a claim, in steps that are bounded."""

import sys
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.contracts import CheckpointRequest, Effect, ToolAnnotations, ToolDefinition
from pmcl.judgement import EffectRules, ToolRule, classify, riskier
from pmcl.judgement.effects.shell import shell_inspects
from pmcl.judgement.effects.sql import sql_effect

MakeRequest = Callable[..., CheckpointRequest]
EFFECTS: tuple[Effect, ...] = get_args(Effect)

names = st.text(min_size=1, max_size=24) | st.sampled_from(
    ["read_file", "bash", "call_tool", "execute_sql", "fetch", "send", "get_and_frobnicate"]
)
keys = st.sampled_from(["command", "query", "sql", "url", "method", "name", "arguments", "body"])
words = st.sampled_from(["ls", "rm x", "select 1", "drop table t", "https://x", "POST", "$(", "'"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | words,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(keys | st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)
arguments = st.dictionaries(keys | st.text(max_size=8), values, max_size=4)
hints = st.builds(
    ToolAnnotations,
    read_only=st.none() | st.booleans(),
    destructive=st.none() | st.booleans(),
    open_world=st.none() | st.booleans(),
)
definitions = st.none() | st.builds(
    ToolDefinition,
    description=st.text(max_size=64) | st.sampled_from(["Gets a file", "Deletes it. Sends mail."]),
    parameters=st.dictionaries(st.sampled_from(["properties", "type"]), values, max_size=2),
    annotations=st.none() | hints,
)
claims = st.none() | st.sampled_from(EFFECTS)


@given(
    name=names,
    arguments=arguments,
    definition=definitions,
    claim=claims,
    said=claims,
)
def test_never_raises_and_never_below_claim_or_own(
    make_request: MakeRequest,
    name: str,
    arguments: dict[str, Any],
    definition: ToolDefinition | None,
    claim: Effect | None,
    said: Effect | None,
) -> None:
    request = make_request(name, arguments=arguments, definition=definition, effect=claim)
    ruled = EffectRules(tools={f"files/{name}": ToolRule(effect=said)})
    for rules in (EffectRules(), ruled.about(request)):
        found = classify(request, rules)
        assert found.effect == (found.own if claim is None else riskier(found.own, claim))
        assert found.reasons
    assert said is None or classify(request, ruled).own == said


@given(name=names, arguments=arguments, definition=definitions)
def test_hints_that_soothe_lower_nothing(
    make_request: MakeRequest,
    name: str,
    arguments: dict[str, Any],
    definition: ToolDefinition | None,
) -> None:
    soothing = ToolAnnotations(read_only=True, destructive=False, open_world=False)
    bare = definition or ToolDefinition()
    plain, soothed = (
        make_request(
            name,
            arguments=arguments,
            read_only=said,
            definition=ToolDefinition(
                description=bare.description, parameters=bare.parameters, annotations=annotations
            ),
        )
        for said, annotations in ((None, None), (True, soothing))
    )
    assert classify(soothed, EffectRules()) == classify(plain, EffectRules())


@given(script=st.text(max_size=60) | st.lists(words, max_size=4).map(" ".join))
def test_programs_of_any_text_are_answered(script: str) -> None:
    assert shell_inspects(script) in (True, False)
    assert sql_effect(script) in EFFECTS


LONG = 64 * 1024
SLOW = "(" * 87 + "a" * 87


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "ls " * (LONG // 3)},
        {"command": "$(" * (LONG // 2)},
        {"sql": "select " + "(" * LONG},
        {"sql": "/*" * (LONG // 2)},
        {"q": "http" * (LONG // 4)},
        {"a_" * (LONG // 2): True},
        {"expression": "1+" * (LONG // 2)},
        {"action": "deleteX" * (LONG // 7)},
        {"list": ["x"] * (LONG // 4)},
        {"command": SLOW, "sql": SLOW, "url": SLOW, SLOW: SLOW},
    ],
    ids=lambda arguments: next(iter(arguments))[:8],
)
def test_steps_are_bounded_whatever_the_length(
    make_request: MakeRequest, arguments: dict[str, Any]
) -> None:
    request = make_request("get_items", arguments=arguments)
    assert _steps(lambda: classify(request, EffectRules())) < 100_000


@pytest.mark.parametrize("name", ["(" * 87 + "a" * 87, "aA" * 87, "get_" * 43, "\u057d" * 174])
def test_a_name_made_for_slow_matching_takes_few_steps(
    make_request: MakeRequest, name: str
) -> None:
    request = make_request(
        name, definition=ToolDefinition(description=f"{name}, and {name} s{'es' * 87}")
    )
    assert _steps(lambda: classify(request, EffectRules())) < 10_000


def _steps(run: Callable[[], Any]) -> int:
    """Count the calls that a run makes, of Python and of C."""
    count = 0

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    run()  # imports and caches are not counted
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
