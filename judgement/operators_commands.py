"""Which commands are the operator's: their decisions, their files, and what ends the sidecar.

A word that only running the shell would tell counts as the one that decides. Source: SPEC A5, A6.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from pmcl.judgement.effects import Ran, Run, words_inspect
from pmcl.judgement.operators_files import OperatorsFiles, holds_hook
from pmcl.judgement.operators_own import (
    BYPASSES,
    DECISIONS,
    MODULES,
    MOVED_BY,
    STOPS,
)
from pmcl.judgement.operators_patterns import stands_for_process
from pmcl.judgement.operators_reach import COPIES, reaches
from pmcl.judgement.word_set import word_set

__all__ = ["runs_operators_own"]

_HARMLESS: Final = word_set("--dry-run --help -h")
_SEARCHES: Final = word_set("awk cat egrep grep jq lsof pgrep pidof ps sed ss")
_BY_PATTERN: Final = word_set("killall pgrep pkill")
"""Commands that are told of processes by a pattern of their names."""
_OF_USERS: Final = word_set("-u -U --euid --uid --user")
_TELLING_MIN: Final = 3
_unknown = re.compile(r"[$*?\[`{]")
_sidecar = re.compile(r"(?<![\w-])(?:pmcl|nats-server)(?![\w-])")
_own_code = re.compile(r"\bpmcl\.(?:ops|v1\.ops)\b")
_own_program = re.compile(r"/bin/pmcl$|(?:which|command -v|type -p) pmcl\b")
_path = re.compile(r"[\w./~*-]{4,}")
_program = re.compile(r"(?:\A|/bin/)pmcl(?:\.ops(?:\.cli)?)?\Z")
_subject = re.compile(r"pmcl\.(?:v\d|[*>$`?{])")
_named = re.compile(r"\w")


def runs_operators_own(ran: Ran, files: OperatorsFiles) -> bool:
    """Return whether a script runs what is the operator's, or reaches for their files."""
    if any(map(files.hold, (*ran.written, *ran.read))) or any(map(holds_hook, ran.written)):
        return True
    if any(_is_own_program(text, files) for text in ran.programs):
        return True
    return any(
        _decides(run)
        or _carries(run)
        or _stops(run, ran)
        or _bypasses(run, ran)
        or _renames(run)
        or reaches(run, files)
        for run in ran.runs
    )


def _is_own_program(text: str, files: OperatorsFiles) -> bool:
    """Return whether a program uses the package's own code for operators, or names their files."""
    if _own_code.search(text) is not None:
        return True
    paths = _path.findall(text)
    return any(files.hold(path) or files.lie_in(path) or holds_hook(path) for path in paths)


def _decides(run: Run) -> bool:
    if run.name == "nats":
        return any(map(_subject.match, run.rest))
    flags = takewhile(lambda word: word != "--", run.rest)
    if run.name not in MODULES or not _HARMLESS.isdisjoint(flags):
        return False
    operands = [*_operands(run.rest), "", ""]
    first, second = operands[0], operands[1]
    if _unknown.search(first) is not None:
        return True
    verbs = DECISIONS.get(first)
    if verbs is None:
        return False
    return not verbs or _unknown.search(second) is not None or not verbs.isdisjoint(operands[1:4])


def _carries(run: Run) -> bool:
    """Return whether a command that may run another one has one that decides among its words."""
    if run.name in MODULES or words_inspect([run.name, *run.rest]):
        return False
    begins = [at for at, word in enumerate(run.rest) if _program.search(word) is not None]
    return any(_decides(Run("pmcl", run.rest[at + 1 :])) for at in begins)


def _operands(words: Sequence[str]) -> Iterator[str]:
    skipped = False
    for word in words:
        if not skipped and not word.startswith("-"):
            yield word
        skipped = word == "--state-dir"


def _stops(run: Run, ran: Ran) -> bool:
    """Return whether a command ends the sidecar or its server, or takes the package away."""
    verbs = STOPS.get(run.name)
    if verbs is None or (verbs and verbs.isdisjoint(run.rest)):
        return False
    if not verbs and _ends_all(run):
        return True
    found = [other for other in ran.runs if other.name in _SEARCHES]  # `pgrep pmcl | xargs kill`
    named = (run, *found) if not verbs else (run,)
    return any(_names_sidecar(each, word) for each in named for word in each.rest)


def _ends_all(run: Run) -> bool:
    """Return whether every process ends, or every one of a user."""
    if run.name == "kill":
        return run.rest[1:] != () and run.rest[-1] == "-1"
    by_user = not _OF_USERS.isdisjoint(run.rest)
    return by_user and sum(not word.startswith("-") for word in run.rest) == 1


def _names_sidecar(run: Run, word: str) -> bool:
    """Return whether a word names the sidecar or its server, by a pattern where that is one."""
    if _sidecar.search(word) is not None:
        return True
    if word.startswith("-"):
        return False
    if run.name in _BY_PATTERN:
        return stands_for_process(word, whole=run.name == "killall" and "-r" not in run.rest)
    telling = len(_named.findall(word)) >= _TELLING_MIN
    return run.name in ("egrep", "grep") and telling and stands_for_process(word)


def _bypasses(run: Run, ran: Ran) -> bool:
    """Return whether another agent is started that asks nobody, or has no hook."""
    marks = BYPASSES.get(run.name)
    if marks is None:
        return False
    given = {part for word in run.rest if not _has_blanks(word) for part in word.split("=")}
    return not marks.isdisjoint(given) or not MOVED_BY.isdisjoint(ran.sets)


def _renames(run: Run) -> bool:
    """Return whether the program gets another name, under which nobody knows it."""
    return run.name in COPIES and any(_own_program.search(word) for word in run.rest)


def _has_blanks(text: str) -> bool:
    return any(map(str.isspace, text))
