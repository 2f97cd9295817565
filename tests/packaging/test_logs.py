"""docs/logs.md lists every event that is logged, with its level and fields, and no other."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/logs.md"
LEVELS = ("debug", "info", "warning", "error")
# What a helper puts in: the type of an error, and where it came from.
SPREAD = {"where": {"error", "line"}}


class Event(msgspec.Struct, frozen=True):
    """One event as code or docs have it."""

    name: str
    levels: frozenset[str]
    fields: frozenset[str]


def logged() -> dict[str, Event]:
    """Every event of the code; the levels and fields of all its places together."""
    found: dict[str, Event] = {}
    for name, level, fields in calls():
        before = found.get(name, Event(name, frozenset(), frozenset()))
        found[name] = Event(name, before.levels | {level}, before.fields | fields)
    return found


def calls() -> Iterator[tuple[str, str, set[str]]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = project["tool"]["setuptools"]["package-dir"].values()
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text()
        if "\nlog = structlog.get_logger()\n" not in text:
            assert "structlog.get_logger" not in text, f"{path}: its logger is not named log"
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log."):
                level = ast.unparse(node.func).removeprefix("log.")
                assert level in LEVELS, f"{path}:{node.lineno}"
                (event,) = node.args
                assert isinstance(event, ast.Constant), f"{path}:{node.lineno}: no fixed name"
                fields: set[str] = set()
                for keyword in node.keywords:
                    if keyword.arg is None:
                        assert isinstance(keyword.value, ast.Call)
                        fields |= SPREAD[ast.unparse(keyword.value.func)]
                    else:
                        fields.add(keyword.arg)
                yield str(event.value), level, fields


def documented() -> Iterator[Event]:
    for line in DOCS.read_text().splitlines():
        row = re.fullmatch(r"\| (`[a-z_]+\..*?) \| ([a-z, ]+) \| .* \|(.*)\|", line)
        if row is None:
            continue
        levels, fields = row[2].split(", "), re.findall(r"`(\w+)`", row[3])
        for name in re.findall(r"`([a-z_.]+)`", row[1]):
            yield Event(name, frozenset(levels), frozenset(fields))


def test_every_event_is_documented_once_and_every_documented_one_is_logged() -> None:
    names = [event.name for event in documented()]
    assert sorted(names) == sorted(set(names))
    assert set(names) == logged().keys()


def test_levels_and_fields_are_those_of_the_docs() -> None:
    """A row of several events has the levels and fields of all of them."""
    code = logged()
    for event in documented():
        assert code[event.name].levels <= event.levels, event.name
        assert code[event.name].fields <= event.fields, event.name
