import json
from typing import Any

import pytest

from pmcl.contracts import ContractError
from pmcl.hosts.guard.calls import CallFrame, continuation_key, is_call, is_id, read_call


def message(**params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"} | params}


def read(given: dict[str, Any], *, has_stated: bool = False) -> CallFrame:
    return read_call(given, lambda name: has_stated)


def test_a_call_is_forwarded_in_its_one_canonical_form() -> None:
    given = {"params": {"arguments": {"b": 1.0, "a": "ü"}, "name": "t"}, **message()}
    given["params"] = {
        "_meta": {"progressToken": 3},
        "name": "t",
        "arguments": {"b": 1.0, "a": "ü"},
    }
    expected = (
        '{"id":1,"jsonrpc":"2.0","method":"tools/call","params":'
        '{"_meta":{"progressToken":3},"arguments":{"a":"ü","b":1},"name":"t"}}\n'
    )
    assert read(given).encode().decode() == expected


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_no_arguments_are_an_empty_object(arguments: dict[str, Any]) -> None:
    assert json.loads(read(message(**arguments)).encode())["params"]["arguments"] == {}


def test_what_the_model_states_is_taken_out() -> None:
    frame = read(message(arguments={"a": 1, "_pmcl": {"goal": "g"}}))
    assert frame.arguments == {"a": 1}
    assert frame.stated == {"goal": "g"}
    assert b"_pmcl" not in frame.encode()


def test_a_tools_own_argument_of_that_name_stays() -> None:
    frame = read(message(arguments={"_pmcl": 7}), has_stated=True)
    assert (frame.arguments, frame.stated) == ({"_pmcl": 7}, None)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("$.method", {**message(), "method": "Tools/Call"}),
        ("$.jsonrpc", {**message(), "jsonrpc": "1.0"}),
        ("$.extra", {**message(), "extra": 1}),
        ("$.result", {**message(), "result": {}}),
        ("$.params", {**message(), "params": ["t"]}),
        ("$.params.Name", message(Name="wipe")),
        ("$.params.other", message(other=1)),
        ("$.params.name", message(name=5)),
        ("$.params.name", message(name="")),
        ("$.params.name", message(name="wipe\0read")),
        ("$.params.name", message(name="re\u200bad")),
        ("$.params.arguments", message(arguments=[1])),
        ("$.params.arguments", message(arguments={"x": "y" * 65_536})),
        ("$.params._meta", message(_meta=1)),
        ("$", message(arguments={"x": 2**60})),
    ],
)
def test_what_is_not_exactly_one_call_is_refused_by_field(
    field: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ContractError) as caught:
        read(given)
    assert caught.value.field == field


@pytest.mark.parametrize("id", [None, 2.5, 1.0, True, [], {}, 2**53, "x" * 257])
def test_other_ids_than_text_and_whole_numbers_are_none(id: object) -> None:
    assert not is_id(id)


@pytest.mark.parametrize("id", [0, -3, 2**53 - 1, "", "a"])
def test_text_and_whole_numbers_are_ids(id: object) -> None:
    assert is_id(id)


@pytest.mark.parametrize("method", ["tools/list", "tools/callx", None, ["tools/call"], ""])
def test_other_methods_are_no_calls(method: object) -> None:
    assert not is_call(method)


def test_the_newer_revision_is_known_by_its_meta() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert read(message(_meta=meta)).is_modern
    assert not read(message(_meta={})).is_modern


@pytest.mark.parametrize("param", [{"requestState": "s"}, {"inputResponses": {}}])
def test_a_call_with_input_continues_another(param: dict[str, Any]) -> None:
    assert read(message(**param)).continues
    assert not read(message()).continues


def test_a_continuation_is_known_by_tool_arguments_and_state() -> None:
    key = continuation_key("t", {"a": 1, "b": 2}, "s")
    assert key == continuation_key("t", {"b": 2, "a": 1.0}, "s")
    others = [("u", {"a": 1, "b": 2}, "s"), ("t", {"a": 1}, "s"), ("t", {"a": 1, "b": 2}, None)]
    assert key not in {continuation_key(*other) for other in others}
    assert continuation_key("t", {}, "\ud800") != continuation_key("t", {}, "\ud801")
