"""Dead letters: what an operator says to have one dealt with after all."""

from typing import Annotated, Literal

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.event import Event
from pmcl.contracts.names import Id, Millis
from pmcl.contracts.receipts import Received

__all__ = ["DeadLetter", "LetterRedriven", "Redrive", "Redriven"]


class DeadLetter(Contract, frozen=True, kw_only=True, tag="pmcl/dead-letter/1"):
    """A message that could not be dealt with, whole, with the reason.

    Attributes:
        headers: those that are read.
        payload: base64 in JSON.
        reason: the type of the last error, or the worker's own word.
        attempts: how often it failed since the sidecar's last start.
        at: milliseconds since the epoch; 0 where it was not kept.
    """

    subject: str
    headers: dict[str, str]
    payload: bytes
    reason: str
    attempts: int
    at: Millis = 0


class Redrive(Contract, frozen=True, kw_only=True, tag="pmcl/redrive/1"):
    """Has one dead letter dealt with by its worker, once for ever.

    Attributes:
        sequence: of the stream DEADLETTERS.
        label: who decides, as a name; the operator's identity is the connection's.
        dry_run: only tell what would come of it.
    """

    sequence: Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
    label: Id
    dry_run: bool = False


class LetterRedriven(Event, frozen=True, kw_only=True, tag="pmcl/letter-redriven/1"):
    """A dead letter was dealt with after all, at an operator's word.

    Attributes:
        sequence: its number in DEADLETTERS.
        worker: by whose rules.
        by: `operator/<label>`.
    """

    sequence: int
    worker: str
    by: str


class Redriven(Contract, frozen=True, kw_only=True, tag="pmcl/redriven/1"):
    """The answer: `done` now (with `dry_run`, it would be), or `repeat`: it was done before."""

    result: Literal["done", "repeat"]
    received: Received | None = None
