"""What every event says: whose it is, when it came about, and which message it closes."""

import msgspec

from pmcl.contracts.contract import Contract

__all__ = ["Cause", "Event"]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """The numbered message that an event closes: `epoch` of the host's file and its number."""

    epoch: str
    number: int


class Event(Contract, frozen=True, kw_only=True):
    """Base of all events: whose they are, when, and which message they close."""

    scope: str
    host: str
    at_ms: int
    cause: Cause | None = None
