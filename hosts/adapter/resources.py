"""What a call would touch, read off its arguments and resolved where the tool runs.

Names tell what an argument holds. A path counts by where it leads, an address by its host, and a
shell command by the paths that it writes or names. Nothing is guessed from prose.
Source: SPEC C1, C3.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

from pmcl.contracts import ContractError, Resource
from pmcl.hosts.adapter.calls import ToolCall
from pmcl.hosts.paths import resolve_path
from pmcl.judgement import content_of, touched_by, words_of

__all__ = ["find_resources"]

ResourceKind = Literal["path", "host", "recipient", "account", "database", "other"]

_MOST: Final = 64
_VALUE_MAX_CHARS: Final = 4096
_DEEPEST: Final = 8
_PATHS: Final = frozenset(
    "cwd dest destination dir directory file filename filepath files folder notebook outfile "
    "output path paths root source src workdir".split()
)
_ENDS: Final = frozenset({"from", "target", "to"})
_PATH_STARTS: Final = ("/", "./", "../")
_NAMED: Final[dict[ResourceKind, frozenset[str]]] = {
    "recipient": frozenset(
        "attendee attendees bcc cc channel email emails invitees participants recipient "
        "recipients to".split()
    ),
    "account": frozenset("account beneficiary iban payee".split()),
    "database": frozenset("database db".split()),
}
_NO_RESOURCES: Final = frozenset("content description format id mode size text type url".split())


def find_resources(call: ToolCall) -> tuple[Resource, ...]:
    """Return what the call would touch, at most 64; more paths than that count as their parent.

    It reads the file system, so call it beside the event loop.

    Raises:
        PathError: a path that leads nowhere certain.
        ContractError: more than 64 others, or a value of more than 4096 characters.
    """
    found = dict.fromkeys(call.resources)
    for name, value in call.arguments.items():
        found.update(dict.fromkeys(_in_argument(name, value, call, 0)))
    return tuple(found) if len(found) <= _MOST else _fewer([*found])


def _in_argument(name: str, value: Any, call: ToolCall, depth: int) -> Iterator[Resource]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            yield from _in_argument(str(inner_name), inner, call, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _in_argument(name, inner, call, depth + 1)
    elif isinstance(value, str) and value:
        yield from _in_text(name, value, call)


def _in_text(name: str, value: str, call: ToolCall) -> Iterator[Resource]:
    content = content_of(name, value, words_of(call.name), {})
    if content == "shell":
        yield from _in_command(name, value, call)
    elif "://" in value and not any(sign.isspace() for sign in value):
        yield from _at_address(name, value, call)
    elif content == "url":
        yield from _at_address(name, f"//{value}", call)
    else:
        kind = _kind(set(words_of(name)), value)
        if kind == "path":
            yield _path(name, value, call)
        elif kind is not None:
            yield _resource(kind, value, name)


def _kind(words: set[str], value: str) -> ResourceKind | None:
    """Return what a value is, by the words of its argument's name; `None` for no resource."""
    if words & _ENDS and value.startswith(_PATH_STARTS):
        return "path"
    if words & _NO_RESOURCES:
        return None
    if words & _PATHS:
        return None if "\n" in value else "path"
    return next((kind for kind, names in _NAMED.items() if words & names), None)


def _in_command(name: str, script: str, call: ToolCall) -> Iterator[Resource]:
    touched = touched_by(script)
    for written in touched.written:
        yield _path(name, _expanded(written), call)
    for named in touched.named:
        path = _path(name, _expanded(named), call)
        if call.cwd is not None and Path(path.value).is_relative_to(call.cwd):
            yield path  # a program or a library elsewhere is not what the command changes
    for url in touched.urls:
        yield from _at_address(name, url, call)


def _at_address(name: str, url: str, call: ToolCall) -> Iterator[Resource]:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise ContractError(f"$.arguments.{name}", url[:256], "an address") from error
    if parts.scheme == "file":
        yield _path(name, unquote(parts.path), call)
    elif host:
        yield _resource("host", host, name)


def _path(name: str, path: str, call: ToolCall) -> Resource:
    """Return where a path leads; without a folder to start from it stays relative, so outside."""
    if call.cwd is not None or os.path.isabs(path):
        path = resolve_path(path, call.cwd or Path("/"))
    return _resource("path", path, name)


def _expanded(path: str) -> str:
    """Return the path as a shell would give it to the command."""
    return os.path.expanduser(path) if path.startswith("~") else path


def _resource(kind: ResourceKind, value: str, argument: str) -> Resource:
    if len(value) > _VALUE_MAX_CHARS:
        limit = f"{_VALUE_MAX_CHARS} characters"
        raise ContractError(f"$.arguments.{argument[:256]}", f"{len(value)} characters", limit)
    return Resource(kind=kind, value=value, argument=argument[:256] or None)


def _fewer(found: list[Resource]) -> tuple[Resource, ...]:
    """Put the parent of all paths in their place: what lies below it lies below its roots."""
    paths = [resource.value for resource in found if resource.kind == "path"]
    others = [resource for resource in found if resource.kind != "path"]
    if len(others) >= _MOST or not all(map(os.path.isabs, paths)):
        raise ContractError("$.resources", f"{len(found)} resources", f"{_MOST} resources")
    return (*others, Resource(kind="path", value=os.path.commonpath(paths)))
