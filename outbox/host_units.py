"""What one transaction of the host file does; each function runs inside a unit of the writer.

A claim is closed by exactly one result, and a number leaves the reservations by exactly one of an
acknowledgement and a void.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    AuditReceipt,
    Contract,
    HostError,
    Outcome,
    Received,
    Void,
    encode,
    limits,
)
from pmcl.store import Row, Transaction, load_queries

__all__ = [
    "Claim",
    "HostFileFullError",
    "Kind",
    "acknowledged",
    "claim",
    "close_lost",
    "close_orphans",
    "close_promised",
    "drop",
    "finish",
    "has_room",
    "post",
    "post_void",
    "promise",
    "queries",
    "read_state",
    "reserve",
    "send_again",
    "sent",
    "take_numbers",
    "void",
]

Kind = Literal["outcome", "audit", "void"]

queries = load_queries("pmcl.outbox", "host_file")
AUDIT_ROWS = limits.HOST_OUTBOX_MAX_ROWS // 10
"""How many audit receipts may come on top: local inspections go on for a while in a full file."""
PROMISED_NUMBERS = 64
"""How many numbers may be given between two syncs; a loss of power costs as many voids."""
_VOID = encode(Void())
_LOST = encode(Void(lost=True))
_KEEP_CLAIMS_MS = 300_000
"""How long a finished claim outlives its verdict, against steps of the wall clock."""


class HostFileFullError(HostError):
    """Too much waits for its receipt; nothing may be added until the ledger has it."""

    def __init__(self) -> None:
        rows, size = limits.HOST_OUTBOX_MAX_ROWS, limits.HOST_OUTBOX_MAX_BYTES
        super().__init__(f"the host's file is full, allowed: {rows} rows, {size} bytes")


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The right to run one call once.

    Attributes:
        id: evaluation id, or audit id where nobody could judge.
        cause: why nobody could judge; "" for an evaluation.
        expires_at: when the verdict ends, by this machine's clock, ms.
    """

    id: str
    kind: Literal["outcome", "audit"]
    proposal_hash: str
    call_id: str
    cause: str
    expires_at: int


def read_state(tx: Transaction) -> Row:
    """Return the file's one row of state."""
    row = tx.one(queries.state)
    assert row is not None
    return row


def has_room(row: Row, outstanding: int, beyond: int = 0) -> bool:
    """Return whether there is room.

    Args:
        row: the file's state.
        outstanding: what is not in the file and may still become rows.
        beyond: rows allowed above the limit.
    """
    rows = row["outbox_rows"] + row["open_claims"] + outstanding
    return bool(
        row["outbox_bytes"] < limits.HOST_OUTBOX_MAX_BYTES
        and rows < limits.HOST_OUTBOX_MAX_ROWS + beyond
    )


def take_numbers(tx: Transaction, count: int) -> int:
    """Give `count` numbers, never given before, and return the first."""
    row = tx.one(queries.take_numbers, count=count)
    assert row is not None
    return int(row["first"])


def promise(tx: Transaction) -> None:
    """Have later numbers count as given after a loss of power; only a durable unit may do so."""
    tx.run(queries.promise, count=PROMISED_NUMBERS)


def close_promised(tx: Transaction, boot: str | None) -> None:
    """Close by voids what an earlier run of the machine may have given without a trace.

    What was acknowledged then may be unknown as well, so that all numbers count as that.
    """
    state = read_state(tx)
    count = max(0, state["promised"] + 1 - state["next_number"])
    first = take_numbers(tx, count)
    for number in range(first, first + count):
        post_void(tx, number)
    tx.run(queries.rebooted, boot=boot)


def reserve(
    tx: Transaction, owner: str, count: int, deadline_ms: int, *, durable: bool, besides: int = 0
) -> int | None:
    """Reserve numbers and return the first; `None` when only a durable unit may give so many.

    The unit is going to give as many as `besides` says beside them.

    Raises:
        HostFileFullError: there would be no room for the voids of lost ones.
    """
    state = read_state(tx)
    if not has_room(state, count):
        raise HostFileFullError
    if not durable and state["next_number"] + count + besides - 1 > state["promised"]:
        return None
    first = take_numbers(tx, count)
    for number in range(first, first + count):
        tx.run(queries.reserve, number=number, owner=owner, deadline_ms=deadline_ms)
    return first


def acknowledged(tx: Transaction, numbers: Iterable[int]) -> frozenset[int]:
    """Close acknowledged reservations and return those that were still open."""
    kept = frozenset(number for number in numbers if tx.run(queries.release, number=number))
    if kept:
        tx.run(queries.acknowledge, number=max(kept))
    return kept


def sent(tx: Transaction, numbers: Iterable[int], now_ms: int) -> None:
    """Have acknowledged messages count as sent."""
    for number in numbers:
        tx.run(queries.sent, number=number, now_ms=now_ms)
        tx.run(queries.acknowledge, number=number)


def post(tx: Transaction, kind: Kind, result: Contract) -> int:
    """Put a message into the outbox and return its number."""
    number = take_numbers(tx, 1)
    tx.run(queries.post, number=number, kind=kind, body=encode(result))
    return number


def post_void(tx: Transaction, number: int) -> None:
    """Put a void into the outbox under a number that is given already."""
    tx.run(queries.post, number=number, kind="void", body=_VOID)


def void(tx: Transaction, numbers: Iterable[int]) -> int:
    """Replace those reservations that are still open by voids and return how many these were."""
    open_ones = [number for number in numbers if tx.run(queries.release, number=number)]
    for number in open_ones:
        post_void(tx, number)
    return len(open_ones)


def close_lost(tx: Transaction, numbers: Iterable[int]) -> int:
    """Post a void for each acknowledged number without message; return how many these were."""
    return sum(tx.run(queries.post_lost, number=number, body=_LOST) for number in numbers)


def claim(tx: Transaction, owner: str, claimed: Claim, now_ms: int) -> bool:
    """Return whether the claim is now this owner's; it never becomes a second one's.

    Raises:
        HostFileFullError: no room is left for an audit receipt. Verdicts were refused before.
    """
    if claimed.kind == "audit" and not has_room(read_state(tx), 0, AUDIT_ROWS):
        raise HostFileFullError
    fields = msgspec.structs.asdict(claimed)
    return tx.run(queries.claim, owner=owner, claimed_at=now_ms, **fields) == 1


def finish(tx: Transaction, result: Outcome | AuditReceipt) -> int:
    """Close a claim by its result and return the number; raises `HostError` when it is not open."""
    kind: Kind = "outcome" if isinstance(result, Outcome) else "audit"
    claim_id = result.evaluation_id if isinstance(result, Outcome) else result.audit_id
    number = post(tx, kind, result)
    found = {"id": claim_id, "kind": kind, "proposal_hash": result.proposal_hash}
    if tx.run(queries.close_claim, number=number, **found) != 1:
        raise HostError(f"no open claim of {kind} {claim_id} for this proposal")
    return number


def close_orphans(tx: Transaction, owner: str, now_ms: int) -> int:
    """Close the open claims of a dead owner as `unknown` and return how many these were."""
    rows = tx.all(queries.open_claims_of, owner=owner)
    for row in rows:
        finish(tx, _unknown(row, now_ms))
    return len(rows)


def _unknown(row: Row, now_ms: int) -> Outcome | AuditReceipt:
    if row["kind"] == "outcome":
        return Outcome(
            outcome_id=ulid_now(),
            evaluation_id=row["id"],
            proposal_hash=row["proposal_hash"],
            status="unknown",
            finished_at=now_ms,
        )
    return AuditReceipt(
        audit_id=row["id"],
        call_id=row["call_id"],
        proposal_hash=row["proposal_hash"],
        cause=row["cause"],
        finished_at=now_ms,
        status="unknown",
    )


def drop(tx: Transaction, received: Received, now_ms: int) -> None:
    """Drop what the ledger has committed, and finished claims of verdicts long over."""
    tx.run(queries.drop_through, through=received.through)
    for number in received.beyond:
        tx.run(queries.drop, number=number)
    before_ms = now_ms - _KEEP_CLAIMS_MS
    tx.run(queries.forget_claims, before_ms=before_ms, through=received.through)


def send_again(tx: Transaction) -> bool:
    """Have everything in the outbox sent again; return whether there is anything."""
    return tx.run(queries.send_all_again) > 0
