"""The folder of a backup is whole or absent, and a backup only once the ledger knows of it.

A process that is killed leaves a folder beside the place, or one in its place that is marked as
untold: the next backup to the same place takes both away.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ulid_transform import ulid_now

from pmcl.contracts import LedgerError
from pmcl.ops.record.files import sync_folder, write_new
from pmcl.ops.record.verify_backup import KEY, LEDGER, MANIFEST

__all__ = ["fresh_place", "is_untold", "left_beside", "note_told"]

_UNTOLD: Final = "untold"
_FILES: Final = (LEDGER, f"{LEDGER}-journal", KEY, MANIFEST, _UNTOLD)


@contextmanager
def fresh_place(place: Path) -> Iterator[Path]:
    """Yield a folder that becomes `place`, untold, when the block has succeeded; else it is gone.

    Raises:
        LedgerError: something else is there.
        OSError: it cannot be made or written; it names the place.
    """
    if place.exists() and not is_untold(place) and not _is_empty(place):
        raise LedgerError(f"{place}: it is there already and not an empty folder")
    _remove_left(place)
    folder = place.with_name(f".{place.name}.{ulid_now()}")
    try:
        folder.mkdir(mode=0o700, parents=True)
        with _held(folder):
            yield folder
            write_new(folder / _UNTOLD, b"")
            if place.exists():
                _remove(place)
            folder.rename(place)
            sync_folder(place.parent)
    except BaseException as error:
        if folder.exists():
            _remove(folder)
        if isinstance(error, OSError) and _is_in(folder, error.filename):
            raise OSError(error.errno, error.strerror, str(place)) from error
        raise


def _is_in(folder: Path, name: object) -> bool:
    """Return whether an error's file is the folder, or in it; nobody has asked for that one."""
    return isinstance(name, str | Path) and Path(name).is_relative_to(folder)


def is_untold(place: Path) -> bool:
    """Return whether a backup is there of which the ledger was not told."""
    return (place / _UNTOLD).is_file()


def left_beside(place: Path) -> list[Path]:
    """Return the folders beside the place in which a backup to it is made, or was being made."""
    named = re.compile(rf"\.{re.escape(place.name)}\.[0-9A-Z]{{26}}")
    beside = sorted(place.parent.glob(".*")) if place.parent.is_dir() else []
    return [folder for folder in beside if named.fullmatch(folder.name) and folder.is_dir()]


def note_told(place: Path) -> None:
    """The ledger knows of the backup that is there."""
    (place / _UNTOLD).unlink()
    sync_folder(place)


def _is_empty(place: Path) -> bool:
    return place.is_dir() and not any(place.iterdir())


def _remove_left(place: Path) -> None:
    """Remove what processes that are gone have left beside the place."""
    for folder in left_beside(place):
        try:
            with _held(folder):
                _remove(folder)
        except BlockingIOError:
            continue  # its process lives


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the folder until the block or the process ends; raises `BlockingIOError` if it is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    folder.rmdir()
