"""A name is stored in the open, so it holds no secret: such a message is refused, never changed.

A name is what a thing is found by again: a marked call id would be another call, a marked tool
another tool. What an outcome names is left out instead, because an outcome must not be lost.

Source: SPEC C1, C11.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from pmcl.contracts import (
    AuditReceipt,
    AuthoritySnapshot,
    CheckpointRequest,
    Observation,
    Outcome,
    SecretInNameError,
)
from pmcl.judgement.secret_names import secret_kind
from pmcl.judgement.secret_shapes import mark_secrets

__all__ = [
    "OTHER_MODE",
    "check_audit_names",
    "check_observation_names",
    "check_request_names",
    "check_snapshot_names",
    "check_turn_id",
    "is_open_name",
    "redact_outcome",
]

OTHER_MODE: Final = "other"
_NO_KEY: Final = b""  # the marks are only counted
_LIMIT: Final = "a name without a secret"
_Name = tuple[str, str]
"""Its field and the name itself."""


def is_open_name(name: str) -> bool:
    """Return whether a name may be stored in the open.

    `auth:login` is a name, `token=abc` and `auth:ghp_...` hold a secret.
    """
    if mark_secrets(name, _NO_KEY) == name:
        return True
    if "=" in name or " " in name or "://" in name:
        return False
    parts = name.split(":")
    if any(mark_secrets(part, _NO_KEY) != part for part in parts):
        return False
    return any(secret_kind(part) is not None for part in parts[:-1])


def check_request_names(request: CheckpointRequest) -> None:
    """Raise `SecretInNameError` when a name in the request holds a secret."""
    tool, receipt, premortem = request.tool, request.expected_receipt, request.premortem
    names = [
        ("$.call_id", request.call_id),
        ("$.tool.server", tool.server),
        ("$.tool.name", tool.name),
    ]
    if request.plan_call_id is not None:
        names.append(("$.plan_call_id", request.plan_call_id))
    if receipt is not None:
        names.append(("$.expected_receipt.kind", receipt.kind))
    if premortem is not None:
        names.append(("$.premortem.failure_mode", premortem.failure_mode))
    for at, step in enumerate(request.steps):
        names.append((f"$.steps[{at}].tool.server", step.tool.server))
        names.append((f"$.steps[{at}].tool.name", step.tool.name))
    _check(names)


def check_observation_names(observation: Observation) -> None:
    """Raise `SecretInNameError` when a name in the observation holds a secret."""
    _check(
        (
            ("$.key", observation.key),
            ("$.source", observation.source),
            ("$.modality", observation.modality),
        )
    )


def check_snapshot_names(authority: AuthoritySnapshot) -> None:
    """Raise `SecretInNameError` when a tool, a root or a network host holds a secret."""
    _check([*_of_snapshot(authority)])


def check_turn_id(turn_id: str) -> None:
    """Raise `SecretInNameError` when a turn id holds a secret."""
    _check((("$.turn_id", turn_id),))


def check_audit_names(receipt: AuditReceipt) -> None:
    """Raise `SecretInNameError` when what the receipt is about holds a secret."""
    _check((("$.call_id", receipt.call_id), ("$.cause", receipt.cause)))


def redact_outcome(outcome: Outcome | AuditReceipt) -> Outcome | AuditReceipt:
    """Return the outcome without what names a secret: the mode is `other`, the receipt is gone."""
    mode = outcome.failure_mode
    if mode is not None and not is_open_name(mode):
        outcome = msgspec.structs.replace(outcome, failure_mode=OTHER_MODE)
    if isinstance(outcome, AuditReceipt):
        return outcome
    receipt = outcome.receipt
    if receipt is not None and not is_open_name(receipt.kind):
        outcome = msgspec.structs.replace(outcome, receipt=None)
    redacted = outcome.failure_mode != mode or outcome.receipt is not receipt
    return msgspec.structs.replace(outcome, redacted=True) if redacted else outcome


def _of_snapshot(authority: AuthoritySnapshot) -> Iterator[_Name]:
    for tool in authority.tools:
        yield "$.authority.tools", tool
    for at, root in enumerate(authority.writable_roots):
        yield f"$.authority.writable_roots[{at}]", root
    for at, host in enumerate(authority.network_hosts):
        yield f"$.authority.network_hosts[{at}]", host


def _check(names: Sequence[_Name]) -> None:
    joined = "\n".join([name for _, name in names])
    if mark_secrets(joined, _NO_KEY) == joined:  # one scan tells nearly always
        return
    for field, name in names:
        if not is_open_name(name):
            raise SecretInNameError(field, "", _LIMIT)
