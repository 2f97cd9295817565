"""Which names a pattern may stand for: of files in a shell or of `find`, of processes for `pkill`.

Nothing is looked up: what a pattern may stand for by its form counts.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice, pairwise
from typing import Final

from pmcl.judgement.operators_own import HOOK_FOLDERS, HOOK_SETTINGS, KEYS, STATE
from pmcl.judgement.word_set import word_set

__all__ = ["fits_any", "found_names", "spread", "stands_for_process"]

_SPREAD_MAX: Final = 16
_PATTERN_MAX_CHARS: Final = 256
_PROCESSES: Final = ("pmcl", "nats-server", "pmcl up")
"""What the sidecar and its server are called, and how the sidecar is started."""
_NAMED_BY: Final = word_set("-iname -name")
_PLACED_BY: Final = word_set("-ipath -iregex -iwholename -path -regex -wholename")
_SETTINGS: Final = frozenset(path.rpartition("/")[2] for path in HOOK_SETTINGS)
_braces = re.compile(r"\{([^{}]*,[^{}]*)\}")


def spread(word: str) -> Iterator[str]:
    """Yield the words that a shell makes of one with braces, bounded."""
    yield from islice(_spread(word), _SPREAD_MAX)


def _spread(word: str) -> Iterator[str]:
    found = _braces.search(word)
    if found is None:
        yield word
        return
    for each in found[1].split(","):
        yield from _spread(word[: found.start()] + each + word[found.end() :])


def fits_any(pattern: str, names: Collection[str]) -> bool:
    """Return whether a part of a path is one of the names, or a shell's pattern for one.

    A pattern stands for a name with a dot in front only where it has one itself.
    """
    if pattern in names:
        return True
    return any(
        fnmatchcase(name, pattern) and (name[:1] != "." or pattern[:1] == ".") for name in names
    )


def found_names(words: Sequence[str], folder: str) -> bool | None:
    """Return whether `find` may find settings with a hook or keys by the patterns of its words.

    `None` where it has no pattern. `folder` is where it looks.
    """
    pairs = [*pairwise(words)]
    names = [pattern for flag, pattern in pairs if flag in _NAMED_BY]
    places = [pattern.lower() for flag, pattern in pairs if flag in _PLACED_BY]
    if not names and not places:
        return None
    below = names if fits_any(folder, HOOK_FOLDERS) else [name for name in names if name != "*"]
    own = (*_SETTINGS, *HOOK_FOLDERS, *KEYS, *STATE)
    named = any(fnmatchcase(one, name.lower()) for name in below for one in own)
    placed = any(one.strip(".") in place for place in places for one in (*HOOK_FOLDERS, "pmcl"))
    return placed if places else named


def stands_for_process(pattern: str, *, whole: bool = False) -> bool:
    """Return whether a regular expression may stand for the sidecar or its server."""
    if whole:
        return pattern in _PROCESSES
    if len(pattern) > _PATTERN_MAX_CHARS:
        return True
    try:
        found = re.compile(pattern)
    except re.error:
        return any(name in pattern for name in _PROCESSES)
    return any(found.search(name) is not None for name in _PROCESSES)
