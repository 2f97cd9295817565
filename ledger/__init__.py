"""The domain state: one module for each concept, its SQL beside it; only `apply` writes."""

from pmcl.ledger import (
    approvals,
    backups,
    erasures,
    evaluations,
    evidence,
    holds,
    leases,
    lessons,
    outcomes,
    payloads,
    reflections,
    retrospects,
    stops,
    turns,
)
from pmcl.ledger.fold import FoldError, fold
from pmcl.ledger.keys import KEY_BYTES, LedgerKey
from pmcl.ledger.record import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    SCHEMAS,
    apply,
    ledger_config,
    record,
)

__all__ = [
    "APPLICATION_ID",
    "KEY_BYTES",
    "SCHEMAS",
    "SCHEMA_VERSION",
    "FoldError",
    "LedgerKey",
    "apply",
    "approvals",
    "backups",
    "erasures",
    "evaluations",
    "evidence",
    "fold",
    "holds",
    "leases",
    "ledger_config",
    "lessons",
    "outcomes",
    "payloads",
    "record",
    "reflections",
    "retrospects",
    "stops",
    "turns",
]
