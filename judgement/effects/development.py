"""Which parts of a shell command are a developer's ordinary work on the project itself.

It is parsed, never matched. A command that is not in the table, an operand that may lead out of the
project, a substitution, or a construct that is not plain is not known, and then nothing is said of
it; being known clears no effect. Source: the grammar of tree-sitter-bash.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec
from tree_sitter import Node

from pmcl.judgement.effects.commands import inspects
from pmcl.judgement.effects.flags import Word
from pmcl.judgement.effects.project_tools import (
    MODULES,
    PROGRAMS,
    PROGRAMS_OF_MODULES,
    RUNNERS,
    SCRIPTS,
    TARGETS,
    Program,
    WorkKind,
)
from pmcl.judgement.effects.reading_tools import only_asks
from pmcl.judgement.effects.shell import SCRIPT_MAX_BYTES, command_words, parse, walk, word_of
from pmcl.judgement.paths import below
from pmcl.judgement.self_running import runs_by_itself

__all__ = ["OwnWork", "own_work"]

_PLAIN: Final = frozenset(
    "program list pipeline command command_name word number string string_content raw_string "
    "concatenation redirected_statement file_redirect file_descriptor variable_assignment "
    "variable_name comment".split()
)
_VARIABLES: Final = frozenset(
    "CI COLUMNS DEBUG FORCE_COLOR LANG LC_ALL NODE_ENV NO_COLOR PYTHONDONTWRITEBYTECODE "
    "PYTHONUNBUFFERED RUST_BACKTRACE RUST_LOG TZ".split()
)
_SINKS: Final = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout"})
_PUBLISHES: Final = frozenset(
    "delete deploy destroy drop flush install prod production publish purge push release "
    "reset twine uninstall upload wipe".split()
)
_GIT_ARRANGES: Final = frozenset("branch checkout mv restore stash switch".split())
_PACKAGES: Final = frozenset({"bun", "npm", "pnpm", "yarn"})
_PIP: Final = frozenset({"pip", "pip3"})
_PIP_FLAGS: Final = frozenset("-q -U --quiet --upgrade --no-deps --no-build-isolation".split())
_own_package = re.compile(r"\.(?:\[[\w, -]*\])?/?$")
_flag_name = re.compile(r"--?[A-Za-z0-9][\w.:-]*$")
_token = re.compile(r"[a-z0-9]+")


class OwnWork(msgspec.Struct, frozen=True):
    """What of a script is ordinary work on the project.

    Attributes:
        parts: the text of each command that checks or changes it.
        kinds: what the commands do, those that only inspect left out.
        whole: nothing else is in the script.
    """

    parts: frozenset[str] = frozenset()
    kinds: frozenset[WorkKind] = frozenset()
    whole: bool = False


def own_work(script: str, roots: Sequence[str]) -> OwnWork:
    """Return what of a script is ordinary work on a project below one of `roots`; never raises."""
    shown = script.replace("\n", " ").strip()
    if len(shown.encode("utf-8", "replace")) > SCRIPT_MAX_BYTES or not shown.isprintable():
        return OwnWork()
    root = parse(script)
    nodes = [*walk(root)]
    if root.has_error or not all(node.type in _PLAIN for node in nodes if node.is_named):
        return OwnWork()
    commands = [node for node in nodes if node.type == "command"]
    kinds = [_kind(node, roots) for node in commands]
    if any(_moves_out(node, roots) for node in nodes):
        return OwnWork()
    redirected = any(_writes(node) for node in nodes if node.type == "file_redirect")
    known: set[WorkKind] = {kind for kind in kinds if kind is not None and kind != "inspects"}
    return OwnWork(
        parts=frozenset(
            text
            for node, kind in zip(commands, kinds, strict=True)
            if kind in ("checks", "changes")
            for text in _texts(node)
        ),
        kinds=frozenset({*known, "arranges"} if redirected else known),
        whole=bool(commands) and None not in kinds,
    )


def _texts(node: Node) -> list[str]:
    """Return how a command is written, with its redirections and without."""
    outer = node.parent
    nodes = [node, outer] if outer is not None and outer.type == "redirected_statement" else [node]
    return [(each.text or b"").decode("utf-8", "replace").strip() for each in nodes]


def _moves_out(node: Node, roots: Sequence[str]) -> bool:
    """Return whether a `cd`, a redirection or a variable leads out of the project."""
    if node.type == "command":
        words = [word.text for word in command_words(node)]
        return words[:1] == ["cd"] and not all(_is_inside(text, roots) for text in words[1:])
    if node.type == "file_redirect":
        return not _redirects_inside(node, roots)
    if node.type == "variable_assignment":
        name, _, value = (node.text or b"").decode("utf-8", "replace").partition("=")
        below_command = node.parent is not None and node.parent.type == "command"
        harmless = name in _VARIABLES or (name == "PYTHONPATH" and _is_inside(value, roots))
        return not (below_command and harmless)
    return False


def _redirects_inside(node: Node, roots: Sequence[str]) -> bool:
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    texts = [word_of(target).text for target in targets]
    return all(
        text is not None and (text in _SINKS or text.isdecimal() or _is_quiet(text, roots))
        for text in texts
    )


def _writes(node: Node) -> bool:
    targets = [word_of(child).text for child in node.named_children]
    return not all(text is None or text in _SINKS or text.isdecimal() for text in targets)


def _kind(node: Node, roots: Sequence[str]) -> WorkKind | Literal["inspects"] | None:
    texts = [word.text for word in command_words(node)]
    if None in texts:
        texts = _with_extras(node)
    if not texts or None in texts:
        return None
    if texts[0] == "cd" or inspects([Word(text) for text in texts]) is True:
        return "inspects"
    return _work([text for text in texts if text is not None], roots)


def _with_extras(node: Node) -> list[str | None]:
    """Return the words of a command with `.[dev]` in it, which a shell takes for a pattern."""
    words: list[str | None] = []
    for child in node.named_children:
        text = (child.text or b"").decode("utf-8", "replace")
        words.append(text if _own_package.match(text) else _given(child))
    return words


def _given(node: Node) -> str | None:
    named = node.named_children[0] if node.type == "command_name" else node
    return word_of(named).text


def _work(words: list[str], roots: Sequence[str]) -> WorkKind | None:
    """Return what kind of work a command is; `None` when that is not known."""
    if not words:
        return None
    if words[0] == "timeout" and "".join(words[1:2])[:1].isdigit():
        words = words[2:]
    name, rest = "".join(words[:1]), words[1:]
    if "/" in name:
        return _script(words, roots)
    begins = RUNNERS.get(name)
    if begins is not None and tuple(rest[: len(begins)]) == begins:
        return _run(rest[len(begins) :], roots)
    return _known(name, rest, roots)


def _known(name: str, rest: list[str], roots: Sequence[str]) -> WorkKind | None:
    if only_asks([name, *rest]):
        return "checks"
    if name in _PIP or (name == "uv" and rest[:1] == ["pip"]):
        return _pip(rest if name in _PIP else rest[1:], roots)
    if name in _PACKAGES:
        return _packages(rest, roots)
    if name in SCRIPTS:
        return _interpreted(name, rest, roots)
    if name == "git" and rest[:1] and rest[0] in _GIT_ARRANGES:
        return "arranges" if _fits(Program("arranges"), rest[1:], roots) else None
    program = PROGRAMS.get(name)
    return program.kind if program is not None and _fits(program, rest, roots) else None


def _run(words: list[str], roots: Sequence[str]) -> WorkKind | None:
    if words[:1] == ["-m"]:
        return _interpreted("python", words, roots)
    return _work(words, roots) or _interpreted("python", words, roots)


def _interpreted(name: str, words: list[str], roots: Sequence[str]) -> WorkKind | None:
    if name.startswith("python") and words[:1] == ["-m"] and words[1:2]:
        module, rest = words[1], words[2:]
        if module not in MODULES:
            return None
        if module in PROGRAMS_OF_MODULES:
            program = PROGRAMS_OF_MODULES[module]
            return program.kind if _fits(program, rest, roots) else None
        return _work([module, *rest], roots)
    at = next((n for n, word in enumerate(words) if not word.startswith("-")), None)
    if at is None or not SCRIPTS.get(name, frozenset()).isdisjoint(words[:at]):
        return None
    return _script(words[at:], roots) if "." in words[at] or "/" in words[at] else None


def _script(words: list[str], roots: Sequence[str]) -> WorkKind | None:
    """Return the kind of a script that lies in the project."""
    if words[0].removeprefix("./") in ("gradlew", "mvnw"):
        return _work([words[0].removeprefix("./"), *words[1:]], roots)
    known = _fits(Program("changes", bare=False), words, roots)
    return "changes" if known and not any(map(_publishes, words)) else None


def _pip(words: list[str], roots: Sequence[str]) -> WorkKind | None:
    """Return the kind of installing the project itself, or what its own file lists."""
    if words[:1] != ["install"]:
        return None
    rest = [word for word in words[1:] if word not in _PIP_FLAGS]
    asked = 0
    while rest:
        word = rest.pop(0)
        if word in ("-r", "--requirement", "-c", "--constraint"):
            listed = rest.pop(0) if rest else "/"
            asked += _is_inside(listed, roots) and listed.endswith((".txt", ".in"))
            if not asked:
                return None
        elif word not in ("-e", "--editable"):
            if not _own_package.match(word):
                return None
            asked += 1
    return "changes" if asked else None


def _packages(words: list[str], roots: Sequence[str]) -> WorkKind | None:
    """Return the kind of a task of the project, or of installing what its own file lists."""
    if words[:1] in (["ci"], ["install"], ["i"]) or not words:
        plain = {"--frozen-lockfile", "--ignore-scripts", "--no-audit", "--immutable"}
        return "changes" if plain.issuperset(words[1:]) else None
    named = words[1:] if words[0] in ("run", "run-script") else words
    return "changes" if named and _fits(Program("changes", targets=True), named, roots) else None


def _fits(program: Program, words: list[str], roots: Sequence[str]) -> bool:
    operands = _operands(program, words, roots)
    if operands is None:
        return False
    if program.targets:
        return all(map(_is_target, operands[:1] if "--" in words else operands))
    if program.first and operands and operands.pop(0) not in program.first:
        return False
    if not (program.bare or operands or program.first):
        return False
    inside = _is_quiet if program.kind == "arranges" else _is_inside
    return all(inside(operand, roots) for operand in operands)


def _operands(program: Program, words: list[str], roots: Sequence[str]) -> list[str] | None:
    """Return the words that are no flags; None where a flag may do more than it seems."""
    operands = []
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("-"):
            operands.append(word)
        elif word != "--":
            name, _, value = word.partition("=")
            if name in program.never or not _is_flag(name, value, roots):
                return None
            if name in program.free:
                next(waiting, None)
    return operands


def _is_flag(name: str, value: str, roots: Sequence[str]) -> bool:
    return _flag_name.match(name) is not None and (not value or _is_inside(value, roots))


def _is_target(word: str) -> bool:
    named = re.split(r"[-_:]", word)
    return named[0] in TARGETS and not _publishes(word)


def _publishes(word: str) -> bool:
    return not _PUBLISHES.isdisjoint(_token.findall(word.lower()))


def _is_inside(text: str | None, roots: Sequence[str]) -> bool:
    """Return whether a word names something in the project."""
    if not text or text.startswith(("~", "-", "@")) or "://" in text or "$" in text:
        return False
    if any(sign.isspace() for sign in text) or ".." in posixpath.normpath(text).split("/"):
        return False
    return not text.startswith("/") or below(posixpath.normpath(text), tuple(roots))


def _is_quiet(text: str, roots: Sequence[str]) -> bool:
    """Return whether a word names something in the project that nothing runs by itself."""
    return _is_inside(text, roots) and not runs_by_itself(text, roots)
