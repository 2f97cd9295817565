"""One command that a script runs, and what it is called."""

import posixpath
import re
import shlex
from collections.abc import Sequence

import msgspec

from pmcl.judgement.effects.folders import folder_of

__all__ = ["Ran", "Run", "has_blanks", "module_of", "program_name", "run_of", "words_in"]

_lookup = re.compile(r"[\"']?(?:\$\(|`)\s*(?:which|command -v|type -p)\s+([\w./-]+)\s*[)`][\"']?")
_module_flag = re.compile(r"-[A-VYZabd-ln-z]*m(.*)", re.DOTALL)
_version = re.compile(r"(?<=[a-z])[\d.]+$|\.exe$")


class Run(msgspec.Struct, frozen=True):
    """One command; what a shell would put into a word stays in it as it is written.

    Attributes:
        name: without folder, ending and version.
        rest: the words behind it.
        path: the name as it is spelled.
        guessed: it stands among the words of another command, and may be none.
        folder: where its operands lie, as the script spells it; empty for where that begins.
    """

    name: str
    rest: tuple[str, ...] = ()
    path: str = ""
    guessed: bool = False
    folder: str = ""


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


def run_of(words: Sequence[str], folder: str | None, *, guessed: bool = False) -> Run:
    """Return the command of some words that runs in a folder; `None` when nobody can say where."""
    rest = tuple(words[1:])
    return Run(program_name(words[0]), rest, words[0], guessed, folder_of(rest, folder))


def program_name(word: str) -> str:
    """Return the name of a program, which `/bin/python3.12` and `$(which python)` have too."""
    found = _lookup.fullmatch(word)
    name = posixpath.basename(found[1] if found is not None else word).lower()
    return _version.sub("", name) or name


def module_of(words: Sequence[str]) -> list[str]:
    """Return the module that `-m` runs, also in a bundle of flags, and what it is given."""
    for at, word in enumerate(words):
        if word == "-c":  # all else is the program's
            break
        if found := _module_flag.fullmatch(word):
            return [*filter(None, [found[1]]), *words[at + 1 :]]
    return []


def words_in(text: str) -> list[str]:
    """Return the words of a text as a shell parts them, at blanks where it cannot."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def has_blanks(text: str) -> bool:
    """Return whether a text is more than one word."""
    return any(map(str.isspace, text))
