"""A tool call as an adapter sees it, and what the checkpoint made of it.

Source: SPEC C1, C9.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    Effect,
    EvidenceIds,
    Justification,
    Premortem,
    Resource,
    Reversibility,
    Text,
    ToolDefinition,
)
from pmcl.hosts.adapter.wording import told_of
from pmcl.hosts.proposal import Proposal
from pmcl.hosts.verdict import Verdict

__all__ = ["Mediated", "Stated", "ToolCall"]


def _new_call_id() -> str:
    return ulid_now()


class Stated(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the model says of its own call; all of it is optional, none of it is believed."""

    goal: Text | None = None
    expected_outcome: Text | None = None
    premortem: Premortem | None = None
    justification: Justification | None = None
    rejected_alternatives: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()
    evidence_ids: EvidenceIds = ()


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call, before anything was dispatched.

    Attributes:
        server: who offers the tool: the MCP server's name, or the agent's.
        arguments: raw, as the tool will get them.
        cwd: absolute folder that the tool runs in; relative paths start there.
        resources: what the call touches beside what its arguments show.
        effect, reversibility: the adapter's claims; the riskier of them and the sidecar's counts.
    """

    server: str
    name: str
    arguments: dict[str, Any]
    call_id: str = msgspec.field(default_factory=_new_call_id)
    definition: ToolDefinition | None = None
    cwd: Path | None = None
    resources: tuple[Resource, ...] = ()
    effect: Effect | None = None
    reversibility: Reversibility | None = None
    stated: Stated = Stated()

    def __repr__(self) -> str:
        return f"ToolCall(call_id={self.call_id!r}, tool={self.server}/{self.name})"


class Mediated(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call at the checkpoint.

    Attributes:
        proposal, verdict: `None` when it could not be asked about.
        refusal: why it could not; `None` when it was.
        revision: what would lift a hold, in words for the model.
    """

    call: ToolCall
    proposal: Proposal | None = None
    verdict: Verdict | None = None
    refusal: str | None = None
    revision: str | None = None

    @property
    def may_run(self) -> bool:
        """Whether it passed, or is a local inspection that nobody could judge."""
        return self.verdict is not None and self.verdict.status != "held"

    @property
    def told(self) -> str:
        """What the model reads of it: reasons, and what would lift a hold; "" when it may run."""
        name = f"{self.call.server}/{self.call.name}"
        if self.verdict is None:
            return f"PMCL: {name} was not run. {self.refusal}"
        if self.may_run:
            return ""
        lines = [f"PMCL held {name}; it was not run. Reasons: {', '.join(self.verdict.reasons)}."]
        return "\n".join((*lines, *told_of(self.verdict, self.revision)))
