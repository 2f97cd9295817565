"""`pmcl backup` and `backups`: a verified copy of the ledger, made while it works.

The ledger's key is part of it: without it no hold would be found again in a restored ledger. So a
backup is as private as the ledger itself. Keys of identities are not part of it.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec
from ulid_transform import ulid_now, ulid_to_timestamp

from pmcl.contracts import Backup, BackupManifest, LedgerError, RecordBackup, encode
from pmcl.ledger import backups, ledger_config
from pmcl.ops.asking import ask_sidecar, operator_label
from pmcl.ops.console import console
from pmcl.ops.progress import Advance, progress
from pmcl.ops.reach import check_ledger
from pmcl.ops.record.backup_place import fresh_place, is_untold, note_told
from pmcl.ops.record.broken_off import noting
from pmcl.ops.record.files import copy_private, write_new
from pmcl.ops.record.verify_backup import KEY, LEDGER, MANIFEST, file_of, verify_backup
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid, use_state_dir
from pmcl.outbox import journal, read_epoch
from pmcl.store import copy_store, open_reader, open_writer
from pmcl.workers import Units, record_backup

__all__ = ["list_backups", "make_backup", "show_backup", "show_backups"]

_PLACE_MAX: Final = 4096
_STOP_S: Final = 5.0


async def make_backup(settings: Settings, place: Path, *, quiet: bool = True) -> dict[str, Any]:
    """Return the backup that the folder `place` holds now; the ledger knows of it.

    One that was broken off is made anew, unless the ledger knows it already.

    Raises:
        LedgerError: there is no ledger, the folder is not empty, or the copy did not verify.
        NotRunningError: the sidecar stopped meanwhile; the copy is there, untold.
    """
    check_ledger(settings)
    place = _absolute(place)
    with noting(settings.state_dir, place):
        return await _made(settings, place, quiet=quiet)


async def _made(settings: Settings, place: Path, *, quiet: bool) -> dict[str, Any]:
    if is_untold(place) and (made := await _known(settings, place)) is not None:
        note_told(place)
        return made
    with fresh_place(place) as folder:
        backup_id = ulid_now()
        await _copy(settings, folder, quiet=quiet)
        manifest = await _manifest(folder, backup_id)
        write_new(folder / MANIFEST, encode(manifest))
        await verify_backup(folder, quiet=quiet)
    asked = RecordBackup(
        backup_id=backup_id,
        place=str(place)[:_PLACE_MAX],
        sequence=manifest.sequence,
        label=operator_label(),
    )
    backup = await _record(settings, asked)
    note_told(place)
    return _report(backup, manifest)


async def _known(settings: Settings, place: Path) -> dict[str, Any] | None:
    """Return the backup there, where the ledger knows it and nobody has heard so."""
    try:
        manifest = await verify_backup(place)
    except LedgerError:
        return None
    known = {backup.backup_id: backup for backup in await list_backups(settings)}
    backup = known.get(manifest.backup_id)
    return None if backup is None else _report(backup, manifest)


def _report(backup: Backup, manifest: BackupManifest) -> dict[str, Any]:
    return {**msgspec.to_builtins(backup), "bytes": manifest.files[LEDGER].bytes}


def _absolute(place: Path) -> Path:
    return place.absolute()


async def _copy(settings: Settings, folder: Path, *, quiet: bool) -> None:
    """Copy the ledger and its key; when it is cancelled, nobody writes any more on return."""
    stopped, ended = threading.Event(), threading.Event()

    def work() -> None:
        try:
            (folder / LEDGER).touch(mode=0o600)
            with progress("copy", 100, quiet=quiet) as advance:
                copy_store(settings.ledger_path, folder / LEDGER, _teller(advance, stopped))
            copy_private(settings.state_dir / KEY, folder / KEY)
        finally:
            ended.set()

    try:
        await anyio.to_thread.run_sync(work)
    finally:
        stopped.set()
        ended.wait(_STOP_S)


def _teller(advance: Advance, stopped: threading.Event) -> Callable[[int, int], None]:
    shown = 0

    def told(left: int, pages: int) -> None:
        nonlocal shown
        if stopped.is_set():
            raise LedgerError("the copy was stopped")
        done = 100 * (pages - left) // max(1, pages)
        advance(done - shown)
        shown = done

    return told


async def _manifest(folder: Path, backup_id: str) -> BackupManifest:
    async with open_reader(folder / LEDGER) as reader:
        head = await journal.last(reader)
        epoch = await read_epoch(reader)
    return BackupManifest(
        backup_id=backup_id,
        made_at=ulid_to_timestamp(backup_id),
        ledger_epoch=epoch,
        sequence=head.sequence,
        hash=head.hash,
        files={name: file_of(folder / name) for name in (LEDGER, KEY)},
    )


async def _record(settings: Settings, asked: RecordBackup) -> Backup:
    """Have the ledger know of the backup, by the sidecar where one runs."""
    if running_pid(settings.state_dir) is not None:
        return await ask_sidecar(settings, "backup", asked, Backup)
    with use_state_dir(settings.state_dir):
        async with open_writer(ledger_config(settings.ledger_path)) as writer:
            decision = await Units(writer).record(partial(record_backup, asked))
    assert isinstance(decision.reply, Backup)
    return decision.reply


async def list_backups(settings: Settings) -> list[Backup]:
    """Return the backups that the ledger knows of, newest first."""
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        return await backups.listed(reader)


def show_backup(backup: dict[str, Any]) -> None:
    """Print a new backup for people."""
    console.print(f"backup    {backup['backup_id']}")
    console.print(f"place     {backup['place']}", soft_wrap=True)
    console.print(f"holds     the journal to row {backup['sequence']}, {backup['bytes']} bytes")


def show_backups(found: list[Backup]) -> None:
    """Print a list for people."""
    if not found:
        console.print("The ledger knows of no backup.")
    for backup in found:
        made = datetime.fromtimestamp(backup.made_at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        text = f"{backup.backup_id}  {made}  row {backup.sequence}  {backup.place}"
        console.print(text, soft_wrap=True)
