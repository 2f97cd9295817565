"""Approvals: one that counts for a proposal at most, and no way from an ended one back."""

from typing import Final

from pmcl.contracts import (
    Approval,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    ApprovalUsed,
)
from pmcl.judgement import ApprovalRecord
from pmcl.store import Row, Transaction, load_queries

__all__ = [
    "LISTED_MAX",
    "apply_denied",
    "apply_expired",
    "apply_granted",
    "apply_requested",
    "apply_used",
    "approval_of",
    "find",
    "lapsed",
    "listed",
    "orphaned",
    "standing",
    "waiting_of_host",
]

LISTED_MAX: Final = 256

_queries = load_queries("pmcl.ledger", "approvals")
SCHEMA: Final = _queries.schema


def standing(
    tx: Transaction, scope: str, host: str, proposal_hash: str, generation: int, effect: str
) -> ApprovalRecord | None:
    """Return what counts for a proposal: a request that waits, a grant not used, or a denial."""
    row = tx.one(
        _queries.standing,
        scope=scope,
        host=host,
        proposal_hash=proposal_hash,
        generation=generation,
        effect=effect,
    )
    if row is None:
        return None
    return ApprovalRecord(
        approval_id=row["approval_id"],
        state=row["state"],
        proposal_hash=row["proposal_hash"],
        generation=row["generation"],
        effect=row["effect"],
        expires_at=row["expires_at"],
    )


def waiting_of_host(tx: Transaction, scope: str, host: str) -> int:
    """Return how many approvals of a host are pending or granted."""
    row = tx.one(_queries.waiting_of_host, scope=scope, host=host)
    assert row is not None
    return int(row["waiting"])


def find(tx: Transaction, approval_id: str) -> Row | None:
    """Return an approval with the server and the tool of its proposal."""
    return tx.one(_queries.find, approval_id=approval_id)


def listed(tx: Transaction, *, ended: bool) -> list[Row]:
    """Return one more than `LISTED_MAX` approvals at most: the newest, or those that wait."""
    text = _queries.newest if ended else _queries.waiting
    return tx.all(text, max_rows=LISTED_MAX + 1)


def lapsed(tx: Transaction, now_ms: int) -> list[Row]:
    """Return at most 64 granted approvals whose time is over."""
    return tx.all(_queries.lapsed, now_ms=now_ms)


def orphaned(tx: Transaction) -> list[Row]:
    """Return at most 64 approvals that wait although their lease has ended."""
    return tx.all(_queries.orphaned)


def approval_of(row: Row) -> Approval:
    """Return an approval as an operator sees it; the row is one of `find` or `listed`."""
    return Approval(**{name: row[name] for name in _SHOWN})


_SHOWN: Final = tuple(name for name in Approval.__struct_fields__ if name != "received")


def apply_requested(tx: Transaction, event: ApprovalRequested) -> None:
    """Record that an operator is asked."""
    tx.run(
        _queries.ask,
        approval_id=event.approval_id,
        scope=event.scope,
        host=event.host,
        lease_id=event.lease_id,
        generation=event.generation,
        proposal_hash=event.proposal_hash,
        effect=event.effect,
        at_ms=event.at_ms,
    )


def apply_granted(tx: Transaction, event: ApprovalGranted) -> None:
    """Record a grant."""
    changed = tx.run(
        _queries.grant,
        approval_id=event.approval_id,
        approver=event.approver,
        expires_at=event.expires_at,
        at_ms=event.at_ms,
    )
    assert changed == 1


def apply_denied(tx: Transaction, event: ApprovalDenied) -> None:
    """Record a denial."""
    changed = tx.run(
        _queries.deny, approval_id=event.approval_id, approver=event.approver, at_ms=event.at_ms
    )
    assert changed == 1


def apply_used(tx: Transaction, event: ApprovalUsed) -> None:
    """Record which evaluation used the grant up."""
    changed = tx.run(
        _queries.use,
        approval_id=event.approval_id,
        evaluation_id=event.evaluation_id,
        at_ms=event.at_ms,
    )
    assert changed == 1


def apply_expired(tx: Transaction, event: ApprovalExpired) -> None:
    """Record that the approval can no longer be used."""
    changed = tx.run(_queries.expire, approval_id=event.approval_id, at_ms=event.at_ms)
    assert changed == 1
