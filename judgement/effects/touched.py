"""What a shell command names: paths that it writes, paths it only mentions, and addresses.

It is for naming resources, never for clearing anything: a word that only running the shell would
tell is left out, and the command stays an execution for other reasons.
"""

import posixpath
from collections.abc import Callable
from typing import Final

import msgspec
from tree_sitter import Node

from pmcl.judgement.effects.folders import CHANGES_FOLDER, OWN_FOLDER, changed_folder
from pmcl.judgement.effects.programs import SHELLS, is_for_a_shell
from pmcl.judgement.effects.shell import (
    command_words,
    parse_within,
    unwrapped,
    walk,
    word_of,
)
from pmcl.judgement.effects.targets import operands_of, reached_by, written_by
from pmcl.judgement.effects.variables import with_known

__all__ = ["Touched", "touched_by"]

_NESTED_MAX: Final = 3
_FED: Final = frozenset({"heredoc_body", "herestring_redirect"})
_READS: Final = frozenset({"<", "<<<"})
_SLOW: Final = ("|", "<")
_SLOW_MAX: Final = 2000
"""The parser takes the square of their number, and looks at no clock meanwhile."""


def _never() -> bool:
    return False


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """What a command names; relative paths start where the command runs.

    Attributes:
        written: targets of redirections, operands of commands that write.
        named: other words with a slash.
        urls: words with a scheme, and hosts that are named without one, as `//host`.
        is_whole: whether all of the script was read; of one that was not more may be touched.
    """

    written: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    is_whole: bool = True


class _Found(msgspec.Struct):
    """What was found so far, and the folder that `cd` went to; `None` when nobody can say."""

    folder: str | None = ""
    written: list[str] = []
    named: list[str] = []
    urls: list[str] = []
    is_whole: bool = True
    is_over: Callable[[], bool] = _never

    def add(self, place: list[str], path: str) -> None:
        if path.startswith(("/", "~")):
            place.append(path)
        elif self.folder is not None and path:
            place.append(posixpath.join(self.folder, path))


def touched_by(script: str, is_over: Callable[[], bool] = _never) -> Touched:
    """Return what a script names; never raises.

    Scripts come from models, and a few take long to parse: after `is_over`, or with more than 2000
    pipes and redirections, what was found until then is returned.
    """
    found = _Found(is_over=is_over)
    _read(script, found, _NESTED_MAX)
    return Touched(
        written=tuple(dict.fromkeys(found.written)),
        named=tuple(dict.fromkeys(found.named)),
        urls=tuple(dict.fromkeys(found.urls)),
        is_whole=found.is_whole,
    )


def _read(script: str, found: _Found, nested: int) -> None:
    root = None if nested == 0 else _parsed(script.encode("utf-8", "replace").decode(), found)
    if root is None:
        found.is_whole = False
        return
    around: list[tuple[int, str | None]] = []
    for node in _in_order(root):
        while around and node.start_byte >= around[-1][0]:
            found.folder = around.pop()[1]
        if node.type in OWN_FOLDER:
            around.append((node.end_byte, found.folder))
        _take(node, found, nested)


def _take(node: Node, found: _Found, nested: int) -> None:
    if node.type == "command":
        _command([word.text for word in command_words(node)], found, nested)
    elif node.type == "file_redirect":
        _redirect(node, found)
    elif node.type in _FED and is_for_a_shell(node):
        words = [word_of(child).text for child in node.named_children]
        _read((words[0] if words else _text(node)) or "", found, nested - 1)


def _parsed(script: str, found: _Found) -> Node | None:
    if sum(map(script.count, _SLOW)) > _SLOW_MAX:
        return None
    root = parse_within(script, found.is_over)
    return root and parse_within(with_known(script, root), found.is_over)


def _in_order(root: Node) -> list[Node]:
    return sorted(walk(root), key=lambda node: (node.start_byte, -node.end_byte))


def _redirect(node: Node, found: _Found) -> None:
    signs = {child.type for child in node.children if not child.is_named}
    only_reads = signs <= _READS and not node.has_error  # the grammar knows no `<>`
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    for target in targets:
        text = word_of(target).text
        if text and not text.isdecimal() and not text.startswith("/dev/"):
            found.add(found.named if only_reads else found.written, text)


def _command(words: list[str | None], found: _Found, nested: int) -> None:
    words = unwrapped(words)
    if not words or words[0] is None:
        return
    name, rest = posixpath.basename(words[0]), words[1:]
    script = _script(name, rest)
    if name in CHANGES_FOLDER:
        found.folder = changed_folder(rest, found.folder)
    elif name == "popd":
        found.folder = None
    elif script is not None:
        _read(script, found, nested - 1)
    elif name == "busybox":
        _command(rest, found, nested)
    else:
        written = written_by(name, rest)
        found.urls.extend(reached_by(name, rest))
        for text in dict.fromkeys([*operands_of(rest), *written]):
            _operand(text, found, written=text in written)


def _script(name: str, rest: list[str | None]) -> str | None:
    """Return the script of `bash -lc SCRIPT`, and what `eval` joins, where it stands there."""
    if name == "eval" and None not in rest:
        return " ".join(map(str, rest))
    flags = [at for at, text in enumerate(rest) if text and _runs_next(text)]
    given = rest[flags[0] + 1 : flags[0] + 2] if name in SHELLS and flags else []
    return given[0] if given else None


def _runs_next(text: str) -> bool:
    return text.startswith("-") and not text.startswith("--") and text.endswith("c")


def _operand(text: str, found: _Found, *, written: bool) -> None:
    if "://" in text:
        found.urls.append(text)
    elif written:
        found.add(found.written, text.removeprefix("of="))
    elif "/" in text:
        found.add(found.named, text)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
