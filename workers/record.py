"""What operators say about the record itself becomes part of it."""

from pmcl.contracts import CELL_HOST, CELL_SCOPE, Backup, BackupMade, RecordBackup
from pmcl.ledger import backups
from pmcl.outbox import UnitOfWork
from pmcl.workers.worker import Decision

__all__ = ["record_backup"]


def record_backup(asked: RecordBackup, unit: UnitOfWork) -> Decision:
    """Return the recorded backup; one that is known stays as it is."""
    known = backups.find(unit.tx, asked.backup_id)
    if known is not None:
        return Decision(reply=known)
    made = BackupMade(
        scope=CELL_SCOPE,
        host=CELL_HOST,
        at_ms=unit.now_ms,
        backup_id=asked.backup_id,
        place=asked.place,
        sequence=asked.sequence,
        by=f"operator/{asked.label}",
    )
    reply = Backup(
        backup_id=made.backup_id,
        place=made.place,
        sequence=made.sequence,
        made_at=made.at_ms,
        by=made.by,
    )
    return Decision(events=(made,), reply=reply)
