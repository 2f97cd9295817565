"""A path is named by where it leads, not by how it is spelled; leaves need not exist yet.

Only the host's adapter sees the file system, so only it can resolve; the sidecar compares.
Source: SPEC C3.
"""

import os
from pathlib import Path

from pmcl.hosts.errors import PathError

__all__ = ["resolve_path"]


def resolve_path(path: str | Path, cwd: Path) -> str:
    """Return the absolute path that `path` leads to, every symbolic link on the way followed.

    What does not exist yet is kept as it is spelled, below the resolved folder that does: the leaf
    `/project/link/new.txt` of a link to `/etc` is `/etc/new.txt`. A link whose target does not
    exist leads there all the same. Another process can change a link between this and the use of
    the path: open what was resolved, and not what was given.

    Args:
        path: as the tool will get it; `~` is not expanded, since tools get it from a shell.
        cwd: the absolute folder that the tool will run in; relative paths start there.

    Raises:
        PathError: NUL in the path, links that run in a circle, a folder that may not be read, or a
            `cwd` that is not absolute.
    """
    if not cwd.is_absolute():
        raise PathError(str(cwd), "an absolute folder to start from")
    try:
        resolved = os.path.realpath(cwd / path)
        if not _is_whole(resolved):
            raise PathError(str(path), "a link was changed meanwhile")
    except (OSError, ValueError) as error:
        raise PathError(str(path), type(error).__name__) from error
    return resolved


def _is_whole(resolved: str) -> bool:
    """Look again: the lenient look passes over circles and closed folders, this one raises."""
    try:
        return os.path.realpath(resolved, strict=True) == resolved
    except FileNotFoundError:
        return True
