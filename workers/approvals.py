"""The approval worker: what operators say about approvals. Source: SPEC A6."""

from collections.abc import Mapping
from typing import Any

import msgspec

from pmcl.contracts import (
    Approval,
    ApprovalDecidedError,
    ApprovalDenied,
    ApprovalGranted,
    Approvals,
    Contract,
    DenyApproval,
    GrantApproval,
    Kind,
    ListApprovals,
    NotAvailableError,
    ShowApproval,
    ShownApproval,
    UnknownApprovalError,
)
from pmcl.ledger import approvals, evaluations, leases
from pmcl.outbox import UnitOfWork
from pmcl.store import Row
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision, Incoming

__all__ = ["ApprovalWorker"]


class ApprovalWorker:
    """Lists, shows, grants and denies."""

    name: str = "approval"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {
        "approval": ShowApproval,
        "approvals": ListApprovals,
        "approve": GrantApproval,
        "deny": DenyApproval,
    }

    async def prepare(self, incoming: Incoming) -> None:
        """Return nothing: everything is in the ledger."""

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        """Return what the operator asked for, or what was decided."""
        match incoming.body:
            case ListApprovals(ended=ended):
                return Decision(reply=_listed(unit, ended=ended))
            case ShowApproval(approval_id=approval_id):
                return Decision(reply=_shown(unit, _found(unit, approval_id)))
            case GrantApproval() as grant:
                return _grant(unit, grant)
            case _:
                return _deny(unit, incoming.body)


def _found(unit: UnitOfWork, approval_id: str) -> Row:
    row = approvals.find(unit.tx, approval_id)
    if row is None:
        raise UnknownApprovalError("$.approval_id", approval_id, "an approval of this ledger")
    return row


def _listed(unit: UnitOfWork, *, ended: bool) -> Approvals:
    rows = approvals.listed(unit.tx, ended=ended)
    shown = tuple(approvals.approval_of(row) for row in rows[: approvals.LISTED_MAX])
    return Approvals(approvals=shown, more=len(rows) > len(shown))


def _shown(unit: UnitOfWork, row: Row) -> ShownApproval:
    judged = evaluations.judged(unit.tx, row["scope"], row["approval_id"])
    return ShownApproval(
        approval=approvals.approval_of(row),
        request=None if judged is None else judged.inputs.request,
        reasons=() if judged is None else judged.evaluation.reasons,
    )


def _grant(unit: UnitOfWork, grant: GrantApproval) -> Decision:
    row = _found(unit, grant.approval_id)
    if row["state"] != "pending":
        raise ApprovalDecidedError("$.approval_id", row["state"], "to grant one that is pending")
    lease = leases.current(unit.tx, row["scope"], row["host"])
    if lease is None or lease.generation != row["generation"] or not lease.lives(unit.now_ms):
        raise ApprovalDecidedError("$.approval_id", "expired", "to grant one of a living lease")
    if evaluations.judged(unit.tx, row["scope"], grant.approval_id) is None:
        limit = "an approval whose proposal is still there to be seen"
        raise NotAvailableError("$.approval_id", grant.approval_id, limit)
    granted = ApprovalGranted(
        **_whose(unit, row),
        approver=operator_of(grant.label),
        proposal_hash=row["proposal_hash"],
        generation=row["generation"],
        expires_at=unit.now_ms + grant.lifetime_ms,
    )
    reply = _changed(
        row,
        state="granted",
        approver=granted.approver,
        decided_at=unit.now_ms,
        expires_at=granted.expires_at,
    )
    return Decision(events=(granted,), reply=reply)


def _deny(unit: UnitOfWork, deny: DenyApproval) -> Decision:
    row = _found(unit, deny.approval_id)
    if row["state"] not in ("pending", "granted"):
        limit = "to deny one that is pending or granted"
        raise ApprovalDecidedError("$.approval_id", row["state"], limit)
    denied = ApprovalDenied(**_whose(unit, row), approver=operator_of(deny.label))
    reply = _changed(row, state="denied", approver=denied.approver, decided_at=unit.now_ms)
    return Decision(events=(denied,), reply=reply)


def _whose(unit: UnitOfWork, row: Row) -> dict[str, Any]:
    return {
        "scope": row["scope"],
        "host": row["host"],
        "at_ms": unit.now_ms,
        "approval_id": row["approval_id"],
    }


def _changed(row: Row, **changes: Any) -> Approval:
    return msgspec.structs.replace(approvals.approval_of(row), **changes)
