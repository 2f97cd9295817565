"""What a shell command names: paths that it writes, paths it only mentions, and addresses.

It is for naming resources, never for clearing anything: a word that only running the shell would
tell is left out, and the command stays an execution for other reasons.
"""

import itertools
import posixpath
from collections.abc import Iterator
from typing import Final

import msgspec
from tree_sitter import Node

from pmcl.judgement.effects.shell import (
    SCRIPT_MAX_BYTES,
    command_words,
    parse,
    unwrapped,
    walk,
    word_of,
)

__all__ = ["Touched", "touched_by"]

_NESTED_MAX: Final = 3
_SHELLS: Final = frozenset({"bash", "dash", "sh", "zsh"})
_WRITERS: Final = frozenset("mkdir mkfifo mv rm rmdir shred tee touch truncate unlink".split())
_AFTER_THE_FIRST: Final = frozenset("chgrp chmod chown".split())
_FIND_ACTIONS: Final = frozenset({"-delete", "-exec", "-execdir", "-ok", "-okdir"})
_INTO_THE_LAST: Final = frozenset("cp install ln rsync scp".split())
_READS: Final = frozenset({"<", "<<<"})


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """What a command names; relative paths start where the command runs.

    Attributes:
        written: targets of redirections, operands of commands that write.
        named: other words with a slash.
        urls: words with a scheme.
    """

    written: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


class _Found(msgspec.Struct):
    """What was found so far, and the folder that `cd` went to; `None` when nobody can say."""

    folder: str | None = ""
    written: list[str] = []
    named: list[str] = []
    urls: list[str] = []

    def add(self, place: list[str], path: str) -> None:
        if path.startswith(("/", "~")):
            place.append(path)
        elif self.folder is not None and path:
            place.append(posixpath.join(self.folder, path))


def touched_by(script: str) -> Touched:
    """Return what a script names; never raises. Longer ones than 4 KiB are not read."""
    found = _Found()
    _read(script, found, _NESTED_MAX)
    return Touched(
        written=tuple(dict.fromkeys(found.written)),
        named=tuple(dict.fromkeys(found.named)),
        urls=tuple(dict.fromkeys(found.urls)),
    )


def _read(script: str, found: _Found, nested: int) -> None:
    data = script.encode("utf-8", "replace")
    if nested == 0 or len(data) > SCRIPT_MAX_BYTES:
        return
    for node in _in_order(parse(data.decode())):
        if node.type == "command":
            _command([word.text for word in command_words(node)], found, nested)
        elif node.type == "file_redirect":
            _redirect(node, found)


def _in_order(root: Node) -> list[Node]:
    return sorted(walk(root), key=lambda node: (node.start_byte, -node.end_byte))


def _redirect(node: Node, found: _Found) -> None:
    signs = {child.type for child in node.children if not child.is_named}
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    for target in targets:
        text = word_of(target).text
        if text and not text.isdecimal() and not text.startswith("/dev/"):
            found.add(found.named if signs <= _READS else found.written, text)


def _command(words: list[str | None], found: _Found, nested: int) -> None:
    words = unwrapped(words)
    if not words or words[0] is None:
        return
    name, rest = posixpath.basename(words[0]), words[1:]
    if name == "cd":
        _change_folder(rest, found)
    elif name in _SHELLS and "-c" in rest[:-1]:
        inner = rest[rest.index("-c") + 1]
        if inner is not None:
            _read(inner, found, nested - 1)
    else:
        operands = [*_operands(rest)]
        written = _written(name, rest, operands)
        for text in operands:
            _operand(text, found, written=text in written)


def _change_folder(rest: list[str | None], found: _Found) -> None:
    target = rest[0] if len(rest) == 1 else None
    if target is None or target == "-":
        found.folder = None
    elif target.startswith(("/", "~")):
        found.folder = target
    elif found.folder is not None:
        found.folder = posixpath.join(found.folder, target)


def _operands(rest: list[str | None]) -> Iterator[str]:
    flags_end = False
    for text in rest:
        if text == "--":
            flags_end = True
        elif text and (flags_end or not text.startswith("-")):
            yield text
        elif text and "=" in text:
            yield text.partition("=")[2]


def _written(name: str, rest: list[str | None], operands: list[str]) -> frozenset[str]:
    """Return those operands that the command changes."""
    if name in _WRITERS:
        return frozenset(operands)
    if name in _AFTER_THE_FIRST or (name == "sed" and _in_place(rest)):
        return frozenset(operands[1:])
    if name in _INTO_THE_LAST:
        return frozenset(operands[-1:])
    if name == "find" and not _FIND_ACTIONS.isdisjoint(rest):
        return frozenset(itertools.takewhile(lambda text: not text.startswith("-"), map(str, rest)))
    return frozenset(text for text in operands if name == "dd" and text.startswith("of="))


def _in_place(rest: list[str | None]) -> bool:
    return any(text and text.startswith(("-i", "--in-place")) for text in rest)


def _operand(text: str, found: _Found, *, written: bool) -> None:
    if "://" in text:
        found.urls.append(text)
    elif written:
        found.add(found.written, text.removeprefix("of="))
    elif "/" in text:
        found.add(found.named, text)
