"""`pmcl approvals`: what waits for an operator, what exactly it is, and the operator's word.

What is shown is what the evaluation read: sanitized, whole, and with nothing that a terminal hides.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    Approval,
    Approvals,
    CheckpointRequest,
    DenyApproval,
    GrantApproval,
    ListApprovals,
    ShowApproval,
    ShownApproval,
    convert,
)
from pmcl.ops.asking import ask_sidecar, operator_label
from pmcl.ops.console import console, shown_minute, shown_time, shown_whole
from pmcl.ops.lines import print_lines
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings

__all__ = [
    "approval_lines",
    "beside_it",
    "deny_approval",
    "grant_approval",
    "list_approvals",
    "read_approval",
    "show_approval",
    "show_approvals",
]


_WISH: Final = ".approval_required"


async def list_approvals(settings: Settings, *, ended: bool = False) -> Approvals:
    """Return the approvals that wait, or the newest of all. Raises as `ask_sidecar`."""
    return await ask_sidecar(settings, "approvals", ListApprovals(ended=ended), Approvals)


async def read_approval(settings: Settings, approval_id: str) -> ShownApproval:
    """Return one approval with what was proposed. Raises as `ask_sidecar`."""
    question = _fitting(ShowApproval, approval_id=approval_id)
    return await ask_sidecar(settings, "approval", question, ShownApproval)


async def grant_approval(
    settings: Settings, approval_id: str, expires: timedelta | None = None
) -> Approval:
    """Let the proposal pass once, within `expires` or what is set. Raises as `ask_sidecar`."""
    lifetime_ms = settings.approval_ttl_ms
    if expires is not None:
        lifetime_ms = round(expires.total_seconds() * 1000)
    question = _fitting(
        GrantApproval, approval_id=approval_id, label=operator_label(), lifetime_ms=lifetime_ms
    )
    return await ask_sidecar(settings, "approve", question, Approval)


async def deny_approval(settings: Settings, approval_id: str) -> Approval:
    """Hold the proposal for good, or take a grant back. Raises as `ask_sidecar`."""
    question = _fitting(DenyApproval, approval_id=approval_id, label=operator_label())
    return await ask_sidecar(settings, "deny", question, Approval)


def _fitting(kind: Any, **fields: Any) -> Any:
    """Return a question whose fields were given on the command line."""
    return convert(msgspec.to_builtins(kind(**fields)), kind)


def show_approvals(found: Approvals) -> None:
    """Print a list for people."""
    if not found.approvals:
        console.print("No approval waits.")
        return
    names = ("id", "state", "asked", "host", "tool")
    rows = [
        (
            approval.approval_id,
            approval.state,
            shown_minute(approval.requested_at),
            f"{approval.scope}/{approval.host}",
            shown_whole(f"{approval.server}/{approval.tool}"),
        )
        for approval in found.approvals
    ]
    print_rows(names, rows)
    if found.more:
        console.print("There are more.")


def show_approval(found: ShownApproval) -> None:
    """Print one approval for people: who asks, for exactly what, and why it was held."""
    print_lines(approval_lines(found))


def approval_lines(found: ShownApproval) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of an approval, each as a name and a text."""
    approval, request = found.approval, found.request
    yield "approval", approval.approval_id
    yield "state", approval.state
    yield "asked by", f"{approval.scope}/{approval.host}, generation {approval.generation}"
    yield "asked", shown_time(approval.requested_at)
    yield "tool", shown_whole(f"{approval.server}/{approval.tool}")
    yield "effect", approval.effect
    if request is None:
        yield "proposal", "not there any more"
    else:
        yield from _proposed(request)
    for reason in found.reasons:
        yield "reason", reason
    if told := beside_it(found):
        yield "besides", told
    if approval.approver is not None:
        yield "approver", approval.approver
        yield "decided", shown_time(approval.decided_at)
    if approval.expires_at is not None:
        yield "until", shown_time(approval.expires_at)
    if approval.used_by is not None:
        yield "used by", approval.used_by


def beside_it(found: ShownApproval) -> str:
    """Return for what the call was held besides, which a grant does not answer; "" for nothing."""
    others = [each for each in found.reasons if not each.partition("@")[0].endswith(_WISH)]
    if not others:
        return ""
    said = f"the request for revision says what does: pmcl judge {found.approval.approval_id}"
    return f"a grant does not lift {', '.join(others)}; {said}"


def _proposed(request: CheckpointRequest) -> Iterator[tuple[str, str]]:
    yield "goal", shown_whole(request.goal)
    yield "arguments", shown_whole(request.arguments)
    for index, step in enumerate(request.steps):
        yield f"step {index}", shown_whole(msgspec.to_builtins(step))
    for resource in request.resources:
        yield "resource", f"{resource.kind} {shown_whole(resource.value)}"
    yield "expected", shown_whole(request.expected_outcome or "not said")
