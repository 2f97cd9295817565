"""Backups: the copies that this ledger knows of, so that erasing can say where content still is."""

from typing import Final

from pmcl.contracts import Backup, BackupMade, RecordBackup, decode, encode
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = [
    "LISTED_MAX",
    "apply_made",
    "find",
    "known",
    "listed",
    "note_restored",
    "take_restored",
]

_queries = load_queries("pmcl.ledger", "backups")
SCHEMA: Final = _queries.schema

LISTED_MAX: Final = 256


def find(tx: Transaction, backup_id: str) -> Backup | None:
    """Return a backup."""
    row = tx.one(_queries.find, backup_id=backup_id)
    return None if row is None else _backup(row)


def known(tx: Transaction) -> list[Backup]:
    """Return the newest backups, newest first, `LISTED_MAX` at most."""
    return [_backup(row) for row in tx.all(_queries.newest, max_rows=LISTED_MAX)]


async def listed(reader: Reader) -> list[Backup]:
    """Return the newest backups, newest first, `LISTED_MAX` at most."""
    return [_backup(row) for row in await reader.all(_queries.newest, max_rows=LISTED_MAX)]


def note_restored(tx: Transaction, backup: RecordBackup) -> None:
    """Note what this ledger was restored from; it is recorded once LOG's rest is folded."""
    tx.run(_queries.note_restored, told=encode(backup))


def take_restored(tx: Transaction) -> RecordBackup | None:
    """Return what was noted, and note it no more."""
    row = tx.one(_queries.take_restored)
    return None if row is None else decode(row["told"], RecordBackup)


def _backup(row: Row) -> Backup:
    return Backup(
        backup_id=row["backup_id"],
        place=row["place"],
        sequence=row["sequence"],
        made_at=row["made_at"],
        by=row["made_by"],
    )


def apply_made(tx: Transaction, event: BackupMade) -> None:
    """Record a backup."""
    tx.run(
        _queries.record,
        backup_id=event.backup_id,
        place=event.place,
        sequence=event.sequence,
        at_ms=event.at_ms,
        by=event.by,
    )
