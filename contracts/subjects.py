"""The subject grammar: `pmcl.v1.<kind>.<scope>.<host>[.<leaf>]`. The subject says who speaks.

Operators speak on `pmcl.v1.ops.<verb>`, without scope and host: only their identity may.

Source: DESIGN section 2.
"""

from typing import Final, Literal

import msgspec

from pmcl.contracts.errors import ContractError
from pmcl.contracts.names import check_token

__all__ = [
    "CHECKPOINT_VERBS",
    "LEASE_VERBS",
    "OPS_VERBS",
    "PREFIX",
    "STORED_PREFIX",
    "Kind",
    "Subject",
    "inbox_prefix",
    "parse_subject",
]

PREFIX: Final = "pmcl.v1"
STORED_PREFIX: Final = "pmcl.v1.stored"
"""Where LOG republishes an event, after its commit and never before."""

Kind = Literal[
    "checkpoint", "context", "event", "lease", "observation", "ops", "outcome", "reflection"
]
LEASE_VERBS: Final = ("begin", "complete", "disable", "heartbeat", "resume")
CHECKPOINT_VERBS: Final = ("plan", "recommendation", "tool")
OPS_VERBS: Final = (
    "approval",
    "approvals",
    "approve",
    "backup",
    "deny",
    "erase",
    "identity",
    "redrive",
    "replay",
    "resume",
    "retract",
    "stop",
)

_LEAVES: Final[dict[str, tuple[str, ...] | None]] = {
    "checkpoint": CHECKPOINT_VERBS,
    "context": (),
    "event": None,
    "lease": LEASE_VERBS,
    "observation": (),
    "outcome": (),
    "reflection": ("idle", "turn"),
}


class Subject(msgspec.Struct, frozen=True):
    """One valid subject, taken apart; scope and host are "" when an operator speaks."""

    kind: Kind
    scope: str
    host: str
    leaf: str | None = None

    def __str__(self) -> str:
        if self.kind == "ops":
            return f"{PREFIX}.ops.{self.leaf}"
        head = f"{PREFIX}.{self.kind}.{self.scope}.{self.host}"
        return head if self.leaf is None else f"{head}.{self.leaf}"


def parse_subject(subject: str) -> Subject:
    """Return the parts of `subject`.

    Raises:
        ContractError: not of the grammar; `field` names the part.
    """
    tokens = subject.split(".")
    if len(tokens) == 4 and tokens[:3] == ["pmcl", "v1", "ops"]:
        return _operators(tokens[3])
    if len(tokens) not in (5, 6) or tokens[:2] != ["pmcl", "v1"]:
        raise ContractError("subject", subject, f"{PREFIX}.<kind>.<scope>.<host>[.<leaf>]")
    kind, scope, host = tokens[2:5]
    leaf = tokens[5] if len(tokens) == 6 else None
    if kind not in _LEAVES:
        raise ContractError("subject.kind", kind, ", ".join(_LEAVES))
    check_token("subject.scope", scope)
    check_token("subject.host", host)
    allowed = _LEAVES[kind]
    if allowed is None:
        check_token("subject.leaf", leaf or "")
    elif leaf not in (allowed or (None,)):
        raise ContractError("subject.leaf", leaf, ", ".join(allowed) or "none")
    return Subject(kind, scope, host, leaf)  # type: ignore[arg-type]  # kind is a key of _LEAVES


def _operators(verb: str) -> Subject:
    if verb not in OPS_VERBS:
        raise ContractError("subject.leaf", verb, ", ".join(OPS_VERBS))
    return Subject("ops", "", "", verb)


def inbox_prefix(scope: str, host: str) -> str:
    """Return the prefix of the inboxes that only this host may read."""
    return f"_INBOX.{check_token('scope', scope)}.{check_token('host', host)}"
