"""The facade has the verbs of the client, called alike."""

import inspect
from typing import Any, get_type_hints

import pytest

from pmcl.hosts import Host, SyncHost, SyncTurn, Turn

PAIRS = [(Host, SyncHost), (Turn, SyncTurn)]
BLOCKS = {"connect", "dispatch", "turn"}  # the blocks differ: one is entered with `async with`
ELSEWHERE = {(Turn, "here")}  # `SyncHost.turn` enters it
FOR_ADAPTERS = {"ends"}  # an asynchronous block, which an adapter ends with what it brought
ATTRIBUTES = {"goal", "turn_id"}  # of the turn itself; the facade's are properties


def verbs(of: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in inspect.getmembers(of) if not name.startswith("_")}


@pytest.mark.parametrize(("asynchronous", "blocking"), PAIRS)
def test_facade_has_every_verb_and_no_other(asynchronous: type[Any], blocking: type[Any]) -> None:
    expected = {name for name in verbs(asynchronous) if (asynchronous, name) not in ELSEWHERE}
    assert set(verbs(blocking)) - ATTRIBUTES == expected


def parameters(function: Any) -> list[tuple[str, Any, Any, Any]]:
    hints = get_type_hints(function)
    return [
        (each.name, each.kind, each.default, hints.get(each.name))
        for each in inspect.signature(function).parameters.values()
        if each.name not in FOR_ADAPTERS
    ]


@pytest.mark.parametrize(("asynchronous", "blocking"), PAIRS)
def test_verbs_take_the_same_and_give_the_same(
    asynchronous: type[Any], blocking: type[Any]
) -> None:
    compared = 0
    for name, function in verbs(blocking).items():
        if isinstance(function, property):
            continue
        twin = verbs(asynchronous)[name]
        assert parameters(function) == parameters(twin), name
        assert not inspect.iscoroutinefunction(function), name
        if name not in BLOCKS | {"guarded"}:
            assert get_type_hints(function)["return"] == get_type_hints(twin)["return"], name
        compared += 1
    assert compared > 0
