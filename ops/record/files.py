"""Files that are whole or absent: written beside their place, synced, renamed there."""

import hashlib
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

__all__ = [
    "SIDE_FILES",
    "copy_private",
    "digest_of",
    "set_aside",
    "stamp",
    "sync_folder",
    "write_new",
]

SIDE_FILES: Final = ("", "-wal", "-shm")
"""What SQLite keeps of one ledger: the file itself and those beside it."""

_CHUNK_BYTES: Final = 1024 * 1024


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_private(source: Path, target: Path) -> None:
    """The target is a copy, mode 0600, on disk; an older one is replaced."""
    beside = target.with_name(f".{target.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with source.open("rb") as reading, os.fdopen(descriptor, "wb") as writing:
        shutil.copyfileobj(reading, writing, _CHUNK_BYTES)
        writing.flush()
        os.fsync(writing.fileno())
    beside.replace(target)
    sync_folder(target.parent)


def write_new(path: Path, data: bytes) -> None:
    """The file is there, mode 0600, on disk; it was not there before."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def stamp() -> str:
    """Return the time, as it stands in the names of files that are set aside."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03d}Z"


def set_aside(path: Path, stamp: str) -> Path | None:
    """Return where the file lies now: beside its place, with the stamp in its name.

    What SQLite keeps beside it goes along, also where an earlier call was cut off. None when it was
    not there.
    """
    aside = path.with_name(f"{path.stem}.{stamp}{path.suffix}")
    for suffix in SIDE_FILES:  # the file itself first: nobody opens what is beside it alone
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    sync_folder(path.parent)
    return aside if aside.exists() else None


def sync_folder(path: Path) -> None:
    """What was renamed in the folder is so after a power cut as well."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
