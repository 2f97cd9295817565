"""Replay: what an operator says to have stored messages handed to their workers once more."""

from typing import Annotated

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.limits import REPLAY_PAGE_MAX
from pmcl.contracts.names import Count, Id, Token
from pmcl.contracts.receipts import Received
from pmcl.contracts.subjects import PREFIX, Kind

__all__ = ["Replay", "Replayed", "Selection"]

Sequence = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]


class Selection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which messages of INTAKE are meant; what is `None` is not asked for.

    Attributes:
        worker: those of the kind that this worker takes.
    """

    worker: Id | None = None
    scope: Token | None = None
    host: Token | None = None

    def subject(self, kind: Kind) -> str:
        """Return the subjects of one kind that are meant, as a pattern."""
        return f"{PREFIX}.{kind}.{self.scope or '*'}.{self.host or '*'}"


class Replay(Contract, frozen=True, kw_only=True, tag="pmcl/replay/1"):
    """Has the next messages between two sequences of INTAKE handed to their workers.

    Attributes:
        limit: how many at most; it may be fewer, so that the answer comes in time.
        label: who decides, as a name; the operator's identity is the connection's.
        dry_run: only tell what would come of it.
    """

    first: Sequence
    last: Sequence
    selection: Selection
    limit: Annotated[int, msgspec.Meta(ge=1, le=REPLAY_PAGE_MAX)]
    label: Id
    dry_run: bool = False


class Replayed(Contract, frozen=True, kw_only=True, tag="pmcl/replayed/1"):
    """The answer, of the messages that were handed on now.

    Attributes:
        through: every wanted message up to this sequence was handed on, by this or before.
        repeats: seen before; nothing happened.
        done: recorded now; with `dry_run`, they would be.
        refused: recorded as refused now, or would be, by code.
        left: neither: they failed, by the type of the error or the worker's own word.
    """

    through: Count
    repeats: Count = 0
    done: Count = 0
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    left: dict[str, int] = msgspec.field(default_factory=dict)
    received: Received | None = None
