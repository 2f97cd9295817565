"""Which paths are the operator's, also under a pattern or from home.

Nothing is resolved here: an adapter resolves what a call names, and a command's words are compared
as they are written. Source: SPEC A5.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

import msgspec

from pmcl.judgement.operators_own import HOOK_SETTINGS, KEYS, STATE
from pmcl.judgement.operators_patterns import fits_any

__all__ = ["OperatorsFiles", "holds_hook", "spellings_of"]

_unknown = re.compile(r"[$*?\[`{]")
_user_home = re.compile(r"\A~[\w.-]+")
_variable = re.compile(r"\A\$\{(\w+)(?::?[-=][^}]*)?\}")


class OperatorsFiles(msgspec.Struct, frozen=True):
    """Where the files of the sidecar and of the asking host lie.

    Attributes:
        folders: the state folder, in each way to spell it; none where nobody told.
        host: `scope.host`, as the host's own files are called.
    """

    folders: tuple[str, ...] = ()
    host: str = ""

    def hold(self, path: str) -> bool:
        """Return whether a path is one of the operator's, or may be by its pattern."""
        parts = _parts(path)
        if parts and (parts[-1] in KEYS or self._is_of_host(parts[-1])):
            return True
        return any(
            len(parts) > len(state)
            and _fits(state, parts)
            and (_unknown.search(parts[len(state)]) is not None or parts[len(state)] in STATE)
            for state in map(_parts, self.folders)
        )

    def lie_in(self, path: str) -> bool:
        """Return whether a path is the state folder itself."""
        parts = _parts(path)
        return any(len(parts) == len(state) and _fits(state, parts) for state in self._folders())

    def lie_below(self, path: str) -> bool:
        """Return whether the state folder lies somewhere below a path, or is it."""
        parts = _parts(path)
        rooted = path.startswith(("/", "~", "$XDG"))
        return rooted and any(
            len(parts) <= len(state) and _fits(state, parts) for state in self._folders()
        )

    def _folders(self) -> list[tuple[str, ...]]:
        return [*map(_parts, self.folders)]

    def _is_of_host(self, name: str) -> bool:
        stem, _, ending = name.rpartition(".")
        return bool(stem) and stem == self.host and ending in ("json", "sqlite", "toml")


def spellings_of(folders: Iterable[str], home: str) -> tuple[str, ...]:
    """Return how a command may spell absolute folders: as they are, and from the user's home."""
    root = home.rstrip("/") + "/"
    found = [*folders]
    names = [f"$XDG_STATE_HOME/{posixpath.basename(each)}" for each in found]
    found += [f"~/{each.removeprefix(root)}" for each in found if each.startswith(root)] + names
    return tuple(dict.fromkeys(found))


def holds_hook(path: str) -> bool:
    """Return whether a path is an agent's settings, which hold its hook."""
    parts = [part.lower() for part in _parts(path)[-2:]]
    return len(parts) == 2 and any(
        fits_any(parts[0], (folder,)) and fits_any(parts[1], (name,))
        for folder, _, name in (each.partition("/") for each in HOOK_SETTINGS)
    )


@lru_cache(maxsize=1024)
def _parts(path: str) -> tuple[str, ...]:
    path = _variable.sub(r"$\1", _user_home.sub("~", path))
    return tuple(part for part in posixpath.normpath(path).split("/") if part not in ("", "."))


def _fits(known: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether each part is the known one, or a pattern that it fits, as far as both go."""
    return all(map(fnmatchcase, known, parts))
