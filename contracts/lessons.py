"""Events of lessons: which runs show that an action succeeds, when they are enough, what undoes it.

Source: SPEC D4.
"""

from typing import Literal

from pmcl.contracts.event import Event

__all__ = ["DemotionReason", "LessonDemoted", "LessonMatured", "LessonSupported"]

DemotionReason = Literal["failed_run", "lost_support", "redefined_tool"]


class LessonSupported(Event, frozen=True, kw_only=True, tag="pmcl/lesson-supported/1"):
    """A verified run counts for the lesson of its action, by evidence that counts for no other run.

    Attributes:
        fingerprint: of the action.
        definition_hash: what the run's proposal pinned of the tool.
    """

    fingerprint: str
    definition_hash: str
    outcome_id: str
    evaluation_id: str
    evidence_id: str


class LessonMatured(Event, frozen=True, kw_only=True, tag="pmcl/lesson-matured/1"):
    """The runs that count for the lesson are enough.

    Attributes:
        outcome_ids: the newest of them, as many as it takes.
    """

    fingerprint: str
    outcome_ids: tuple[str, ...]


class LessonDemoted(Event, frozen=True, kw_only=True, tag="pmcl/lesson-demoted/1"):
    """Runs count for the lesson no more; it is not mature.

    Attributes:
        outcome_id: the run that counts no more; None for every run so far.
        by: the failed outcome, the first run with another definition, or what was erased.
    """

    fingerprint: str
    reason: DemotionReason
    outcome_id: str | None
    by: str
