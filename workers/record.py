"""The record worker: what operators say about the record itself becomes part of it."""

from collections.abc import Mapping

from pmcl.contracts import (
    CELL_HOST,
    CELL_SCOPE,
    Backup,
    BackupMade,
    Contract,
    EraseContent,
    Kind,
    RecordBackup,
)
from pmcl.ledger import backups
from pmcl.outbox import UnitOfWork
from pmcl.workers.erasing import begin_erasure
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision, Incoming

__all__ = ["RecordWorker", "record_backup"]


class RecordWorker:
    """Takes down what was done to the record, and begins what is to be done."""

    name: str = "record"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {
        "backup": RecordBackup,
        "erase": EraseContent,
    }

    async def prepare(self, incoming: Incoming) -> None:
        """Return nothing: everything is in the ledger."""

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        """Return what was taken down, or the erasure that begins."""
        match incoming.body:
            case EraseContent() as asked:
                return begin_erasure(asked, unit)
            case _:
                return record_backup(incoming.body, unit)


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
        by=operator_of(asked.label),
    )
    reply = Backup(
        backup_id=made.backup_id,
        place=made.place,
        sequence=made.sequence,
        made_at=made.at_ms,
        by=made.by,
    )
    return Decision(events=(made,), reply=reply)
