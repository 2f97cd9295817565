"""A worker: which contracts it takes, how it prepares, and the rule by which it decides.

`prepare` runs off the writer and may be slow; `decide` is synchronous, reads through the unit and
returns what happened. The runtime applies, journals, commits, and only then replies or acks.
"""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from pmcl.contracts import Contract, Event, Kind, Subject
from pmcl.ledger.payloads import Payload
from pmcl.outbox import UnitOfWork

__all__ = [
    "Decision",
    "Done",
    "Incoming",
    "Reject",
    "RequestWorker",
    "Retry",
    "Settlement",
    "StreamWorker",
]

P = TypeVar("P")


class Done(msgspec.Struct, frozen=True):
    """The message is dealt with.

    Attributes:
        how: `done`; `repeat`, seen before, so that nothing happened; or the code of its refusal.
    """

    how: str = "done"


class Retry(msgspec.Struct, frozen=True):
    """Nothing was written; the message comes again."""

    after_ms: int


class Reject(msgspec.Struct, frozen=True):
    """The message can never be dealt with; it becomes a dead letter."""

    reason: str


Settlement = Done | Retry | Reject


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """One message, its sender taken from the subject.

    Attributes:
        epoch: of the host's file; empty when the header is missing.
        number: the message's own number on a stream, the sender's watermark on a request.
    """

    subject: Subject
    body: Any
    epoch: str = ""
    number: int = 0


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker decided: facts in order, their content, and the reply of a request."""

    events: tuple[Event, ...] = ()
    payloads: tuple[Payload, ...] = ()
    reply: Contract | None = None
    settlement: Settlement = Done()


class StreamWorker(Protocol[P]):
    """Takes the messages of one kind from a stream."""

    name: str
    kind: Kind
    accepts: tuple[type[Contract], ...]

    async def prepare(self, incoming: Incoming) -> P:
        """Return what needs no transaction. Raises `RefusedError` for bad input."""
        ...

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: P) -> Decision:
        """Return what happened. Raises `RefusedError` for bad input."""
        ...


class RequestWorker(Protocol[P]):
    """Answers the requests of one kind.

    Attributes:
        accepts: the contract of each leaf of the subject.
        needs_watermark: that the request must see all that its sender had acknowledged.
    """

    name: str
    kind: Kind
    accepts: Mapping[str | None, type[Contract]]
    needs_watermark: bool

    async def prepare(self, incoming: Incoming) -> P:
        """Return what needs no transaction. Raises `RefusedError` for bad input."""
        ...

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: P) -> Decision:
        """Return what happened, with the reply. Raises `RefusedError` for bad input."""
        ...
