"""A backup is believed when its files have the manifest's hashes and its chain ends as it says."""

from pathlib import Path
from typing import Final

import anyio.to_thread

from pmcl.contracts import BackupFile, BackupManifest, LedgerError, RefusedError, decode
from pmcl.ops.progress import progress
from pmcl.ops.record.files import digest_of
from pmcl.outbox import journal
from pmcl.outbox.journal import GENESIS, Chain, Head
from pmcl.store import Reader, open_reader

__all__ = ["KEY", "LEDGER", "MANIFEST", "BadBackupError", "file_of", "verify_backup"]

LEDGER: Final = "ledger.sqlite"
KEY: Final = "ledger.key"
MANIFEST: Final = "manifest.json"


class BadBackupError(LedgerError):
    """The folder is no backup, or not whole."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def file_of(path: Path) -> BackupFile:
    """Return what a manifest says of a file."""
    return BackupFile(sha256=digest_of(path), bytes=path.stat().st_size)


async def verify_backup(folder: Path, *, quiet: bool = True) -> BackupManifest:
    """Return the manifest of a backup that holds what it says.

    Raises:
        BadBackupError: it does not; the first fault is named.
        LedgerError: its ledger cannot be read.
    """
    manifest = await anyio.to_thread.run_sync(_files_as_told, folder)
    path = folder / LEDGER
    async with open_reader(path) as reader:
        (row,) = await reader.all("PRAGMA integrity_check(1)")
        if row[0] != "ok":
            raise BadBackupError(path, "SQLite finds it damaged")
        head = await _walk(reader, path, manifest.sequence, quiet=quiet)
    if head != Head(manifest.sequence, manifest.hash):
        raise BadBackupError(path, f"its journal ends at row {head.sequence}, not as told")
    return manifest


def _files_as_told(folder: Path) -> BackupManifest:
    try:
        manifest = decode((folder / MANIFEST).read_bytes(), BackupManifest)
        for name in (LEDGER, KEY):
            if manifest.files.get(name) != file_of(folder / name):
                raise BadBackupError(folder / name, "it is not the file that was backed up")
    except OSError as error:
        place = folder if error.filename is None else Path(error.filename)
        raise BadBackupError(place, error.strerror or "it cannot be read") from error
    except RefusedError as refused:
        raise BadBackupError(folder / MANIFEST, f"no manifest ({refused.field})") from refused
    return manifest


async def _walk(reader: Reader, path: Path, last: int, *, quiet: bool) -> Head:
    head = Head(0, GENESIS)
    chain = Chain(head)
    with progress("verify", last, quiet=quiet) as advance:
        while rows := await journal.read(reader, head.sequence):
            for row in rows:
                if not chain.follows(row):
                    raise BadBackupError(path, f"its chain breaks at row {head.sequence + 1}")
                head = Head(row.sequence, row.hash)
            advance(len(rows))
    return head
