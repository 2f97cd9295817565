"""The delivery guarantees: what is committed is told, once, and what is told was committed."""

from pmcl.outbox import epoch, inbox, journal
from pmcl.outbox.epoch import begin_fold, end_fold, ledger_epoch, open_fold, read_epoch
from pmcl.outbox.host_file import (
    HostFile,
    HostFileSwept,
    PendingMessage,
    message_id,
    open_host_file,
)
from pmcl.outbox.host_units import Claim, HostFileFullError
from pmcl.outbox.log import read_log
from pmcl.outbox.relay import Relay, RelayConfig
from pmcl.outbox.repair import DivergedError, JournalBehindError, OpenAdmin, settle_log
from pmcl.outbox.unit import UnitOfWork

SCHEMAS = (epoch.SCHEMA, inbox.SCHEMA, journal.SCHEMA)
"""The tables of the ledger side; the domain's stand beside them in one file."""

__all__ = [
    "SCHEMAS",
    "Claim",
    "DivergedError",
    "HostFile",
    "HostFileFullError",
    "HostFileSwept",
    "JournalBehindError",
    "OpenAdmin",
    "PendingMessage",
    "Relay",
    "RelayConfig",
    "UnitOfWork",
    "begin_fold",
    "end_fold",
    "inbox",
    "journal",
    "ledger_epoch",
    "message_id",
    "open_fold",
    "open_host_file",
    "read_epoch",
    "read_log",
    "settle_log",
]
