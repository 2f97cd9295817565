"""Approvals: an operator's word that lets one proposal pass once, and how operators say it.

An approval satisfies the `approve` of a snapshot and what the Plan Check asks an operator for, and
nothing else. Source: SPEC A6.
"""

from typing import Annotated, Literal

import msgspec

from pmcl.contracts.checkpoint import CheckpointRequest
from pmcl.contracts.contract import Contract
from pmcl.contracts.event import Event
from pmcl.contracts.lease import Effect
from pmcl.contracts.limits import APPROVAL_TTL_MAX_MS, APPROVAL_TTL_MS
from pmcl.contracts.names import Count, Digest, Id, Key, Millis, Ulid
from pmcl.contracts.receipts import Received

__all__ = [
    "Approval",
    "ApprovalDenied",
    "ApprovalExpired",
    "ApprovalGranted",
    "ApprovalRequested",
    "ApprovalState",
    "ApprovalUsed",
    "Approvals",
    "DenyApproval",
    "GrantApproval",
    "ListApprovals",
    "ShowApproval",
    "ShownApproval",
]

ApprovalState = Literal["pending", "granted", "denied", "used", "expired"]


class Approval(Contract, frozen=True, kw_only=True, tag="pmcl/approval/1"):
    """One request for approval and what became of it; content-free.

    Attributes:
        approval_id: id of the evaluation that was held for want of it.
        proposal_hash, generation, effect: what it is about; another of any of them is not covered.
        approver: `operator/<label>`; the label is the local user's name on the operator's machine.
        expires_at: until when a granted one can be used.
        used_by: the evaluation that passed because of it.
    """

    approval_id: Ulid
    scope: str
    host: str
    state: ApprovalState
    proposal_hash: Digest
    generation: Count
    effect: Effect
    server: Key
    tool: Key
    requested_at: Millis
    approver: str | None = None
    decided_at: Millis | None = None
    expires_at: Millis | None = None
    used_by: Ulid | None = None
    received: Received | None = None


class ListApprovals(Contract, frozen=True, kw_only=True, tag="pmcl/list-approvals/1"):
    """Asks for the requests that are pending or granted, or for the newest of all.

    Attributes:
        ended: also those that are denied, used or expired, newest first.
    """

    ended: bool = False


class Approvals(Contract, frozen=True, kw_only=True, tag="pmcl/approvals/1"):
    """At most 256 approvals; `more` says that there are others."""

    approvals: tuple[Approval, ...]
    more: bool = False
    received: Received | None = None


class ShowApproval(Contract, frozen=True, kw_only=True, tag="pmcl/show-approval/1"):
    """Asks for one approval with what was proposed."""

    approval_id: Ulid


class ShownApproval(Contract, frozen=True, kw_only=True, tag="pmcl/shown-approval/1"):
    """An approval with what was proposed.

    Attributes:
        request: sanitized; `None` when its payload was erased, or lost with an older copy.
        reasons: why the evaluation that asked was held, this one included.
    """

    approval: Approval
    request: CheckpointRequest | None
    reasons: tuple[str, ...] = ()
    received: Received | None = None


class GrantApproval(Contract, frozen=True, kw_only=True, tag="pmcl/grant-approval/1"):
    """Lets the proposal pass once, within `lifetime_ms` milliseconds.

    Attributes:
        label: who decides, as a name; the operator's identity is the connection's.
    """

    approval_id: Ulid
    label: Id
    lifetime_ms: Annotated[int, msgspec.Meta(ge=1, le=APPROVAL_TTL_MAX_MS)] = APPROVAL_TTL_MS


class DenyApproval(Contract, frozen=True, kw_only=True, tag="pmcl/deny-approval/1"):
    """Holds the proposal for good; takes back a grant that was not used yet."""

    approval_id: Ulid
    label: Id


class ApprovalRequested(Event, frozen=True, kw_only=True, tag="pmcl/approval-requested/1"):
    """A proposal waits for an operator; what it says is the payload of the evaluation.

    Attributes:
        approval_id: id of the evaluation that was held.
    """

    approval_id: str
    lease_id: str
    generation: int
    proposal_hash: str
    effect: Effect


class ApprovalGranted(Event, frozen=True, kw_only=True, tag="pmcl/approval-granted/1"):
    """An operator lets the proposal pass once.

    Attributes:
        approver: `operator/<label>`.
    """

    approval_id: str
    approver: str
    proposal_hash: str
    generation: int
    expires_at: int


class ApprovalDenied(Event, frozen=True, kw_only=True, tag="pmcl/approval-denied/1"):
    """An operator holds the proposal for good."""

    approval_id: str
    approver: str


class ApprovalUsed(Event, frozen=True, kw_only=True, tag="pmcl/approval-used/1"):
    """An evaluation passed because of the approval, which is used up."""

    approval_id: str
    evaluation_id: str


class ApprovalExpired(Event, frozen=True, kw_only=True, tag="pmcl/approval-expired/1"):
    """The approval was not used in time, or the generation that it is about is over."""

    approval_id: str
    reason: Literal["lease_over", "time"]
