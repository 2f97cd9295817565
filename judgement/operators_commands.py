"""Which commands are the operator's: their decisions, their files, and what ends the sidecar.

A word that only running the shell would tell counts as the one that decides. Source: SPEC A5, A6.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from pmcl.judgement.effects import Ran, Run, words_inspect, written_by
from pmcl.judgement.operators_files import OperatorsFiles, holds_hook
from pmcl.judgement.operators_own import (
    BYPASSES,
    DECISIONS,
    HOOK_FOLDERS,
    MODULES,
    MOVED_BY,
    STOPS,
)
from pmcl.judgement.word_set import word_set

__all__ = ["runs_operators_own"]

_HARMLESS: Final = word_set("--dry-run --help -h")
_LISTS: Final = word_set("[ df du echo ls mkdir pmcl stat test tree")
"""Commands that tell of the state folder no more than what is there."""
_REMOVES: Final = word_set("chgrp chmod chown mv rm rmdir shred unlink")
_COPIES: Final = word_set("cp install ln mv rsync scp")
_SEARCHES: Final = word_set("awk cat egrep grep jq lsof pgrep pidof ps sed ss")
_GIT_KEEPS: Final = word_set("add blame commit diff log show status")
_unknown = re.compile(r"[$*?\[`{]")
_sidecar = re.compile(r"(?<![\w-])(?:pmcl|nats-server)(?![\w-])")
_own_code = re.compile(r"\bpmcl\.(?:ops|v1\.ops)\b")
_own_program = re.compile(r"/bin/pmcl$|(?:which|command -v|type -p) pmcl\b")
_path = re.compile(r"[\w./~*-]{4,}")
_joined = re.compile(r"[=:@]")


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
        or any(_reaches(run, word, files) for word in run.rest)
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
        return any(word.startswith("pmcl.") for word in run.rest)
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
    begins = [at for at, word in enumerate(run.rest) if word in MODULES]
    return any(_decides(Run(run.rest[at], run.rest[at + 1 :])) for at in begins)


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
    found = [other for other in ran.runs if other.name in _SEARCHES]  # `pgrep pmcl | xargs kill`
    named = (run, *found) if not verbs else (run,)
    return any(_sidecar.search(word) is not None for each in named for word in each.rest)


def _bypasses(run: Run, ran: Ran) -> bool:
    """Return whether another agent is started that asks nobody, or has no hook."""
    marks = BYPASSES.get(run.name)
    if marks is None:
        return False
    given = {part for word in run.rest if not _has_blanks(word) for part in word.split("=")}
    return not marks.isdisjoint(given) or not MOVED_BY.isdisjoint(ran.sets)


def _renames(run: Run) -> bool:
    """Return whether the program gets another name, under which nobody knows it."""
    return run.name in _COPIES and any(_own_program.search(word) for word in run.rest)


def _reaches(run: Run, word: str, files: OperatorsFiles) -> bool:
    """Return whether a word of a command is one of the operator's files, or leads to them."""
    if _has_blanks(word):
        return False
    for path in dict.fromkeys((word, *_joined.split(word))):
        if files.hold(path) or (run.name not in _LISTS and files.lie_in(path)):
            return True
        if holds_hook(path) and _changes(run, word):
            return True
        gone = run.name in _REMOVES and path and not _is_target(run, word)
        if gone and (posixpath.basename(path.rstrip("/")) in HOOK_FOLDERS or files.lie_below(path)):
            return True
    return False


def _is_target(run: Run, word: str) -> bool:
    """Return whether a word is where something is moved to."""
    return run.name == "mv" and word == run.rest[-1]


def _changes(run: Run, word: str) -> bool:
    """Return whether a command may change a file that it names."""
    if run.name in _COPIES:
        return word in written_by(run.name, run.rest)
    if run.name == "git":
        return _GIT_KEEPS.isdisjoint(run.rest[:3])
    return not words_inspect([run.name, *run.rest])


def _has_blanks(text: str) -> bool:
    return any(map(str.isspace, text))
