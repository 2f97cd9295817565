"""In which folder a command of a script runs, as the script spells it."""

import posixpath
from collections.abc import Sequence
from typing import Final

__all__ = ["CHANGES_FOLDER", "OWN_FOLDER", "changed_folder", "folder_of"]

CHANGES_FOLDER: Final = frozenset({"cd", "pushd"})
OWN_FOLDER: Final = frozenset({"command_substitution", "process_substitution", "subshell"})
"""A `cd` inside of these ends with them."""
_FLAGS: Final = ("-C", "--chdir", "--directory", "--work-tree")


def changed_folder(rest: Sequence[str | None], folder: str | None) -> str | None:
    """Return where `cd` and what follows it lead; `None` when nobody can say."""
    given = [text for text in rest if text is None or text == "-" or not text.startswith("-")]
    target = given[0] if len(given) == 1 else "~" if not given else None
    if target is None or target == "-":
        return None
    if target.startswith(("/", "~")):
        return target
    return None if folder is None else posixpath.join(folder, target)


def folder_of(rest: Sequence[str], folder: str | None) -> str:
    """Return where a command looks its operands up: behind `-C`, else where it runs.

    Nothing is returned for where the script begins, or when nobody can say.
    """
    for at, word in enumerate(rest):
        flag, _, joined = word.partition("=")
        if flag in _FLAGS:
            given = joined or "".join(rest[at + 1 : at + 2])
            return posixpath.join(folder or "", given)
    return folder or ""
