"""Which files the commands of a script run, write and bring, told by their bare names.

A name is enough to see that what was written and what is run are the same; folders may change.
"""

import posixpath
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.programs import INTERPRETERS, SHELLS, spelled
from pmcl.judgement.effects.shell import command_nodes, command_words, unwrapped, walk, word_of
from pmcl.judgement.effects.targets import operands_of, written_by

__all__ = [
    "PROGRAM_FILES",
    "READERS",
    "bare",
    "brought_by",
    "first_operand",
    "in_order",
    "name_and_rest",
    "places_of",
    "program_files",
    "run_by",
    "said_by",
]

READERS: Final = frozenset({".", "eval", "source"})
PROGRAM_FILES: Final = dict.fromkeys(
    "awk gawk gmake make mawk sed".split(), ("-f", "--file", "--makefile")
)
"""Commands that obey a file which is named by a flag."""
_MAKEFILES: Final = ("GNUmakefile", "Makefile", "makefile")
_AROUND: Final = frozenset({"heredoc_redirect", "pipeline", "redirected_statement"})


def in_order(root: Node) -> list[Node]:
    """Return a node and all below it as they stand in the script."""
    return sorted(walk(root), key=lambda node: node.start_byte)


def name_and_rest(command: Node) -> tuple[str, list[str | None]]:
    """Return the name of a command without wrappers and folder, and what follows it."""
    words = unwrapped([word.text for word in command_words(command)])
    name = words[0] if words else None
    return ("" if name is None else posixpath.basename(name)), words[1:]


def first_operand(name: str, rest: list[str | None]) -> int:
    """Return where the first word stands that is neither a flag nor a shell's `pipefail`."""
    for at, text in enumerate(rest):
        before = rest[at - 1] if at else None
        is_value = name in SHELLS and before is not None and before[:1] in ("-", "+")
        if (text is None or not text.startswith("-")) and not (
            is_value and (before or "")[-1:] in ("o", "O")
        ):
            return at
    return len(rest)


def run_by(command: Node) -> Iterator[str]:
    """Yield the bare names of the files that a command may run."""
    words = unwrapped([word.text for word in command_words(command)])
    if words and words[0] is not None and "/" in words[0]:
        yield bare(words[0])
    name, rest = name_and_rest(command)
    if name in INTERPRETERS | READERS:
        at = first_operand(name, rest)
        yield from map(bare, filter(None, (*rest[at : at + 1], *_redirected(command))))
    elif name in PROGRAM_FILES:
        files = [*program_files(name, rest)]
        yield from map(bare, files or (_MAKEFILES if name.endswith("make") else ()))


def program_files(name: str, rest: list[str | None]) -> Iterator[str]:
    """Yield the files that a command of `PROGRAM_FILES` is told to obey."""
    for at, text in enumerate(rest):
        flag = next((flag for flag in PROGRAM_FILES[name] if text and text.startswith(flag)), None)
        if text is not None and flag is not None:
            joined = text.removeprefix(flag).removeprefix("=")
            yield joined or "".join(filter(None, rest[at + 1 : at + 2]))


def brought_by(command: Node) -> Iterator[str]:
    """Yield the bare names of what a command that brings something may call it."""
    sources = [text for text in operands_of(name_and_rest(command)[1]) if "/" in text]
    yield from (bare(text.partition("?")[0]) for text in sources)
    yield from places_of(command)


def places_of(command: Node) -> Iterator[str]:
    """Yield the bare names of the files that a command writes, itself or through a pipe."""
    places = [*_redirected(command), *written_by(*name_and_rest(command)), *_piped_on(command)]
    yield from map(bare, places)


def said_by(command: Node) -> str:
    """Return the text that a command passes on: a here-document, or words, also through a pipe."""
    around = command
    while around.parent is not None and around.parent.type in _AROUND:
        around = around.parent
    inside = in_order(around)
    bodies = [spelled(node) for node in inside if node.type == "heredoc_body"]
    first = next(node for node in inside if node.type == "command")
    return bodies[0] if bodies else " ".join(map(spelled, command_nodes(first)[1:]))


def bare(path: str) -> str:
    """Return the name of a file without its folders."""
    return posixpath.basename(path.rstrip("/"))


def _piped_on(command: Node) -> Iterator[str]:
    """Yield the files that commands in the same pipeline write: `curl x | tee a`."""
    pipeline = command.parent
    if pipeline is not None and pipeline.type == "pipeline":
        for node in pipeline.named_children:
            yield from _redirected(node)
            yield from written_by(*name_and_rest(node)) if node.type == "command" else ()


def _redirected(command: Node) -> Iterator[str]:
    """Yield the files that a command's input comes from and its output goes to."""
    around = command.parent
    while around is not None and around.type == "pipeline":
        around = around.parent
    if around is None or around.type not in ("heredoc_redirect", "redirected_statement"):
        return
    nodes = [*around.named_children]
    nodes += [each for node in nodes if "heredoc" in node.type for each in node.named_children]
    for node in nodes:
        targets = node.named_children if node.type == "file_redirect" else []
        yield from (text for text in (word_of(target).text for target in targets) if text)
