"""What a call would touch, read off its arguments and resolved where the tool runs.

Names tell what an argument holds; a text that can only be a path is one under any name. A path
counts by where it leads, an address by its hosts, and a shell command by the paths that it writes
or names. Nothing is guessed from prose.
Source: SPEC C1, C3.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeGuard

from pmcl.contracts import ContractError, Resource
from pmcl.hosts.adapter.addresses import file_of, hosts_of, is_address
from pmcl.hosts.adapter.calls import ToolCall
from pmcl.hosts.clock import now_s
from pmcl.hosts.errors import PathError
from pmcl.hosts.paths import resolve_path
from pmcl.judgement import content_of, touched_by, words_of

__all__ = ["find_resources"]

ResourceKind = Literal["path", "host", "recipient", "account", "database", "other"]

_MOST: Final = 64
_VALUE_MAX_CHARS: Final = 4096
_DEEPEST: Final = 32
_READ_S: Final = 0.2
"""How long one command may take to read."""
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
_DATA: Final = frozenset(
    "answer body comment content description message new_string note old_string pattern prompt "
    "query question reason regex string subject summary text title".split()
)
"""What an argument of such a name holds is written or looked for, wherever it seems to lead."""
_NO_RESOURCES: Final = frozenset("content description format id mode size text type url".split())
_flag = re.compile(r"\A(?:--?[\w-]+=|-\w(?=[/~.]))")


def find_resources(call: ToolCall) -> tuple[Resource, ...]:
    """Return what the call would touch, at most 64; more paths than that count as their parent.

    It reads the file system, so call it beside the event loop.

    Raises:
        PathError: a path that leads nowhere certain.
        ContractError: more than 64 others, a value of more than 4096 characters, more than 32
            levels, or a command or an address that cannot be read.
    """
    found = dict.fromkeys(call.resources)
    for name, value in call.arguments.items():
        found.update(dict.fromkeys(_in_argument(name, value, call, 0)))
    found.update(dict.fromkeys(_in_program(call)))
    return tuple(found) if len(found) <= _MOST else _fewer([*found])


def _in_program(call: ToolCall) -> Iterator[Resource]:
    """Yield what a command touches whose words are an argument of their own."""
    words = call.arguments.get("args")
    programs = [call.arguments.get(name) for name in ("command", "cmd", "program", "executable")]
    program = next((text for text in programs if isinstance(text, str)), None)
    if program is not None and _are_texts(words):
        yield from _in_command("args", shlex.join([program, *words]), call)


def _in_argument(name: str, value: Any, call: ToolCall, depth: int) -> Iterator[Resource]:
    if depth > _DEEPEST:
        raise ContractError(f"$.arguments.{name[:256]}", "", f"{_DEEPEST} levels")
    if isinstance(value, dict):
        yield from _in_object(name, value, call, depth)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _in_argument(name, inner, call, depth + 1)
        if _are_texts(value) and _content(name, value, call) == "shell":
            yield from _in_command(name, shlex.join(value), call)
    elif isinstance(value, str) and value:
        yield from _in_text(name, value, call)


def _in_object(
    name: str, members: dict[Any, Any], call: ToolCall, depth: int
) -> Iterator[Resource]:
    for key, inner in members.items():
        if _strays(str(key)):  # tools that take many files name them so
            yield from _paths(name, str(key), call)
        yield from _in_argument(str(key), inner, call, depth + 1)


def _in_text(name: str, value: str, call: ToolCall) -> Iterator[Resource]:
    content, words = _content(name, value, call), set(words_of(name))
    kind = _kind(words, value)
    if content == "shell":
        yield from _in_command(name, value, call)
        return
    if is_address(value) and (not _has_blanks(value) or words.isdisjoint(_DATA)):
        yield from _at_address(name, value, call)
        kind = "path" if kind == "path" and _climbs(value) else None
    elif _strays(value) and (kind == "path" or words.isdisjoint(_DATA)):
        kind = "path"
    elif content == "url":
        yield from _at_address(name, value, call)
        kind = None
    if kind == "path":
        yield from _paths(name, value, call)
    elif kind is not None:
        yield _resource(kind, value, name)


def _content(name: str, value: Any, call: ToolCall) -> str | None:
    return content_of(name, value, words_of(call.name), {})


def _are_texts(value: Any) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _has_blanks(text: str) -> bool:
    return any(sign.isspace() for sign in text)


def _strays(text: str) -> bool:
    """Return whether one line can only be a path: from home, through `..`, or in a folder of /."""
    path = _flag.sub("", text, count=1)
    if "\n" in path or "\0" in path or len(path) > _VALUE_MAX_CHARS:
        return False
    if path.startswith("/"):
        return os.path.isdir("/" + path.lstrip("/").partition("/")[0]) and path.strip("/") != ""
    return path.startswith("~/") or _expanded(path) != path or _climbs(path)


def _climbs(path: str) -> bool:
    return ".." in path.split("/")


def _kind(words: set[str], value: str) -> ResourceKind | None:
    """Return what a value is, by the words of its argument's name; `None` for no resource."""
    if words & _ENDS and value.startswith(_PATH_STARTS):
        return "path"
    if words & _PATHS and (not words & _NO_RESOURCES or _strays(value)):
        return None if "\n" in value else "path"
    if words & _NO_RESOURCES:
        return None
    return next((kind for kind, names in _NAMED.items() if words & names), None)


def _in_command(name: str, script: str, call: ToolCall) -> Iterator[Resource]:
    until_s = now_s() + _READ_S
    touched = touched_by(script, lambda: now_s() > until_s)
    if not touched.is_whole:
        raise ContractError(f"$.arguments.{name[:256]}", "", "a command that is short to read")
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
        file = file_of(url)
        hosts = hosts_of(url) if file is None else ()
    except ValueError as error:
        raise ContractError(f"$.arguments.{name[:256]}", url[:256], "an address") from error
    if file is not None:
        yield _path(name, file, call)
    for host in hosts:
        yield _resource("host", host, name)


def _paths(name: str, spelled: str, call: ToolCall) -> Iterator[Resource]:
    """Yield where a path leads, for tools that know of `~`, and for those that do not."""
    path = _flag.sub("", spelled, count=1) if _strays(spelled) else spelled
    for each in dict.fromkeys((spelled, path, _expanded(path))):
        yield _path(name, each, call)


def _path(name: str, path: str, call: ToolCall) -> Resource:
    """Return where a path leads; without a folder to start from it stays relative, so outside."""
    if call.cwd is not None or os.path.isabs(path):
        path = resolve_path(path, call.cwd or Path("/"))
    return _resource("path", path, name)


def _expanded(path: str) -> str:
    """Return the path as a shell would give it to the command.

    Raises:
        PathError: it starts at a home whose name nobody can have.
    """
    try:
        return os.path.expanduser(path)
    except ValueError as error:
        raise PathError(path, type(error).__name__) from error


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
