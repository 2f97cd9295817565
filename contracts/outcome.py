"""Outcomes: what came of a dispatch, content-free, linked to its verdict.

Source: SPEC D1, C9.
"""

from typing import Literal

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.names import Digest, Id, Millis, Ulid

__all__ = ["AuditReceipt", "Outcome", "OutcomeStatus", "Receipt"]

OutcomeStatus = Literal["succeeded", "failed", "cancelled", "unknown", "unused"]


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What the action left behind.

    Attributes:
        kind: the receipt's kind, to be compared with the expected one.
        digest: SHA-256 of the thing itself; of an observation's `detail` where one was recorded.
    """

    kind: Id
    digest: Digest


class Outcome(Contract, frozen=True, kw_only=True, tag="pmcl/outcome/1"):
    """What came of one evaluation; exactly one for each dispatched verdict.

    Attributes:
        status: `unknown` when nobody saw the end; never counted as success.
        failure_mode: a short code, not a text.
        redacted: that something was left out of what the host knew.
    """

    outcome_id: Ulid
    evaluation_id: Ulid
    proposal_hash: Digest
    status: OutcomeStatus
    finished_at: Millis
    failure_mode: Id | None = None
    receipt: Receipt | None = None
    duration_ms: Millis | None = None
    redacted: bool = False


class AuditReceipt(Contract, frozen=True, kw_only=True, tag="pmcl/audit-receipt/1"):
    """A local inspection that went on while nobody could judge it."""

    audit_id: Ulid
    call_id: Id
    proposal_hash: Digest
    cause: Id
    finished_at: Millis
    status: OutcomeStatus
    failure_mode: Id | None = None
