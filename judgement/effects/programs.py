"""Programs that stand in a command's own words, so that they can be read like the script around.

`sh -c SCRIPT` counts wherever it stands in a command: what is in front of it (`sudo`, `xargs`,
`docker run`) only says where the script runs. What a shell would put in is left as it is written.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from tree_sitter import Node

from pmcl.judgement.effects.shell import command_nodes, command_words, unwrapped, word_of

__all__ = [
    "INTERPRETERS",
    "SHELLS",
    "Program",
    "called_in",
    "is_for_a_shell",
    "literals_in",
    "programs_in",
    "programs_of",
    "spelled",
]

SHELLS: Final = frozenset("ash bash csh dash fish ksh sh zsh".split())
INTERPRETERS: Final = SHELLS | frozenset("node perl php pwsh python python2 python3 ruby".split())
_SCRIPT_FLAGS: Final = {
    **dict.fromkeys(SHELLS, "c"),
    **dict.fromkeys(("flock", "runuser", "script", "su"), "c"),
    "env": "S",
}
_PROGRAM_FLAGS: Final = {
    **dict.fromkeys(("python", "python2", "python3"), "c"),
    "node": "ep",
    "perl": "eE",
    "php": "r",
    "ruby": "e",
}
_JOINS: Final = frozenset({"eval", "ssh", "watch"})
"""What follows them is a script, word by word."""
_ANSI_SIGNS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_ansi_escape = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|.)", re.DOTALL
)
_versioned = re.compile(r"^(node|perl|php|python|ruby)[\d.]+$")
_quoted_escape = re.compile(r"\\([\"\\$`\n])")
_calls = re.compile(
    r"`|%x|exec|passthru|popen|proc_open|pty\.|qx|spawn|subprocess|system", re.IGNORECASE
)
_literal = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`", re.DOTALL)


class Program(msgspec.Struct, frozen=True):
    """One program; of a script the shell's own syntax holds, of others only their literals."""

    text: str
    is_script: bool


def programs_in(command: Node) -> Iterator[Program]:
    """Yield the programs that a command is given as words; "" for a script that is missing."""
    return programs_of([spelled(node) for node in command_nodes(command)])


def programs_of(words: Sequence[str]) -> Iterator[Program]:
    """Yield the programs that stand in the words of a command."""
    named = [text or "" for text in unwrapped([*words])]
    if named and posixpath.basename(named[0]) in _JOINS:
        yield Program(" ".join(named[1:]), is_script=True)
    elif named[:1] == ["trap"]:
        yield Program("".join(named[1:2]), is_script=True)
    scripts: dict[str, list[str | None]] = {}
    seen: set[str] = set()
    for at, word in enumerate(words):
        name = _versioned.sub(r"\1", posixpath.basename(word))
        if name in _SCRIPT_FLAGS:
            flag = _SCRIPT_FLAGS[name]
            if flag not in scripts:
                scripts[flag] = _scripts(words, flag)
            script = scripts[flag][at + 1]
            yield from () if script is None else (Program(script, is_script=True),)
        elif name in _PROGRAM_FLAGS and name not in seen:  # what is behind a second one is too
            seen.add(name)
            texts = _texts(words[at + 1 :], _PROGRAM_FLAGS[name])
            yield from (Program(text, is_script=False) for text in texts)


def literals_in(program: str) -> Iterator[str]:
    """Yield the texts that a program in another language than the shell's holds in quotes."""
    for found in _literal.finditer(program):
        yield next(filter(None, found.groups()), "")


def called_in(program: str) -> Iterator[str]:
    """Yield the texts that a program may run; none where it has no means to run another one."""
    return literals_in(program) if _calls.search(program) is not None else iter(())


def spelled(node: Node) -> str:
    """Return the word as the command gets it, with what a shell would put in as it is written."""
    known = word_of(node).text
    if known is not None:
        return known
    text = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "string":
            return _quoted_escape.sub(lambda found: found[1].strip("\n"), text[1:-1])
        case "ansi_c_string":
            return _ansi_escape.sub(_ansi, text[2:-1])
        case "concatenation":
            return "".join(map(spelled, node.children))
    return text


def _ansi(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        return chr(int(code[1:], 16) % 0x110000)
    return chr(int(code, 8)) if code.isdecimal() else _ANSI_SIGNS.get(code, code)


def is_for_a_shell(node: Node) -> bool:
    """Return whether what a command is fed with is a script: `sh <<END`, `cat <<END | sh`."""
    around = node.parent
    while around is not None and around.type not in ("command", "redirected_statement"):
        around = around.parent
    inner = [] if around is None else [around, *around.named_children]
    behind = [] if node.parent is None else [*node.parent.named_children]
    piped = [each for pipe in behind if pipe.type == "pipeline" for each in pipe.named_children]
    first = [each for each in inner if each.type == "command"][:1]
    return any(_is_shell(each) for each in (*first, *piped) if each.type == "command")


def _is_shell(command: Node) -> bool:
    words = unwrapped([word.text for word in command_words(command)])
    return bool(words) and posixpath.basename(words[0] or "") in SHELLS


def _scripts(words: Sequence[str], flag: str) -> list[str | None]:
    """Return for each place the script behind the first flag from there on that says it is one.

    It is the next word that is no flag, "" where there is none; `None` where no flag says so.
    """
    found: list[str | None] = [None]
    operand = ""
    for at in range(len(words) - 1, -1, -1):
        text, before = words[at], words[at - 1] if at else ""
        is_flag = text[:1] in ("-", "+")
        says = text.startswith("-") and not text.startswith("--") and flag in text
        found.append(operand if says else found[-1])
        is_value = before[:1] in ("-", "+") and before[-1:] in ("O", "o")
        operand = operand if is_flag or is_value else text
    return found[::-1]


def _texts(words: Sequence[str], flags: str) -> Iterator[str]:
    """Yield what follows each of the flags, in the same word or in the next."""
    for at, text in enumerate(words):
        if text in ("--eval", "--print"):
            yield from words[at + 1 : at + 2]
        elif text.startswith("--"):
            yield text.partition("=")[2]
        elif text.startswith("-") and (found := _first_of(flags, text)):
            yield text[found:]
            yield from words[at + 1 : at + 2]


def _first_of(flags: str, text: str) -> int:
    """Return where what follows the first of the flags begins; 0 where there is none."""
    return next((at for at, sign in enumerate(text, 1) if sign in flags), 0)
