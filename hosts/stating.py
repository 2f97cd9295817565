"""What is said of the calls of a block goes with each of them, and the innermost word counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypedDict, Unpack

import msgspec

from pmcl.contracts import Justification, Premortem
from pmcl.hosts.adapter import Stated

__all__ = ["StatedFields", "stated_here", "stating"]

_NOTHING = Stated()
_stated: ContextVar[Stated] = ContextVar("pmcl_stated", default=_NOTHING)


class StatedFields(TypedDict, total=False):
    """What the model says of its own calls; see `pmcl.hosts.adapter.Stated`."""

    goal: str | None
    expected_outcome: str | None
    premortem: Premortem | None
    justification: Justification | None
    rejected_alternatives: tuple[str, ...]
    evidence_ids: tuple[str, ...]


@contextmanager
def stating(**fields: Unpack[StatedFields]) -> Iterator[None]:
    """Say this of every guarded call inside the block, beside what is said further out.

    It holds for this thread or task, and for tasks that are started inside the block.
    """
    token = _stated.set(msgspec.structs.replace(_stated.get(), **fields))
    try:
        yield
    finally:
        _stated.reset(token)


def stated_here() -> Stated:
    """Return what is said of a call that is made here."""
    return _stated.get()
