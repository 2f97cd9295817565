"""What every reply carries besides its answer."""

from typing import Annotated

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.names import Count, Ulid

__all__ = ["ErrorReply", "Received"]


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """Which of the asking host file's numbered messages the ledger has committed.

    Attributes:
        ledger_epoch: made with the ledger; another one means that it was restored or replaced.
        through: every number up to here is committed.
        beyond: committed numbers above `through`, ascending, the lowest 256 of them.
        missing: numbers below the host's watermark that are neither committed nor in the stream any
            more, ascending, the lowest 256 of them: the host sends each again, or closes it.
    """

    ledger_epoch: Ulid
    through: Count
    beyond: Annotated[tuple[Count, ...], msgspec.Meta(max_length=256)] = ()
    missing: Annotated[tuple[Count, ...], msgspec.Meta(max_length=256)] = ()


class ErrorReply(Contract, frozen=True, kw_only=True, tag="pmcl/error/1"):
    """The answer to a request that was refused; nothing was written.

    Attributes:
        code: one of the codes in `pmcl.contracts.errors`.
        field: path of the offending field.
        value: the offending value, cut; empty where it would show content.
        limit: what is allowed.
    """

    code: str
    field: str
    value: str
    limit: str
    message: str
    received: Received | None = None
