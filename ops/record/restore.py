"""`pmcl restore`: a verified backup takes the ledger's place; the next start takes LOG's rest.

The ledger that was there is kept beside it, so a restore can be taken back by hand. The restored
one is marked as an older copy even where LOG is no further: hosts send again, and INTAKE is
delivered again.
"""

from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from pmcl.contracts import BackupManifest, RecordBackup
from pmcl.ledger import backups, ledger_config
from pmcl.ops.asking import operator_label
from pmcl.ops.console import console
from pmcl.ops.record.files import copy_private
from pmcl.ops.record.replacing import replace_ledger
from pmcl.ops.record.unfinished import RESTORED, take_up_replacing
from pmcl.ops.record.verify_backup import KEY, LEDGER, verify_backup
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import use_state_dir
from pmcl.outbox import begin_fold
from pmcl.store import Transaction, open_writer

__all__ = ["restore_backup", "show_restore"]


async def restore_backup(
    settings: Settings, place: Path, *, replace: bool = False, quiet: bool = True
) -> dict[str, Any]:
    """Return what the backup holds, and where what it replaced lies now.

    Args:
        settings: name the ledger.
        place: the backup's folder.
        replace: do it; without it the backup is verified and nothing changes.
        quiet: show no progress.

    Returns:
        `{"backup_id", "sequence", "made_at", "kept": paths of what was replaced, "restored"}`.

    Raises:
        StateDirInUseError: a sidecar runs.
        BadBackupError: the backup is not whole; nothing was touched.
    """
    with use_state_dir(settings.state_dir):
        manifest = await verify_backup(place, quiet=quiet)
        kept: list[Path] = []
        if replace:
            new = await _marked_copy(settings, place, manifest)
            replace_by = partial(replace_ledger, settings.state_dir, new, place / KEY)
            kept = await anyio.to_thread.run_sync(replace_by)
    return {
        "backup_id": manifest.backup_id,
        "made_at": manifest.made_at,
        "sequence": manifest.sequence,
        "restored": replace,
        "kept": [str(path) for path in kept],
    }


async def _marked_copy(settings: Settings, place: Path, manifest: BackupManifest) -> Path:
    """Return a copy of the backup's ledger that knows already that it is an older one.

    So a process that is killed never leaves one in the ledger's place that does not know it.
    """
    new = settings.ledger_path.with_name(RESTORED)
    await anyio.to_thread.run_sync(_copy, place / LEDGER, new)
    async with open_writer(ledger_config(new)) as writer:
        await writer.run(partial(_mark, _told(manifest, place)))
    return new


def _copy(source: Path, new: Path) -> None:
    take_up_replacing(new.parent)
    copy_private(source, new)


def _told(manifest: BackupManifest, place: Path) -> RecordBackup:
    return RecordBackup(
        backup_id=manifest.backup_id,
        place=str(place.absolute()),
        sequence=manifest.sequence,
        label=operator_label(),
    )


def _mark(backup: RecordBackup, tx: Transaction) -> None:
    begin_fold(tx, backup.sequence)
    backups.note_restored(tx, backup)


def show_restore(report: dict[str, Any]) -> None:
    """Print a report for people."""
    console.print(f"backup    {report['backup_id']}, the journal to row {report['sequence']}")
    if not report["restored"]:
        console.print("It is whole. Nothing was changed: --replace puts it in the ledger's place.")
        return
    for path in report["kept"]:
        console.print(f"kept      {path}", soft_wrap=True)
    console.print("restored  start `pmcl up`: it takes the rest from LOG first")
