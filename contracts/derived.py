"""Derived state: what reflection may propose, whoever reflects. It proposes, and admits nothing.

A proposal names the evidence it rests on. Fixed rules admit it or keep it with the reason why not.
Source: SPEC B4, B5, B7, E4.
"""

from typing import Annotated, Final, Literal, get_args

import msgspec

from pmcl.contracts.evidence import Confidence
from pmcl.contracts.names import Digest, EvidenceIds, Key, Ulid

__all__ = [
    "EVERY_VISIBILITY",
    "PROPOSALS_MAX",
    "BeliefProposed",
    "IntentionProposed",
    "ItemKind",
    "ItemText",
    "LessonProposed",
    "MemoryProposed",
    "Proposed",
    "RecommendationProposed",
    "Reflection",
    "SelfModelPart",
    "SelfModelProposed",
    "Visibility",
    "WorkingStateProposed",
]

PROPOSALS_MAX: Final = 16
"""Of one reflection."""

ItemKind = Literal["belief", "intention", "lesson", "memory", "recommendation", "working_state"]
"""What becomes derived state by admission; a change of the self-model never does."""
SelfModelPart = Literal["active_goals", "capabilities", "current_state", "limitations", "skills"]
"""The parts that reflection may propose to change; identity is none of them."""
Visibility = Literal["local_only", "shareable"]
EVERY_VISIBILITY: Final[tuple[Visibility, ...]] = get_args(Visibility)
ItemText = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class _Proposed(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every proposal says.

    Attributes:
        text: one statement, in plain words.
        evidence_ids: what it rests on; without any it is refused.
        visibility: never wider than that of its evidence.
        simulated: a counterfactual, which is never evidence for anything.
    """

    text: ItemText
    evidence_ids: EvidenceIds = ()
    confidence: Confidence = 0.5
    visibility: Visibility = "local_only"
    simulated: bool = False


class MemoryProposed(_Proposed, frozen=True, kw_only=True, tag="memory"):
    """Something that happened and is worth finding again."""


class BeliefProposed(_Proposed, frozen=True, kw_only=True, tag="belief"):
    """Something that seems to hold, open to revision.

    Attributes:
        about: what it is about, in a few words.
        counterevidence_ids: what speaks against it; kept beside what speaks for it.
        replaces: the belief that this one revises.
        contradicts: beliefs that cannot hold beside this one.
    """

    about: Key
    counterevidence_ids: EvidenceIds = ()
    replaces: Ulid | None = None
    contradicts: Annotated[tuple[Ulid, ...], msgspec.Meta(max_length=8)] = ()


class IntentionProposed(_Proposed, frozen=True, kw_only=True, tag="intention"):
    """Something that is still to be done, or, with `resolves`, how an open one came to its end."""

    resolves: Ulid | None = None


class WorkingStateProposed(_Proposed, frozen=True, kw_only=True, tag="working_state"):
    """Where the work stands; it replaces what was said before."""


class LessonProposed(_Proposed, frozen=True, kw_only=True, tag="lesson"):
    """How an action succeeds; it matures by verified runs of that action alone.

    Attributes:
        fingerprint: of the action, as its evaluations carry it.
    """

    fingerprint: Digest


class RecommendationProposed(_Proposed, frozen=True, kw_only=True, tag="recommendation"):
    """What the host might do next; nothing is done because of it."""


class SelfModelProposed(_Proposed, frozen=True, kw_only=True, tag="self_model"):
    """A change of the self-model, which only the gates and an operator's policy may commit."""

    part: SelfModelPart


Proposed = (
    BeliefProposed
    | IntentionProposed
    | LessonProposed
    | MemoryProposed
    | RecommendationProposed
    | SelfModelProposed
    | WorkingStateProposed
)


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """All that one reflection says."""

    proposals: Annotated[tuple[Proposed, ...], msgspec.Meta(max_length=PROPOSALS_MAX)] = ()
