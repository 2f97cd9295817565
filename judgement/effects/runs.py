"""Every command that a script runs, wherever it stands: in pipes, in other commands, in programs.

It only finds: what it passes over is not cleared by that. Where a command is told to run another
one whose place among its words is not known, each place counts, as a guess.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import msgspec
from tree_sitter import Node

from pmcl.judgement.effects.carriers import carried
from pmcl.judgement.effects.programs import SHELLS, called_in, programs_of, spelled
from pmcl.judgement.effects.script_files import in_order, said_by
from pmcl.judgement.effects.shell import command_nodes, parse, unwrapped, walk
from pmcl.judgement.effects.variables import with_known
from pmcl.judgement.self_running import runs_by_itself
from pmcl.judgement.word_set import word_set

__all__ = ["Ran", "Run", "is_readable", "runs_in"]

_NESTED_MAX: Final = 4
_SCRIPT_MAX_CHARS: Final = 16 * 1024
_ALL_MAX_CHARS: Final = 64 * 1024
"""So much is read of a script and all that is in it together."""
_SLOW: Final = ("|", "<")
_SLOW_MAX: Final = 256
"""The parser takes the square of their number."""
_RUNS_MAX: Final = 1024
_GUESSES_MAX: Final = 8
_LITERALS_MAX: Final = 64
_CACHED_MAX: Final = 128


_TAKE_SCRIPTS: Final = word_set(
    "at batch crontab expect flock nix-shell parallel screen script ssh tmux watch"
)
"""Commands that take a script as one word, or read it from their input."""
_SPEAKERS: Final = word_set("echo printf")
_lookup = re.compile(r"[\"']?(?:\$\(|`)\s*(?:which|command -v|type -p)\s+([\w./-]+)\s*[)`][\"']?")
_module_flag = re.compile(r"-[A-VYZabd-ln-z]*m(.*)", re.DOTALL)
_version = re.compile(r"(?<=[a-z])[\d.]+$|\.exe$")
_when = re.compile(r"(?m)^\s*(?:@\w+|(?:[\d*/,-]+\s+){4}[\w*/,-]+)\s+")


class Run(msgspec.Struct, frozen=True):
    """One command; what a shell would put into a word stays in it as it is written.

    Attributes:
        name: without folder, ending and version.
        rest: the words behind it.
        path: the name as it is spelled.
        guessed: it stands among the words of another command, and may be none.
    """

    name: str
    rest: tuple[str, ...] = ()
    path: str = ""
    guessed: bool = False


class Ran(msgspec.Struct, frozen=True):
    """What a script runs.

    Attributes:
        runs: in the order in which they are found.
        written: files that output is redirected to.
        read: files that input comes from.
        programs: texts in other languages than the shell's.
        sets: variables that it sets anywhere.
    """

    runs: tuple[Run, ...] = ()
    written: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    sets: frozenset[str] = frozenset()


@lru_cache(maxsize=_CACHED_MAX)
def runs_in(script: str) -> Ran:
    """Return what a script runs; never raises. Nothing of one that is not readable is told."""
    script = script.encode("utf-8", "replace").decode()  # a lone surrogate is no text
    reader = _Reader()
    reader.read(script, _NESTED_MAX)
    return Ran(
        runs=tuple(reader.runs),
        written=tuple(dict.fromkeys(reader.written)),
        read=tuple(dict.fromkeys(reader.sources)),
        programs=tuple(dict.fromkeys(reader.programs)),
        sets=frozenset(reader.sets),
    )


def is_readable(script: str) -> bool:
    """Return whether a script is short, and has few pipes and redirections, so that it is read."""
    return len(script) <= _SCRIPT_MAX_CHARS and sum(map(script.count, _SLOW)) <= _SLOW_MAX


class _Reader:
    """Collects what a script and those inside of it run."""

    def __init__(self) -> None:
        self.runs: dict[Run, None] = {}
        self.written: list[str] = []
        self.sources: list[str] = []
        self.programs: list[str] = []
        self.sets: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._read: dict[str, int] = {}
        self._left = _ALL_MAX_CHARS

    def read(self, script: str, nested: int) -> None:
        """Collect what a script runs; one that is nested too deep, or read before, is left out."""
        if nested <= self._read.get(script, 0) or not script.strip() or not is_readable(script):
            return
        self._read[script] = nested
        self._left -= len(script)
        if self._left < 0:
            return
        root = parse(script)
        known = with_known(script, root)
        for node in in_order(root if known == script else parse(known)):
            if len(self.runs) < _RUNS_MAX:
                self._take(node, nested)

    def _take(self, node: Node, nested: int) -> None:
        match node.type:
            case "command":
                self._command([spelled(each) for each in command_nodes(node)], nested)
            case "pipeline":
                self._pipeline(node, nested)
            case "variable_assignment":
                self.sets.add(_text(node).partition("=")[0])
            case "file_redirect":
                self._redirect(node, nested)
            case "heredoc_body" | "herestring_redirect":
                self._fed(node, nested)

    def _command(self, words: list[str], nested: int) -> None:
        self._run(words, nested)
        self._programs(words, nested)

    def _run(self, words: list[str], nested: int) -> None:
        words = [word or "" for word in unwrapped([*words])]
        if not words:
            return
        if words[0] in self._aliases:
            words = [*_split(self._aliases[words[0]]), *words[1:]]
        if words[0].startswith("{") and words[0].endswith("}"):
            words = [*words[0][1:-1].split(","), *words[1:]]  # `{git,push}`
        run = _run_of(words)
        self.runs[run] = None
        self._inner(run, nested)

    def _inner(self, run: Run, nested: int) -> None:
        """Collect what a command runs that is given by its other words."""
        if run.name == "alias":
            pairs = [text.partition("=") for text in run.rest]
            self._aliases.update({name: value for name, _, value in pairs if value})
        if run.name == "python" and (words := _module(run.rest)):
            self.runs.update(dict.fromkeys(_guess(words, guessed=False)))
        for words in carried(run.name, run.rest):
            self.runs.update(dict.fromkeys(_guess(words)))
            self._programs(words, nested)
            if _has_blanks(words[0]):
                self.read(words[0], nested - 1)
        if run.name in _TAKE_SCRIPTS:
            for text in filter(_has_blanks, run.rest):
                self.read(text, nested - 1)

    def _programs(self, words: Sequence[str], nested: int) -> None:
        for program in programs_of(words):
            if program.is_script:
                self.read(program.text, nested - 1)
            elif program.text:
                self._program(program.text, nested)
        if words and _named(words[0]) in ("awk", "gawk", "mawk"):
            for text in words[1:]:
                self._program(text, nested)

    def _program(self, text: str, nested: int) -> None:
        """Collect what a program in another language than the shell's runs, by its literals."""
        self.programs.append(text)
        literals = [*called_in(text)][:_LITERALS_MAX]
        for at, literal in enumerate(literals):
            if _has_blanks(literal):
                self.read(literal, nested - 1)
            elif literal:
                self.runs.update(dict.fromkeys(_guess(literals[at : at + _GUESSES_MAX])))

    def _pipeline(self, node: Node, nested: int) -> None:
        """Collect what a command is told by the one before it: `echo 'git push' | sh`."""
        stages = node.named_children
        for before, after in pairwise(stages):
            said = " ".join(_said(before))
            consumers = [each for each in walk(after) if each.type == "command"][:1]
            if said and consumers:
                self._hands_on(said, consumers[0], nested)

    def _fed(self, node: Node, nested: int) -> None:
        around = node.parent
        while around is not None and around.type not in ("command", "redirected_statement"):
            around = around.parent
        commands = [] if around is None else [*walk(around)]
        consumers = [each for each in commands if each.type == "command"]
        children = node.named_children
        text = spelled(children[-1]) if node.type == "herestring_redirect" else _text(node)
        for consumer in consumers:
            self._hands_on(text, consumer, nested)

    def _hands_on(self, said: str, consumer: Node, nested: int) -> None:
        words = [spelled(each) for each in command_nodes(consumer)]
        name = _named(words[0]) if words else ""
        inner = [word or "" for word in unwrapped([*words])]
        if name == "xargs":
            self._run([*inner, *_split(said)], nested - 1)
        elif name in _TAKE_SCRIPTS or (inner and _named(inner[0]) in SHELLS):
            self.read(_when.sub("", said) if name == "crontab" else said, nested - 1)

    def _redirect(self, node: Node, nested: int) -> None:
        """Note what is read or written; what something runs by itself is given is a script."""
        target = spelled(node.named_children[-1]) if node.named_children else ""
        if not any(">" in sign.type for sign in node.children):
            self.sources.append(target)
            return
        self.written.append(target)
        around = node.parent
        inside = [] if around is None else [*walk(around)]
        command = next((each for each in inside if each.type == "command"), None)
        if command is not None and runs_by_itself(target):
            self.read(said_by(command), nested - 1)


def _run_of(words: Sequence[str], *, guessed: bool = False) -> Run:
    return Run(_named(words[0]), tuple(words[1:]), words[0], guessed)


def _named(word: str) -> str:
    """Return the name of a program, which `/bin/python3.12` and `$(which python)` have too."""
    found = _lookup.fullmatch(word)
    name = posixpath.basename(found[1] if found is not None else word).lower()
    return _version.sub("", name) or name


def _guess(words: Sequence[str], *, guessed: bool = True) -> Iterator[Run]:
    behind = [word or "" for word in unwrapped([*words])]
    if behind and behind[0] and not behind[0].startswith("-"):
        yield _run_of(behind, guessed=guessed)


def _module(words: Sequence[str]) -> list[str]:
    """Return the module that `-m` runs, also in a bundle of flags, and what it is given."""
    for at, word in enumerate(words):
        if word == "-c":  # all else is the program's
            break
        if found := _module_flag.fullmatch(word):
            return [*filter(None, [found[1]]), *words[at + 1 :]]
    return []


def _said(stage: Node) -> Iterator[str]:
    """Yield what the commands of a pipeline's stage print that only print."""
    for node in walk(stage):
        if node.type == "command":
            words = [spelled(each) for each in command_nodes(node)]
            if words and words[0] in _SPEAKERS:
                yield from (text for text in words[1:] if not text.startswith("-"))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _has_blanks(text: str) -> bool:
    return any(map(str.isspace, text))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
