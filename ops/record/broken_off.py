"""Where a backup began is noted until it has ended: one that was broken off has content, too.

The ledger knows a backup only once it is whole, and it may lie anywhere.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pmcl.bus import write_private
from pmcl.contracts import sha256
from pmcl.ops.record.backup_place import is_untold, left_beside

__all__ = ["broken_off", "noting"]

_NOTES: Final = "backups-begun"


@contextmanager
def noting(state_dir: Path, place: Path) -> Iterator[None]:
    """It is noted that a backup to the place began, for as long as it is not whole and told."""
    folder = state_dir / _NOTES
    folder.mkdir(mode=0o700, exist_ok=True)
    note = folder / sha256(str(place).encode())
    write_private(note, str(place).encode())
    try:
        yield
    finally:
        if not _unfinished(place):
            note.unlink(missing_ok=True)


def broken_off(state_dir: Path) -> list[Path]:
    """Return the folders of backups that the ledger was not told of, those being made as well."""
    notes = sorted((state_dir / _NOTES).glob("*"))
    places = [Path(note.read_text()) for note in notes if not note.name.startswith(".")]
    return [folder for place in places for folder in _unfinished(place)]


def _unfinished(place: Path) -> list[Path]:
    return [*left_beside(place), *([place] if is_untold(place) else [])]
