"""Every command that a script runs, wherever it stands: in pipes, in other commands, in programs.

It only finds: what it passes over is not cleared by that. Where a command is told to run another
one whose place among its words is not known, each place counts, as a guess.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.carriers import carried
from pmcl.judgement.effects.folders import CHANGES_FOLDER, OWN_FOLDER, changed_folder
from pmcl.judgement.effects.handed import (
    aliases_in,
    escapes_in,
    powershell_of,
    recipes_of,
    said,
    templates_of,
)
from pmcl.judgement.effects.programs import (
    INTERPRETERS,
    SHELLS,
    called_in,
    programs_of,
    spelled,
)
from pmcl.judgement.effects.run import (
    Ran,
    Run,
    has_blanks,
    module_of,
    program_name,
    run_of,
    words_in,
)
from pmcl.judgement.effects.script_files import READERS, in_order, places_of, run_by, said_by
from pmcl.judgement.effects.shell import command_nodes, parse, unwrapped, walk
from pmcl.judgement.effects.variables import with_known
from pmcl.judgement.self_running import runs_by_itself
from pmcl.judgement.word_set import word_set

__all__ = ["Ran", "Run", "is_readable", "runs_in", "telling_parts"]

_NESTED_MAX: Final = 4
_SCRIPT_MAX_CHARS: Final = 16 * 1024
_ALL_MAX_CHARS: Final = 64 * 1024
"""So much is read of a script and all that is in it together."""
_SLOW: Final = ("|", "<")
_SLOW_MAX: Final = 256
"""The parser takes the square of their number."""
_SIGNS: Final = "()[]{}$`#\\"
"""Where they stand wrongly, the parser takes long to go on."""
_SIGNS_MIN: Final = 512
_SIGNS_OF: Final = 6
_PARTS_MAX_CHARS: Final = 4096
_RUNS_MAX: Final = 1024
_GUESSES_MAX: Final = 8
_LITERALS_MAX: Final = 64
_CACHED_MAX: Final = 128


_TAKE_SCRIPTS: Final = word_set(
    "at batch crontab elvish expect flock newgrp nix-shell nu parallel screen script sg ssh tmux "
    "watch xonsh"
)
"""Commands that take a script as one word, or read it from their input."""
_MAKES: Final = word_set("gmake make")
_WRITERS: Final = word_set("cat echo printf tee")
_SETTERS: Final = word_set("doas env sudo")
_CLEARING: Final = word_set("- -i -u --ignore-environment --unset")
_between = re.compile(r"[\n;|&]+")
_when = re.compile(r"(?m)^\s*(?:@\w+|(?:[\d*/,-]+\s+){4}[\w*/,-]+)\s+")


@lru_cache(maxsize=_CACHED_MAX)
def runs_in(script: str) -> Ran:
    """Return what a script runs; never raises. Nothing of one that is not readable is told."""
    script = script.replace("\0", "").encode("utf-8", "replace").decode()  # as a shell has it
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
    """Return whether a script is short, and of few signs that are slow to parse, so it is read."""
    if len(script) > _SCRIPT_MAX_CHARS or sum(map(script.count, _SLOW)) > _SLOW_MAX:
        return False
    signs = sum(map(script.count, _SIGNS))
    return signs <= max(_SIGNS_MIN, len(script) // _SIGNS_OF)


def telling_parts(script: str, names: re.Pattern[str]) -> str:
    """Return those parts of a script that is not read whole which name something, each once."""
    parts = dict.fromkeys(part for part in _between.split(script) if names.search(part))
    return "\n".join(parts)[:_PARTS_MAX_CHARS]


class _Reader:
    """Collects what a script and those inside of it run."""

    def __init__(self) -> None:
        self.runs: dict[Run, None] = {}
        self.written: list[str] = []
        self.sources: list[str] = []
        self.programs: list[str] = []
        self.sets: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._read: dict[tuple[str, str | None], int] = {}
        self._texts: dict[str, str] = {}
        self._folder: str | None = ""
        self._left = _ALL_MAX_CHARS

    def read(self, script: str, nested: int) -> None:
        """Collect what a script runs; one that is nested too deep, or read before, is left out."""
        place = (script, self._folder)
        if nested <= self._read.get(place, 0) or not script.strip() or not is_readable(script):
            return
        self._read[place] = nested
        self._left -= len(script)
        if self._left < 0:
            return
        root = parse(script)
        known = with_known(script, root)
        around = [(len(known.encode()), self._folder)]
        for node in in_order(root if known == script else parse(known)):
            while node.start_byte >= around[-1][0] and len(around) > 1:
                self._folder = around.pop()[1]
            if node.type in OWN_FOLDER:
                around.append((node.end_byte, self._folder))
            if len(self.runs) < _RUNS_MAX:
                self._take(node, nested)
        self._folder = around[0][1]

    def _take(self, node: Node, nested: int) -> None:
        match node.type:
            case "command":
                self._command([spelled(each) for each in command_nodes(node)], nested)
                self._files(node, nested)
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
        whole, words = words, [word or "" for word in unwrapped([*words])]
        self._note_sets(whole[: len(whole) - len(words)])
        if not words:
            return
        if words[0] in self._aliases:
            words = [*words_in(self._aliases[words[0]]), *words[1:]]
        if words[0].startswith("{") and words[0].endswith("}"):
            words = [*words[0][1:-1].split(","), *words[1:]]  # `{git,push}`
        run = run_of(words, self._folder)
        self.runs[run] = None
        if run.name in CHANGES_FOLDER:
            self._folder = changed_folder(run.rest, self._folder)
        elif run.name == "popd":
            self._folder = None
        self._inner(run, nested)

    def _note_sets(self, wrapping: Sequence[str]) -> None:
        """Note the variables of `env A=b` and the like; without any, home is another one too."""
        self.sets.update(word.partition("=")[0] for word in wrapping if "=" in word)
        if wrapping and wrapping[0] in _SETTERS and not _CLEARING.isdisjoint(wrapping):
            self.sets.add("HOME")

    def _inner(self, run: Run, nested: int) -> None:
        """Collect what a command runs that is given by its other words."""
        if run.name == "alias":
            pairs = [text.partition("=") for text in run.rest]
            self._aliases.update({name: value for name, _, value in pairs if value})
        if run.name == "python" and (words := module_of(run.rest)):
            self._guess(words, guessed=False)
        for script in self._scripts_in(run):
            self.read(script, nested - 1)
        for words in carried(run.name, run.rest):
            self._guess(words)
            self._programs(words, nested)
            if has_blanks(words[0]):
                self.read(words[0], nested - 1)
        if run.name in _TAKE_SCRIPTS:
            for text in filter(has_blanks, run.rest):
                self.read(text, nested - 1)

    def _scripts_in(self, run: Run) -> Iterator[str]:
        yield powershell_of(run.name, run.rest)
        yield from templates_of(run.name, run.rest)
        yield from escapes_in(run.name, run.rest)
        if run.name == "git":
            yield from aliases_in(run.rest)

    def _guess(self, words: Sequence[str], *, guessed: bool = True) -> None:
        behind = [word or "" for word in unwrapped([*words])]
        if behind and behind[0] and not behind[0].startswith("-"):
            self.runs[run_of(behind, self._folder, guessed=guessed)] = None

    def _files(self, command: Node, nested: int) -> None:
        """Collect what a command runs out of a file that the script has written, or of `<(…)`."""
        words = [spelled(each) for each in command_nodes(command)]
        name = program_name(words[0]) if words else ""
        if name in _WRITERS:
            self._texts.update(dict.fromkeys(places_of(command), said_by(command)))
            return
        texts = [self._texts[file] for file in run_by(command) if file in self._texts]
        inner = [node for each in command_nodes(command) for node in walk(each)]
        texts += [" ".join(said(node)) for node in inner if node.type == "process_substitution"]
        for text in filter(None, texts):
            self._hands_on(text, command, nested)

    def _programs(self, words: Sequence[str], nested: int) -> None:
        for program in programs_of(words):
            if program.is_script:
                self.read(program.text, nested - 1)
            elif program.text:
                self._program(program.text, nested)
        if words and program_name(words[0]) in ("awk", "gawk", "mawk"):
            for text in words[1:]:
                self._program(text, nested)

    def _program(self, text: str, nested: int) -> None:
        """Collect what a program in another language than the shell's runs, by its literals."""
        self.programs.append(text)
        literals = [*called_in(text)][:_LITERALS_MAX]
        for at, literal in enumerate(literals):
            if has_blanks(literal):
                self.read(literal, nested - 1)
            elif literal:
                self._guess(literals[at : at + _GUESSES_MAX])

    def _pipeline(self, node: Node, nested: int) -> None:
        """Collect what a command is told by the one before it: `echo 'git push' | sh`."""
        stages = node.named_children
        for before, after in pairwise(stages):
            text = " ".join(said(before))
            consumers = [each for each in walk(after) if each.type == "command"][:1]
            if text and consumers:
                self._hands_on(text, consumers[0], nested)
            elif consumers and before.type == "command":
                self._found(before, consumers[0], nested)

    def _found(self, before: Node, consumer: Node, nested: int) -> None:
        """Collect what is run with each file that is found: `find … | xargs rm`."""
        finding = [spelled(each) for each in command_nodes(before)]
        words = [spelled(each) for each in command_nodes(consumer)]
        if [program_name(each[0]) for each in (finding, words) if each] == ["find", "xargs"]:
            behind = [word or "" for word in unwrapped([*words])]
            self._run([*finding, "-exec", *behind, ";"], nested - 1)

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

    def _hands_on(self, text: str, consumer: Node, nested: int) -> None:
        words = [spelled(each) for each in command_nodes(consumer)]
        name = program_name(words[0]) if words else ""
        behind = [word or "" for word in unwrapped([*words])]
        inner = program_name(behind[0]) if behind else ""
        if name in ("parallel", "xargs"):
            given = behind[1:] if name == "parallel" else behind
            self._run([*given, *words_in(text)], nested - 1)
        if inner in _MAKES:
            self.read(recipes_of(text), nested - 1)
        for script in escapes_in(inner, text.splitlines()):
            self.read(script, nested - 1)
        if inner in INTERPRETERS - SHELLS:
            self._program(text, nested)
        elif name in _TAKE_SCRIPTS or inner in SHELLS | READERS or "/" in (behind or [""])[0]:
            self.read(_when.sub("", text) if name == "crontab" else text, nested - 1)

    def _redirect(self, node: Node, nested: int) -> None:
        """Note what is read or written; what something runs by itself is given is a script."""
        target = spelled(node.named_children[-1]) if node.named_children else ""
        target = posixpath.join(self._folder or "", target)
        if not any(">" in sign.type for sign in node.children):
            self.sources.append(target)
            return
        self.written.append(target)
        around = node.parent
        inside = [] if around is None else [*walk(around)]
        command = next((each for each in inside if each.type == "command"), None)
        if command is not None and runs_by_itself(target):
            self.read(said_by(command), nested - 1)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
