"""A script that runs a program which does not stand in it: nobody can say what it does.

An interpreter gets such a program through a pipe, from a substitution, or from a file that the
script has just brought. What stands in it, between quotes, behind `<<` or in a file that it has
just written, is read as well. What is nested or piped on further than anybody reads is unseen too.
Source: SPEC C3, C5.
"""

import posixpath
import re
from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.programs import (
    INTERPRETERS,
    SHELLS,
    Program,
    called_in,
    is_for_a_shell,
    literals_in,
    programs_in,
    spelled,
)
from pmcl.judgement.effects.script_files import (
    PROGRAM_FILES,
    READERS,
    bare,
    brought_by,
    first_operand,
    in_order,
    name_and_rest,
    places_of,
    program_files,
    run_by,
    said_by,
)
from pmcl.judgement.effects.shell import SCRIPT_MAX_BYTES, command_nodes, parse, walk

__all__ = ["runs_unseen"]

_NESTED_MAX: Final = 3
_STAGES_MAX: Final = 64
"""Reading a pipeline takes the square of their number."""
_BRINGERS: Final = frozenset(
    "aria2c base32 base64 basenc curl ftp http https openssl rsync scp sftp uudecode wget xh "
    "xxd".split()
)
"""They fetch what stands elsewhere, or make readable what nobody can read here."""
_WRITERS: Final = frozenset({"cat", "echo", "printf", "tee"})
_SUBSTITUTIONS: Final = frozenset({"command_substitution", "process_substitution"})
_STANDARD_INPUT: Final = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0"})
_ITS_INPUT: Final = frozenset({"", "{}", "%", "$0", "$1", "$@", "$*"})
"""A script of `xargs` that is nothing but what it reads."""
_obeys = re.compile(r"(?<![.\w])(?:eval|exec|Function)\s*\(")
_brings = re.compile(
    r"b64decode|Buffer\.from|decodebytes|fetch\(|https?://|httpx|input\(|LWP|marshal|Net::HTTP|"
    r"open-uri|requests\.|stdin|urllib|urlopen|zlib"
)


def runs_unseen(script: str) -> bool:
    """Return whether a program from elsewhere is run unseen; never raises."""
    return _Reader().runs_unseen(script, _NESTED_MAX, is_fed=False)


class _Reader:
    """Reads one script in order, and knows which files it has brought and written so far."""

    def __init__(self) -> None:
        self._brought: set[str] = set()
        self._written: dict[str, str] = {}
        self._clean: set[tuple[str, int, bool]] = set()

    def runs_unseen(self, script: str, nested: int, *, is_fed: bool) -> bool:
        """Return whether this part does; its own input comes through a pipe when it is fed."""
        data = script.encode("utf-8", "replace")
        if len(data) > SCRIPT_MAX_BYTES:
            return False
        if nested == 0:
            return True
        if (script, nested, is_fed) in self._clean:
            return False
        nodes = in_order(parse(data.decode()))
        if any(self._does(node, nested, is_fed) for node in nodes):
            return True
        self._clean.add((script, nested, is_fed))
        return False

    def _does(self, node: Node, nested: int, is_fed: bool) -> bool:  # noqa: FBT001 - passed on
        if node.type == "heredoc_body":
            return is_for_a_shell(node) and self._reads(node, nested)
        if node.type == "herestring_redirect":
            return is_for_a_shell(node) and (
                _has_substitution(node) or self._reads(node.named_children[-1], nested)
            )
        if node.type == "pipeline" and node.named_child_count > _STAGES_MAX:
            return True
        return node.type == "command" and self._command(node, nested, is_fed)

    def _reads(self, script: Node, nested: int) -> bool:
        """Return whether a shell that is fed with a script of its own runs something unseen."""
        return self.runs_unseen(spelled(script), nested - 1, is_fed=False)

    def _command(self, command: Node, nested: int, is_fed: bool) -> bool:  # noqa: FBT001
        is_fed = (is_fed and not _is_given_input(command)) or _is_behind_pipe(command)
        if _runs_substitution(command) or (is_fed and _reads_program(command)):
            return True
        files = {*run_by(command)}
        texts = [self._written[file] for file in files if file in self._written]
        is_script = name_and_rest(command)[0] not in INTERPRETERS - SHELLS
        programs = [
            *(Program(text, is_script=is_script) for text in texts),
            *programs_in(command),
        ]
        if not self._brought.isdisjoint(files) or any(
            self._runs(program, command, nested, is_fed) for program in programs
        ):
            return True
        self._note(command)
        return False

    def _runs(self, program: Program, command: Node, nested: int, is_fed: bool) -> bool:  # noqa: FBT001
        if program.is_script:
            is_its_input = is_fed and _is_input(program.text, command)
            return is_its_input or self.runs_unseen(program.text, nested - 1, is_fed=is_fed)
        brings = _brings.search(program.text) is not None
        if brings and _obeys.search(program.text) is not None:
            return True
        called = called_in(program.text)
        if any(self.runs_unseen(text, nested - 1, is_fed=is_fed) for text in called):
            return True
        if brings:
            self._bring(filter(None, map(bare, literals_in(program.text))))
        return False

    def _note(self, command: Node) -> None:
        """Know the files that a command brings, and the texts that it writes to files."""
        name = name_and_rest(command)[0]
        if name in _BRINGERS:
            self._bring(brought_by(command))
        elif name in _WRITERS and (places := [*places_of(command)]):
            self._written.update(dict.fromkeys(places, said_by(command)))
            self._clean.clear()

    def _bring(self, names: Iterable[str]) -> None:
        brought = {*names}
        if not brought <= self._brought:
            self._brought |= brought
            self._clean.clear()


def _is_input(script: str, command: Node) -> bool:
    """Return whether `xargs` makes a script of what it reads."""
    words = [spelled(node) for node in command_nodes(command)]
    if "xargs" not in map(posixpath.basename, words):
        return False
    replaced = {word.removeprefix("-I") for at, word in enumerate(words) if "-I" in words[at - 1]}
    bare = script.strip().removeprefix("eval").strip(" \"'")
    return bare in _ITS_INPUT | replaced


def _is_behind_pipe(command: Node) -> bool:
    """Return whether a command, or the group that it stands in, reads from a pipe."""
    node = command
    while node.parent is not None and node.type not in _SUBSTITUTIONS:
        around = node.parent
        if around.type == "pipeline" and node != around.named_child(0):
            return not _is_given_input(command)
        node = around
    return False


def _is_given_input(command: Node) -> bool:
    """Return whether a command's input is redirected, `<` or `<<`."""
    around = command.parent
    if around is None or around.type != "redirected_statement":
        return False
    return any(
        child.type.startswith(("heredoc", "herestring"))
        or (child.type == "file_redirect" and any(sign.type == "<" for sign in child.children))
        for child in around.named_children
    )


def _reads_program(command: Node) -> bool:
    """Return whether an interpreter reads its program from its input."""
    name, rest = name_and_rest(command)
    if name in PROGRAM_FILES:
        return not _STANDARD_INPUT.isdisjoint(program_files(name, rest))
    if name not in INTERPRETERS:
        return False
    elsewhere = "c" if name in SHELLS else "ceEmnpr"
    told = any(text and _is_flag(text) and text.endswith((*elsewhere,)) for text in rest)
    from_input = not _STANDARD_INPUT.isdisjoint(text for text in rest if text is not None)
    return from_input or (not told and first_operand(name, rest) == len(rest))


def _runs_substitution(command: Node) -> bool:
    """Return whether an interpreter, `eval` or `source` is given what a substitution brings."""
    nodes = command_nodes(command)
    if nodes and _is_brought(nodes[0]):
        return True
    name, rest = name_and_rest(command)
    given = nodes[len(nodes) - len(rest) :]
    if name in PROGRAM_FILES:
        flags = PROGRAM_FILES[name]
        marks = [text is not None and text.startswith(flags) for text in rest]
        given = [node for at, node in enumerate(given) if marks[at] or (at and marks[at - 1])]
    elif name in INTERPRETERS:
        at = first_operand(name, rest)
        given = given[at : at + 1]  # the program; what follows are its arguments
    elif name not in READERS:
        return _runs_substituted_script(nodes)
    return any(_has_substitution(node) for node in given)


def _runs_substituted_script(nodes: list[Node]) -> bool:
    """Return whether `sh -c "$(…)"` stands behind another command."""
    names = [posixpath.basename(spelled(node)) for node in nodes]
    at = next((at for at, name in enumerate(names) if at and name in SHELLS), len(nodes))
    behind = [node for node in nodes[at + 1 :] if not _is_flag(spelled(node))]
    return any(name.endswith("c") for name in names[at + 1 : at + 3] if _is_flag(name)) and any(
        _has_substitution(node) for node in behind[:1]
    )


def _has_substitution(node: Node) -> bool:
    """Return whether something is run to make a word."""
    return any(inner.type in _SUBSTITUTIONS for inner in walk(node))


def _is_brought(name: Node) -> bool:
    """Return whether the name of a command is what another one brings: `$(curl …)`."""
    inner = [node for node in walk(name) if node.type == "command"]
    return any(name_and_rest(command)[0] in _BRINGERS for command in inner)


def _is_flag(text: str | None) -> bool:
    return text is not None and text.startswith("-")
