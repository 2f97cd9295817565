"""Which backups hold what an erasure is about is looked up in the backups themselves.

One that cannot be read, is not where it was made, or was made while an erasure was under way may
hold it, and counts as one that does.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio.to_thread

from pmcl.contracts import Backup, BackupManifest, LedgerError, RefusedError, decode
from pmcl.ledger import erasures
from pmcl.ledger.erasures import KINDS, ErasureRow
from pmcl.ops.record.verify_backup import LEDGER, MANIFEST
from pmcl.store import Reader, open_reader

__all__ = ["backups_holding"]


async def backups_holding(
    backups: Iterable[Backup], scope: str, host: str | None, evidence_ids: Sequence[str]
) -> list[Backup]:
    """Return those of the backups that have content of the scope, the host or the observations."""
    about = ErasureRow(
        erasure_id="",
        scope=scope,
        host=host,
        evidence_ids=tuple(evidence_ids),
        through=sys.maxsize,
        payloads=0,
        messages=0,
        began_at=sys.maxsize,
        ended_at=None,
        began_by="",
    )
    return [backup for backup in backups if await _may_hold(backup, about)]


async def _may_hold(backup: Backup, about: ErasureRow) -> bool:
    place = Path(backup.place)
    try:
        manifest = await anyio.to_thread.run_sync((place / MANIFEST).read_bytes)
        if decode(manifest, BackupManifest).backup_id != backup.backup_id:
            return True
        async with open_reader(place / LEDGER) as reader:
            return await _holds(reader, about)
    except (OSError, RefusedError, LedgerError):
        return True


async def _holds(reader: Reader, about: ErasureRow) -> bool:
    if any(erasure.ended_at is None for erasure in await erasures.listed(reader)):
        return True
    if about.evidence_ids:
        return bool(await erasures.standing(reader, about.scope, about.evidence_ids))
    for kind, first in KINDS:
        if await erasures.next_names(reader, about, kind, first) is not None:
            return True
    return False
