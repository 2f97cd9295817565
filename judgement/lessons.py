"""A lesson is what verified runs of one action show; nothing that is said matures or keeps one.

A run counts when it succeeded, its receipt was shown by evidence that counts for no other run and
was seen after the verdict, and its evaluation still says what was proposed. A failed run, or a tool
that describes itself otherwise, makes the lesson start anew. Source: SPEC D4.
"""

from typing import Final

import msgspec

__all__ = [
    "LESSON_MATURE_FROM",
    "LESSON_RUNS_MAX",
    "Lesson",
    "LessonSource",
    "Run",
    "enough_runs",
    "run_counts",
]

LESSON_MATURE_FROM: Final = 3
"""Runs from which a lesson is mature."""
LESSON_RUNS_MAX: Final = 64
"""Runs that are counted; more would tell nothing new, and no table grows with them."""


class LessonSource(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence that a counted run had cited, and where it came from."""

    evidence_id: str
    source: str


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """The mature lesson of an action.

    Attributes:
        fingerprint: of the action.
        definition_hash: of the tool in every counted run.
        runs: how many count, `LESSON_RUNS_MAX` at most.
        outcome_ids: the newest of them, as many as it takes to mature.
        cited: unerased evidence that one of these had cited.
    """

    fingerprint: str
    definition_hash: str
    runs: int
    outcome_ids: tuple[str, ...]
    cited: LessonSource | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run that succeeded and whose receipt is the expected one and was shown.

    Attributes:
        evidence_id: what shows it and counts for no other run; `None` when there is nothing.
        definition_hash: of the tool as proposed; `None` when the proposal was erased.
        failed_since: the action failed under a verdict that is not older.
    """

    outcome_id: str
    evaluation_id: str
    evidence_id: str | None
    definition_hash: str | None
    failed_since: bool = False


def run_counts(run: Run) -> bool:
    """Return whether the run counts for the lesson of its action."""
    shown = run.evidence_id is not None and run.definition_hash is not None
    return shown and not run.failed_since


def enough_runs(runs: int) -> bool:
    """Return whether so many counted runs make a lesson mature."""
    return runs >= LESSON_MATURE_FROM
