from typing import Any

import pytest

from pmcl.contracts import ToolAnnotations
from pmcl.hosts.guard.pins import Pins, with_stated


def tool(name: str = "t", **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": "reads", "inputSchema": {"type": "object"}} | fields


def pinned(*tools: Any) -> Pins:
    pins = Pins()
    pins.read({"tools": list(tools)}, None)
    return pins


def test_a_listed_tool_is_pinned_by_what_it_says() -> None:
    pin = pinned(tool(annotations={"readOnlyHint": True, "title": "x"})).find("t")
    assert pin is not None
    assert pin.definition is not None
    assert pin.definition.description == "reads"
    assert pin.definition.parameters == {"type": "object"}
    assert pin.definition.annotations == ToolAnnotations(read_only=True)
    assert pinned().find("t") is None


@pytest.mark.parametrize(
    "change", [{"description": "w"}, {"inputSchema": {}}, {"title": "T"}, {"outputSchema": {}}]
)
def test_a_tool_that_says_anything_else_is_another(change: dict[str, Any]) -> None:
    pins = pinned(tool())
    before = pins.find("t")
    pins.read({"tools": [tool()]}, None)
    assert pins.find("t") is before
    pins.read({"tools": [tool(**change)]}, None)
    assert pins.find("t") != before


def test_a_list_that_has_changed_is_forgotten() -> None:
    pins = pinned(tool())
    pins.forget()
    assert pins.find("t") is None


def test_pages_are_one_list_and_what_it_does_not_name_is_forgotten() -> None:
    pins = pinned(tool("old"))
    pins.read({"tools": [tool("a")], "nextCursor": "2"}, None)
    assert pins.find("old") is not None
    assert pins.find("a") is not None
    pins.read({"tools": [tool("b")]}, "2")
    assert pins.find("old") is None
    assert pins.find("a") is not None
    assert pins.find("b") is not None


def test_a_page_of_no_known_walk_ends_none() -> None:
    pins = pinned(tool("a"))
    pins.read({"tools": [tool("b")]}, "7")
    assert pins.find("a") is not None
    assert pins.find("b") is not None


def test_two_tools_of_one_name_have_no_definition() -> None:
    pin = pinned(tool(), tool(description="deletes")).find("t")
    assert pin is not None
    assert pin.definition is None
    once = pinned(tool(), tool()).find("t")
    assert once is not None
    assert once.definition is not None


def test_a_schema_that_is_too_large_is_pinned_by_its_digest() -> None:
    large = {"type": "object", "description": "x" * 20_000}
    pin, other = (
        pinned(tool(inputSchema=large | extra)).find("t") for extra in ({}, {"title": "y"})
    )
    assert pin is not None and other is not None  # noqa: PT018
    assert pin.definition is not None and other.definition is not None  # noqa: PT018
    assert pin.definition.parameters != other.definition.parameters
    assert "sha256" in pin.definition.parameters["$comment"]
    huge = pinned(tool(description="x" * 20_000)).find("t")
    assert huge is not None
    assert huge.definition is None


@pytest.mark.parametrize("odd", [5, {"name": 7}, {"description": "no name"}, None])
def test_what_is_no_tool_is_passed_over(odd: Any) -> None:
    assert pinned(odd, tool()).find("t") is not None


def test_a_tool_without_a_canonical_form_has_no_definition() -> None:
    pin = pinned(tool(inputSchema={"maximum": 2**60})).find("t")
    assert pin is not None
    assert pin.definition is None


def test_each_tool_that_can_is_told_of_the_argument() -> None:
    own = tool("own", inputSchema={"properties": {"_pmcl": {"type": "string"}}})
    listed = {"tools": [tool(), own, 5], "nextCursor": "2"}
    changed = with_stated(listed)
    assert changed is not None
    assert changed["nextCursor"] == "2"
    assert "_pmcl" in changed["tools"][0]["inputSchema"]["properties"]
    assert changed["tools"][1:] == [own, 5]
    assert with_stated({"tools": [own]}) is None
    assert with_stated({}) is None
    pin = pinned(own).find("own")
    assert pin is not None
    assert pin.has_stated
