"""A script that runs a program which does not stand in it: nobody can say what it does.

An interpreter gets such a program through a pipe, from a substitution, or from a file that the
script has just brought. Source: SPEC C3, C5.
"""

import posixpath
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.shell import (
    SCRIPT_MAX_BYTES,
    command_words,
    parse,
    unwrapped,
    walk,
    word_of,
)
from pmcl.judgement.effects.targets import operands_of, written_by

__all__ = ["runs_unseen"]

_INTERPRETERS: Final = frozenset(
    "ash bash csh dash fish ksh node perl php pwsh python python2 python3 ruby sh zsh".split()
)
_READERS: Final = frozenset({".", "eval", "source"})
_DOWNLOADERS: Final = frozenset("aria2c curl ftp http https rsync scp sftp wget xh".split())
_SUBSTITUTIONS: Final = frozenset({"command_substitution", "process_substitution"})
_STANDARD_INPUT: Final = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0"})


def runs_unseen(script: str) -> bool:
    """Return whether a program from elsewhere is run unseen; never raises."""
    data = script.encode("utf-8", "replace")
    if len(data) > SCRIPT_MAX_BYTES:
        return False
    nodes = sorted(walk(parse(data.decode())), key=lambda node: node.start_byte)
    return _runs_download([node for node in nodes if node.type == "command"]) or any(
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


def _runs_download(commands: list[Node]) -> bool:
    """Return whether a command runs a file that an earlier one brought, told by its bare name."""
    brought: set[str] = set()
    for command in commands:
        if not brought.isdisjoint(_run_files(command)):
            return True
        name, rest = _name_and_rest(command)
        if name in _DOWNLOADERS:
            sources = [text for text in operands_of(rest) if "/" in text]
            places = [*_redirected(command), *written_by(name, rest), *_piped_on(command)]
            brought.update(_bare(text.partition("?")[0]) for text in (*sources, *places))
    return False


def _run_files(command: Node) -> Iterator[str]:
    """Yield the bare names of the files that a command may run."""
    words = unwrapped([word.text for word in command_words(command)])
    if words and words[0] is not None and "/" in words[0]:
        yield _bare(words[0])
    name, rest = _name_and_rest(command)
    if name in _INTERPRETERS | _READERS:
        program = next((text for text in rest if text and not _is_flag(text)), "")
        yield from map(_bare, filter(None, (program, *_redirected(command))))


def _piped_on(command: Node) -> Iterator[str]:
    """Yield the files that commands in the same pipeline write: `curl x | tee a`."""
    pipeline = command.parent
    if pipeline is not None and pipeline.type == "pipeline":
        for node in pipeline.named_children:
            yield from _redirected(node)
            yield from written_by(*_name_and_rest(node)) if node.type == "command" else ()


def _redirected(command: Node) -> Iterator[str]:
    """Yield the files that a command's input comes from and its output goes to."""
    around = command.parent
    while around is not None and around.type == "pipeline":
        around = around.parent
    if around is not None and around.type == "redirected_statement":
        for node in around.named_children:
            targets = node.named_children if node.type == "file_redirect" else []
            yield from (text for text in (word_of(target).text for target in targets) if text)


def _bare(path: str) -> str:
    return posixpath.basename(path.rstrip("/"))


def _is_flag(text: str | None) -> bool:
    return text is not None and text.startswith("-")


def _name_and_rest(command: Node) -> tuple[str, list[str | None]]:
    words = unwrapped([word.text for word in command_words(command)])
    name = words[0] if words else None
    return ("" if name is None else posixpath.basename(name)), words[1:]
