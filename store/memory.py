"""What the file holds, as its one writer left it: known without a statement.

Nothing in here differs from the file. Only units of the file's only writing connection remember,
each what it has just read or written, and all is forgotten whenever a change of one is undone.
"""

from typing import Any, Final

__all__ = ["Memory"]

_ENTRIES_MAX: Final = 4096
_missing: Final = object()


class Memory:
    """Facts by key, at most 4,096; one more makes it start anew."""

    __slots__ = ("_facts",)

    missing: Final = _missing
    """What `get` returns for a key that is not known; a known fact may be None."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, ...], Any] = {}

    def __len__(self) -> int:
        return len(self._facts)

    def get(self, key: tuple[str, ...]) -> Any:
        """Return the fact, or `missing`."""
        return self._facts.get(key, _missing)

    def put(self, key: tuple[str, ...], fact: Any) -> None:
        """Remember an immutable fact."""
        if len(self._facts) >= _ENTRIES_MAX:
            self._facts.clear()
        self._facts[key] = fact

    def drop(self, key: tuple[str, ...]) -> None:
        """Know nothing of the key any more."""
        self._facts.pop(key, None)

    def clear(self) -> None:
        """Know nothing any more."""
        self._facts.clear()
