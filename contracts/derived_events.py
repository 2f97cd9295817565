"""Events about derived state: what was admitted, what was not, and how it came to its end.

What was said is a payload, as that of evidence is. Source: SPEC B4, B5, E4.
"""

from typing import Literal

from pmcl.contracts.checkpoint import Reversibility
from pmcl.contracts.derived import ItemKind, SelfModelPart, Visibility
from pmcl.contracts.event import Event

__all__ = [
    "ChangeRadius",
    "ChangeRisk",
    "EvolutionProposed",
    "IdentityConfigured",
    "ItemAdmitted",
    "ItemClosed",
    "ItemEnd",
    "ProposalRejected",
]

ItemEnd = Literal["expired", "replaced", "resolved", "retracted", "unsupported"]
"""How an item ends; none is ever changed, and none comes back."""
ChangeRisk = Literal["low", "medium", "high"]
ChangeRadius = Literal["host", "scope"]
"""Whose later checkpoints a change of the self-model would touch."""


class ItemAdmitted(Event, frozen=True, kw_only=True, tag="pmcl/item-admitted/1"):
    """A proposal became derived state.

    Attributes:
        cycle_id: of the reflection that proposed it.
        contradicts: live beliefs that cannot hold beside this one; all of them stay.
        about_key: keyed digest of what a belief is about.
        fingerprint: of the action that a lesson is about.
        statement_key: keyed digest of all that was said, so that a repeat is known as one.
        commitment: HMAC of the payload under a salt that dies with it.
    """

    item_id: str
    cycle_id: str
    kind: ItemKind
    visibility: Visibility
    confidence: float
    evidence_ids: tuple[str, ...]
    counterevidence_ids: tuple[str, ...] = ()
    replaces: str | None = None
    contradicts: tuple[str, ...] = ()
    resolves: str | None = None
    about_key: str | None = None
    fingerprint: str | None = None
    simulated: bool = False
    statement_key: str
    commitment: str
    size_bytes: int


class ItemClosed(Event, frozen=True, kw_only=True, tag="pmcl/item-closed/1"):
    """An item counts no longer; what it was stays in the record.

    Attributes:
        by: the item that replaces or resolves it, the erasure that took its support, the operator.
    """

    item_id: str
    reason: ItemEnd
    by: str


class ProposalRejected(Event, frozen=True, kw_only=True, tag="pmcl/proposal-rejected/1"):
    """A proposal was not admitted; it is kept beside the reason.

    Attributes:
        kind: what it would have become; `self_model` for a change of the self-model.
        code, field, limit: which rule, which part of the proposal, and what the rule allows.
        evidence_ids: what it named, known or not.
    """

    proposal_id: str
    cycle_id: str
    kind: ItemKind | Literal["self_model"]
    code: str
    field: str
    limit: str
    evidence_ids: tuple[str, ...]
    statement_key: str
    commitment: str
    size_bytes: int


class EvolutionProposed(Event, frozen=True, kw_only=True, tag="pmcl/evolution-proposed/1"):
    """A change of the self-model waits; nothing but the gates and an operator's policy commits it.

    Attributes:
        risk, impact_radius, reversibility: fixed for each part, never claimed by who proposes.
    """

    proposal_id: str
    cycle_id: str
    part: SelfModelPart
    visibility: Visibility
    confidence: float
    evidence_ids: tuple[str, ...]
    simulated: bool = False
    risk: ChangeRisk
    impact_radius: ChangeRadius
    reversibility: Reversibility
    statement_key: str
    commitment: str
    size_bytes: int


class IdentityConfigured(Event, frozen=True, kw_only=True, tag="pmcl/identity-configured/1"):
    """An operator configured who the agents of a scope are; it is evidence for nothing.

    Attributes:
        identity_id: of its payload.
        version: counts from 1 in its scope.
        by: `operator/<label>`.
    """

    identity_id: str
    version: int
    by: str
    commitment: str
    size_bytes: int
