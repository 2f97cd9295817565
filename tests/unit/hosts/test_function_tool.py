"""A function as a tool: what is said of it, and which arguments can be asked about."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from pmcl.contracts import ContractError, HostError, TooLargeError
from pmcl.hosts.adapter import Stated
from pmcl.hosts.function_tool import FunctionTool, output_text


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: int = 0


def paint(path: Path, colour: Colour, *points: Point, force: bool = False, **more: str) -> None:
    """Paint points into a file.

    The file is made if it is missing.
    """


def test_tool_is_named_and_described_by_the_function() -> None:
    tool = FunctionTool(paint, effect="mutation")
    assert (tool.server, tool.name, tool.effect) == ("python", "paint", "mutation")
    assert tool.definition.description.startswith("Paint points into a file.\n\nThe file")
    claimed = FunctionTool(paint, server="art", name="draw", reversibility="irreversible")
    call = claimed.call({}, Stated())
    assert (call.server, call.name, call.reversibility) == ("art", "draw", "irreversible")
    assert call.cwd == Path.cwd()


def test_parameters_are_the_schema_of_the_annotations() -> None:
    def move(to: Point, by: int | None, note: str = "none", *, flag: bool = True) -> None: ...

    parameters = FunctionTool(move).definition.parameters
    assert parameters["required"] == ["to", "by"]
    assert parameters["properties"] == {
        "to": {"$ref": "#/$defs/Point"},
        "by": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "note": {"type": "string", "default": "none"},
        "flag": {"type": "boolean", "default": True},
    }
    assert parameters["$defs"]["Point"]["required"] == ["x"]


def test_what_has_no_schema_is_named_all_the_same() -> None:
    def odd(a: Callable[[], int], b, c: "Missing", *rest: int, **more: int) -> None: ...  # type: ignore[no-untyped-def,name-defined]  # noqa: F821

    parameters = FunctionTool(odd).definition.parameters
    assert parameters["properties"] == {
        "a": {},
        "b": {},
        "c": {},
        "rest": {"type": "array"},
        "more": {"type": "object"},
    }
    assert parameters["required"] == ["a", "b", "c"]


def test_arguments_are_plain_data_with_defaults() -> None:
    tool = FunctionTool(paint)
    called = tool.arguments((Path("a/b"), Colour.RED, Point(1)), {"title": "t"})
    assert called == {
        "path": "a/b",
        "colour": "red",
        "points": ({"x": 1, "y": 0},),
        "force": False,
        "more": {"title": "t"},
    }


def test_self_of_a_method_is_no_argument() -> None:
    class Store:
        def read(self, key: str) -> None: ...

    assert FunctionTool(Store().read).arguments(("k",), {}) == {"key": "k"}


@pytest.mark.parametrize("value", [object(), lambda: None, 1j, {Colour: 1}, [[object()]]])
def test_argument_that_is_no_plain_data_is_named(value: object) -> None:
    def take(value: Any) -> None: ...

    with pytest.raises(ContractError, match=r"\$\.arguments\.value"):
        FunctionTool(take).arguments((value,), {})


def test_wrong_call_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="missing a required argument"):
        FunctionTool(paint).arguments((), {})


def test_generators_are_refused() -> None:
    def some() -> Iterator[int]:
        yield 1

    async def more() -> AsyncIterator[int]:
        yield 1

    for function in (some, more):
        with pytest.raises(HostError, match="is a generator"):
            FunctionTool(function)


def test_function_without_a_name_needs_one() -> None:
    nameless = functools.partial(paint, Path("a"))
    with pytest.raises(HostError, match="has no name"):
        FunctionTool(nameless)
    assert FunctionTool(nameless, name="paint_a").name == "paint_a"


def test_definition_that_is_too_large_is_refused_at_once() -> None:
    def verbose() -> None: ...

    verbose.__doc__ = "a" * 20_000
    with pytest.raises(TooLargeError, match=r"\$\.definition"):
        FunctionTool(verbose)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        ({"a": [1, Point(2)]}, '{"a":[1,{"x":2,"y":0}]}'),
        (Path("a"), '"a"'),
        ({1j: object}, '{"1j":"<class \'object\'>"}'),
        ("\ud800", "\ud800"),
        (["\ud800"], "['\\ud800']"),
    ],
)
def test_output_is_the_text_that_a_model_would_read(value: object, text: str) -> None:
    assert output_text(value) == text


def test_output_that_is_still_to_come_is_refused() -> None:
    with pytest.raises(HostError, match="list_iterator cannot be recorded"):
        output_text(iter([1]))
