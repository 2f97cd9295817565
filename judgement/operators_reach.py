"""Which commands reach for the operator's files, by what they read, change, copy or find.

Words are looked up where the command runs, so that a `cd` hides nothing. Source: SPEC A5.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Final

from pmcl.judgement.effects import Run, words_inspect, written_by
from pmcl.judgement.operators_files import OperatorsFiles, holds_hook
from pmcl.judgement.operators_own import HOOK_FOLDERS
from pmcl.judgement.operators_patterns import fits_any, found_names, spread
from pmcl.judgement.word_set import word_set

__all__ = ["COPIES", "reaches"]

COPIES: Final = word_set("cp install ln mv rsync scp")
_LISTS: Final = word_set("[ df du echo ls mkdir pmcl stat test tree")
"""Commands that tell of the state folder no more than what is there."""
_REMOVES: Final = word_set("chgrp chmod chown mv rm rmdir shred unlink")
_TAKES_ALL: Final = word_set(
    "7z 7za borg bsdtar cp cpio ditto docker ln nerdctl pax podman rclone restic rsync scp tar zip"
)
"""Commands that take a folder with all that is in it."""
_CONTAINERS: Final = word_set("docker nerdctl podman")
_ACTS: Final = word_set("-delete -exec -execdir -fls -fprint -fprintf -ok -okdir")
_GIT_KEEPS: Final = word_set("add blame commit diff log show status")
_FOLDER_FLAGS: Final = word_set("-C --chdir --directory --exclude")
_joined = re.compile(r"[=:@]")


def reaches(run: Run, files: OperatorsFiles) -> bool:
    """Return whether a command reads or changes what is the operator's, or may."""
    if run.name == "find" and not _ACTS.isdisjoint(run.rest):
        return _finds(run, files)
    return any(
        _reaches(run, word, path, files) or (takes_all and files.lie_below(path))
        for at, word in enumerate(run.rest)
        if not any(map(str.isspace, word))
        for takes_all in (_takes_all(run, word) and not _is_folder(run, at),)
        for path in _paths(run, word)
    )


def _is_folder(run: Run, at: int) -> bool:
    """Return whether a word only says where others are looked up."""
    return at > 0 and run.rest[at - 1] in _FOLDER_FLAGS and run.name != "cd"


def _paths(run: Run, word: str) -> Iterator[str]:
    """Yield the paths that a word may be, from where the script begins."""
    for each in spread(word):
        for path in dict.fromkeys((each, *_joined.split(each))):
            yield path
            if run.folder and path and not path.startswith(("/", "~", "$", "-")):
                yield posixpath.join(run.folder, path)


def _reaches(run: Run, word: str, path: str, files: OperatorsFiles) -> bool:
    if files.hold(path) or (run.name not in _LISTS and files.lie_in(path)):
        return True
    if holds_hook(path) and _changes(run, word):
        return True
    gone = run.name in _REMOVES and path and not _is_target(run, word)
    name = posixpath.basename(path.rstrip("/"))
    return bool(gone) and (fits_any(name, HOOK_FOLDERS) or files.lie_below(path))


def _takes_all(run: Run, word: str) -> bool:
    """Return whether a command takes what lies in a folder that it names: to copy it elsewhere."""
    if run.name not in _TAKES_ALL or (run.name in COPIES and word == run.rest[-1]):
        return False
    return run.name not in _CONTAINERS or ":" in word or "=" in word


def _is_target(run: Run, word: str) -> bool:
    """Return whether a word is where something is moved to."""
    return run.name == "mv" and word == run.rest[-1]


def _changes(run: Run, word: str) -> bool:
    """Return whether a command may change a file that it names."""
    if run.name in COPIES:
        return word in written_by(run.name, run.rest)
    if run.name == "git":
        kept = [word for word in run.rest if not word.startswith("-")]
        return _GIT_KEEPS.isdisjoint(kept[:3])
    return not words_inspect([run.name, *run.rest])


def _finds(run: Run, files: OperatorsFiles) -> bool:
    """Return whether `find` does something with the operator's files, or may find them."""
    at = next((at for at, word in enumerate(run.rest) if word.startswith("-")), len(run.rest))
    for root in run.rest[:at] or (".",):
        path = root if root.startswith(("/", "~")) else posixpath.join(run.folder, root)
        name = posixpath.basename(path.rstrip("/"))
        named = found_names(run.rest, name)
        above = files.lie_in(path) or files.lie_below(path) or files.hold(path)
        if named or (named is None and (above or fits_any(name, HOOK_FOLDERS))):
            return _acts(run)
    return False


def _acts(run: Run) -> bool:
    """Return whether what `find` does with a file is more than to tell of it."""
    at = next((at for at, word in enumerate(run.rest) if word in ("-exec", "-execdir")), None)
    return at is None or "-delete" in run.rest or not _only_lists([*run.rest[at + 1 :]])


def _only_lists(words: list[str]) -> bool:
    return words[:1] == ["grep"] or words[:1] == ["ls"]
