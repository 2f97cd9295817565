"""A script that runs a program which does not stand in it: nobody can say what it does.

An interpreter gets such a program through a pipe, or from a substitution. Source: SPEC C3, C5.
"""

import posixpath
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.shell import (
    SCRIPT_MAX_BYTES,
    command_words,
    parse,
    unwrapped,
    walk,
)

__all__ = ["runs_unseen"]

_INTERPRETERS: Final = frozenset(
    "ash bash csh dash fish ksh node perl php pwsh python python2 python3 ruby sh zsh".split()
)
_READERS: Final = frozenset({".", "eval", "source"})
_SUBSTITUTIONS: Final = frozenset({"command_substitution", "process_substitution"})
_STANDARD_INPUT: Final = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0"})


def runs_unseen(script: str) -> bool:
    """Return whether a program from elsewhere is run unseen; never raises."""
    data = script.encode("utf-8", "replace")
    if len(data) > SCRIPT_MAX_BYTES:
        return False
    nodes = [*walk(parse(data.decode()))]
    return any(
        (node.type == "command" and _runs_substitution(node))
        or (node.type == "pipeline" and _runs_pipe(node))
        for node in nodes
    )


def _runs_pipe(pipeline: Node) -> bool:
    """Return whether an interpreter behind a pipe reads its program from it."""
    behind = pipeline.named_children[1:]
    return any(_reads_program(node) for node in behind if node.type == "command")


def _reads_program(command: Node) -> bool:
    name, rest = _name_and_rest(command)
    if name not in _INTERPRETERS:
        return False
    first = next((text for text in rest if not _is_flag(text)), "")
    told = any(text in ("-c", "-e", "-m", "-ne", "-pe", "-n", "-p", "-r") for text in rest)
    from_input = not _STANDARD_INPUT.isdisjoint(text for text in rest if text is not None)
    return from_input or (not told and first == "")


def _runs_substitution(command: Node) -> bool:
    """Return whether an interpreter, `eval` or `source` is given what a substitution brings."""
    name, rest = _name_and_rest(command)
    if not rest or name not in _INTERPRETERS | _READERS:
        return False
    given = command.named_children[-len(rest) :]
    if name in _INTERPRETERS:
        at = next((i for i, text in enumerate(rest) if not _is_flag(text)), len(rest))
        given = given[at : at + 1]  # the program; what follows are its arguments
    return any(inner.type in _SUBSTITUTIONS for child in given for inner in walk(child))


def _is_flag(text: str | None) -> bool:
    return text is not None and text.startswith("-")


def _name_and_rest(command: Node) -> tuple[str, list[str | None]]:
    words = unwrapped([word.text for word in command_words(command)])
    name = words[0] if words else None
    return ("" if name is None else posixpath.basename(name)), words[1:]
