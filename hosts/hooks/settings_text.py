"""An agent's settings as text: what is put in or taken out leaves every other byte as it was.

Comments, order, spacing and members that we do not know are the user's. What is no JSON, but for
comments, is not touched at all.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import tree_sitter_json
from tree_sitter import Language, Node, Parser

from pmcl.hosts.hooks.command import SettingsError

__all__ = ["SettingsText"]

_LANGUAGE: Final = Language(tree_sitter_json.language())
_INDENT: Final = "  "


class SettingsText:
    """The text of a settings file; each change returns another.

    Raises:
        SettingsError: it is no JSON object, or its hooks have not the form that agents read; the
            message says where.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._data = (text if text.strip() else "{}\n").encode()
        document = Parser(_LANGUAGE).parse(self._data).root_node
        value = _value(self._data, document)
        if not isinstance(value, dict):
            raise SettingsError("line 1, column 1: an object is expected")
        self._value: dict[str, Any] = value
        (self._root,) = [node for node in document.named_children if node.type != "comment"]
        self._check()

    @property
    def value(self) -> dict[str, Any]:
        """What the text says."""
        return self._value

    def handlers(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each event's name and handlers."""
        for event, groups in self._value.get("hooks", {}).items():
            if isinstance(groups, list):
                for group in groups:
                    yield from ((event, handler) for handler in group["hooks"])

    def groups(self) -> list[tuple[str, dict[str, Any]]]:
        """Return each event's name and groups."""
        hooks = self._value.get("hooks", {})
        lists = [(event, groups) for event, groups in hooks.items() if isinstance(groups, list)]
        return [(event, group) for event, groups in lists for group in groups]

    def with_group(self, event: str, group: dict[str, Any]) -> "SettingsText":
        """Return the settings with one more group at the end of an event's.

        Raises:
            SettingsError: what the event has is no list.
        """
        hooks = _member(self._root, "hooks")
        if hooks is None:
            return self._with_last(self._root, "hooks", {event: [group]})
        groups = _member(hooks, event)
        if groups is None:
            return self._with_last(hooks, event, [group])
        if groups.type != "array":
            raise SettingsError(f"{_at(groups)}: hooks.{event} is no list")
        return self._with_last(groups, None, group)

    def without(self, is_ours: Callable[[object], bool]) -> "SettingsText":
        """Return the settings without the handlers that are ours, and without what they emptied."""
        settings = self
        while (found := settings._find(is_ours)) is not None:
            settings = settings._cut(*found)
        return settings

    def _check(self) -> None:
        hooks = self._value.get("hooks", {})
        if not isinstance(hooks, dict):
            raise SettingsError(f"{_at(_member(self._root, 'hooks'))}: hooks is no object")
        for event, groups in hooks.items():
            if isinstance(groups, list) and not all(map(_is_group, groups)):
                inside = _member(self._root, "hooks")
                place = _at(None if inside is None else _member(inside, event))
                raise SettingsError(f"{place}: hooks.{event} is no list of groups with hooks")

    def _find(self, is_ours: Callable[[object], bool]) -> tuple[Node, Node] | None:
        """Return what holds a handler of ours and nothing else, and the container of that."""
        hooks = _pair(self._root, "hooks")
        for event in [] if hooks is None else _items(_inside(hooks)):
            for group in _items(_inside(event)):
                handlers = _pair(group, "hooks")
                for handler in [] if handlers is None else _items(_inside(handlers)):
                    command = _member(handler, "command")
                    if command is not None and is_ours(json.loads(_text(command))):
                        assert hooks is not None
                        assert handlers is not None
                        return _widest(
                            (handler, _inside(handlers)),
                            (group, _inside(event)),
                            (event, _inside(hooks)),
                            (hooks, self._root),
                        )
        return None

    def _cut(self, item: Node, container: Node) -> "SettingsText":
        """Return the text without one item, its comma, and the space before it."""
        siblings = container.children
        at = siblings.index(item)
        start, end = siblings[at - 1].end_byte, item.end_byte
        data = self._data
        if siblings[at + 1].type == ",":
            end = siblings[at + 1].end_byte
        elif (comma := _comma_before(siblings, at)) is not None:
            return SettingsText(
                (data[: comma.start_byte] + data[comma.end_byte : start] + data[end:]).decode()
            )
        elif len(container.named_children) == 1:
            end = siblings[at + 1].start_byte
        return SettingsText((data[:start] + data[end:]).decode())

    def _with_last(self, container: Node, name: str | None, value: Any) -> "SettingsText":
        """Return the text with one more item at the end of a container, written as the others."""
        data, items = self._data, _items(container)
        last, bracket = container.children[-2:]  # an item, a comment, or the opening bracket
        between = data[last.end_byte : bracket.start_byte].decode()
        outer = _line_indent(data, container.start_byte)
        if items and "\n" not in between:
            shown, before, after = json.dumps(value, ensure_ascii=False), " ", between
        else:
            inner = _line_indent(data, items[-1].start_byte) if items else outer + self._unit()
            shown = json.dumps(value, ensure_ascii=False, indent=self._unit())
            shown = shown.replace("\n", f"\n{inner}")
            before = f"\n{inner}"
            after = between if "\n" in between else f"\n{outer}"
        member = shown if name is None else f"{json.dumps(name)}: {shown}"
        at = items[-1].end_byte if items else last.end_byte
        head = data[:at] + (b"," if items else b"") + data[at : last.end_byte]
        tail = data[bracket.start_byte :]
        return SettingsText(f"{head.decode()}{before}{member}{after}{tail.decode()}")

    def _unit(self) -> str:
        """Return the indentation of the file's first member."""
        items = _items(self._root)
        unit = _line_indent(self._data, items[0].start_byte) if items else ""
        return unit or _INDENT


def _value(data: bytes, document: Node) -> Any:
    """Return what the text says, comments being nothing.

    Raises:
        SettingsError: it is no JSON, or has a key twice.
    """
    blank = bytearray(data)
    for node in _comments(document):
        for at in range(node.start_byte, node.end_byte):
            if blank[at] not in b"\r\n":
                blank[at] = 0x20
    try:
        value = json.loads(blank, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise SettingsError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise SettingsError("it is nested too deep") from error
    if document.has_error:
        raise SettingsError("it is no JSON with comments")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(name for name, _ in pairs if [each for each, _ in pairs].count(name) > 1)
        raise SettingsError(f"the key {twice!r} stands twice in one object")
    return members


def _comments(node: Node) -> Iterator[Node]:
    if node.type == "comment":
        yield node
    for child in node.children:
        yield from _comments(child)


def _is_group(group: object) -> bool:
    if not isinstance(group, dict):
        return False
    handlers = group.get("hooks")
    return isinstance(handlers, list) and all(isinstance(handler, dict) for handler in handlers)


def _items(container: Node) -> list[Node]:
    """Return the members of an object, or the items of a list; none of anything else."""
    if container.type not in ("object", "array"):
        return []
    return [node for node in container.named_children if node.type != "comment"]


def _pair(node: Node, name: str) -> Node | None:
    """Return the member of an object that has a name, with it."""
    if node.type != "object":
        return None
    named = ((pair, pair.child_by_field_name("key")) for pair in _items(node))
    return next((pair for pair, key in named if key and json.loads(_text(key)) == name), None)


def _member(node: Node, name: str) -> Node | None:
    pair = _pair(node, name)
    return None if pair is None else _inside(pair)


def _inside(pair: Node) -> Node:
    """Return a member's value."""
    value = pair.child_by_field_name("value")
    assert value is not None
    return value


def _widest(*within: tuple[Node, Node]) -> tuple[Node, Node]:
    """Return the outermost item that holds nothing besides the first, and its container."""
    for item, container in within:
        if len(container.named_children) > 1:
            return item, container
    return within[-1]


def _comma_before(siblings: list[Node], at: int) -> Node | None:
    return next((node for node in reversed(siblings[:at]) if node.type == ","), None)


def _text(node: Node) -> bytes:
    assert node.text is not None
    return node.text


def _line_indent(data: bytes, at: int) -> str:
    line = data[data.rfind(b"\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())].decode()


def _at(node: Node | None) -> str:
    row, column = (0, 0) if node is None else node.start_point
    return f"line {row + 1}, column {column + 1}"
