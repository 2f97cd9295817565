"""Scripts that one command hands on to another: what it prints, and what stands among its words.

What is no shell's own syntax is brought near to it: a makefile's recipes, `!` of git and editors.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from pmcl.judgement.effects.programs import spelled
from pmcl.judgement.effects.shell import command_nodes, walk
from pmcl.judgement.word_set import word_set

__all__ = ["aliases_in", "escapes_in", "powershell_of", "recipes_of", "said", "templates_of"]

_SPEAKERS: Final = word_set("echo printf")
_BREAKS: Final = {"\\n": "\n", "\\t": "\t"}
_POWERSHELLS: Final = word_set("cmd powershell pwsh")
_ESCAPING: Final = word_set("ed ex gdb lldb nvim sed vi vim")
_escape = re.compile(r"(?:!|\bshell |(?:\b|\d)e )(.+)")
_target = re.compile(r"(?m)^[^\s#=][^#=\n]*?:(?!=)[^;\n]*;?")
_recipe = re.compile(r"(?m)^\s*[@+-]*")


def said(stage: Node) -> Iterator[str]:
    """Yield what the commands of a pipeline's stage print that only print."""
    for node in walk(stage):
        if node.type == "command":
            words = [spelled(each) for each in command_nodes(node)]
            if words and words[0] in _SPEAKERS:
                yield from (_printed(text) for text in words[1:] if not text.startswith("-"))


def _printed(text: str) -> str:
    for sign, printed in _BREAKS.items():
        text = text.replace(sign, printed)
    return text


def recipes_of(makefile: str) -> str:
    """Return what a makefile runs."""
    return _recipe.sub("", _target.sub("", makefile))


def aliases_in(words: Sequence[str]) -> Iterator[str]:
    """Yield the commands of aliases: `git config alias.x '!command'`, `git -c alias.x=!command`."""
    for word in words:
        value = word.partition("=")[2] if word.startswith("alias.") else word
        if value.startswith("!"):
            yield value[1:]


def escapes_in(name: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the shell's commands in those of an editor or a debugger: `vim -c ':!command'`."""
    if name in _ESCAPING:
        found = map(_escape.search, words)
        yield from (each[1] for each in found if each is not None)


def powershell_of(name: str, words: Sequence[str]) -> str:
    """Return the script behind `-Command` or `/c`, nothing where there is none."""
    for at, word in enumerate(words):
        flag = word.lower()
        if name in _POWERSHELLS and flag != "-" and ("-command".startswith(flag) or flag == "/c"):
            return " ".join(words[at + 1 :])
    return ""


def templates_of(name: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the command that `parallel` makes of its template and its arguments."""
    if name == "parallel" and ":::" in words:
        at = words.index(":::")
        given = [word for word in words[at:] if not word.startswith(":::")]
        template = [word for word in words[:at] if word != "{}" and not word.startswith("-")]
        yield " ".join([*template, *given])
