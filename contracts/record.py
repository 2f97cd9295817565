"""What operators say about the record itself: copies of the ledger, and content that must go."""

from typing import Annotated

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.names import Count, Digest, Id, Millis, Text, Token, Ulid
from pmcl.contracts.receipts import Received

__all__ = ["Backup", "BackupFile", "BackupManifest", "EraseContent", "Erasure", "RecordBackup"]


class RecordBackup(Contract, frozen=True, kw_only=True, tag="pmcl/record-backup/1"):
    """Tells of a copy that was written and verified.

    Attributes:
        place: its folder.
        sequence: the last row of the journal that it holds.
        label: who made it, as a name.
    """

    backup_id: Ulid
    place: Text
    sequence: Count
    label: Id


class Backup(Contract, frozen=True, kw_only=True, tag="pmcl/backup/1"):
    """A copy that the ledger knows of.

    Attributes:
        by: `operator/<label>`.
    """

    backup_id: Ulid
    place: Text
    sequence: Count
    made_at: Millis
    by: str
    received: Received | None = None


class BackupFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a backup, by name beside the manifest."""

    sha256: Digest
    bytes: Count


class BackupManifest(Contract, frozen=True, kw_only=True, tag="pmcl/backup-manifest/1"):
    """What a backup holds, and how that is recognized.

    Attributes:
        sequence, hash: the last row of the journal.
        ledger_epoch: of the ledger that was copied; None if no host has spoken to it.
    """

    backup_id: Ulid
    made_at: Millis
    ledger_epoch: Ulid | None
    sequence: Count
    hash: Digest
    files: dict[str, BackupFile]


class EraseContent(Contract, frozen=True, kw_only=True, tag="pmcl/erase-content/1"):
    """Asks that content goes: of a scope, of one of its hosts, or of single observations.

    Attributes:
        host: this host's alone.
        evidence_ids: these alone, at most 64, with the evaluations that name them; without `host`.
        dry_run: only count.
        label: who asks, as a name.
    """

    scope: Token
    host: Token | None = None
    evidence_ids: Annotated[tuple[Ulid, ...], msgspec.Meta(max_length=64)] = ()
    dry_run: bool = False
    label: Id


class Erasure(Contract, frozen=True, kw_only=True, tag="pmcl/erasure/1"):
    """What an erasure does, or would do.

    Attributes:
        erasure_id: None of a dry run.
        observations, evaluations: how many have content that goes; of evaluations that only name
            single observations, no number is known before.
        backups: copies that the ledger knows of; what they hold stays there.
    """

    erasure_id: Ulid | None
    observations: Count
    evaluations: Count | None
    backups: tuple[Backup, ...]
    received: Received | None = None
