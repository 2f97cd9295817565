"""A turn ends as complete only when its block ends without an error.

Source: SPEC A4.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ulid_transform import ulid_now

from pmcl.hosts.adapter import Mediator

__all__ = ["Turn", "goal_here"]

_GOAL_CHARS = 4096


class Turn:
    """What one turn of the conversation is for.

    Attributes:
        goal: of the calls made in the turn; the user's first words if nothing else was given.
    """

    def __init__(self, mediator: Mediator, goal: str | None) -> None:
        self._mediator = mediator
        self.turn_id = ulid_now()
        self.goal = goal

    async def said(self, text: str) -> None:
        """Take what the user said for evidence; it is stored when this returns.

        Nothing but the user's own words may be given here: they license what they ask for.

        Raises:
            ObservationLostError: it was not stored in time.
            RefusedError, HostError: this host may not say so, or its file is full.
        """
        if self.goal is None:
            self.goal = text[:_GOAL_CHARS]
        await self._mediator.said(text)

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make calls inside the block calls of this turn."""
        token = _turn.set(self)
        try:
            yield
        finally:
            _turn.reset(token)


_turn: ContextVar[Turn | None] = ContextVar("pmcl_turn", default=None)


def goal_here() -> str | None:
    """Return the goal of the turn that a call made here belongs to."""
    turn = _turn.get()
    return None if turn is None else turn.goal
