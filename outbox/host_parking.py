"""A result that cannot be delivered is set aside, so that its host is not behind for ever.

Nothing is dropped: the result stays in the file until somebody puts it back. Its number is closed
by a void, so that the ledger's watermark goes on; put back, it gets a new one. If the ledger had it
already, the void is a repeat by its number, and the result by its own id. Only results are parked:
a void or a reservation that stayed away would hold the watermark for ever.
"""

from collections.abc import Sequence
from typing import Final

from pmcl.contracts import HostError
from pmcl.outbox.host_units import (
    HostFileFullError,
    has_room,
    post_void,
    queries,
    read_state,
    take_numbers,
)
from pmcl.store import Transaction

__all__ = ["PARKED_MAX", "park", "unpark"]

PARKED_MAX: Final = 1_000


def park(tx: Transaction, numbers: Sequence[int], now_ms: int) -> None:
    """Set results aside and post voids in their place.

    Raises:
        HostError: no outcome or audit receipt waits under a number, or too many are parked.
    """
    for number in numbers:
        if tx.run(queries.set_aside, number=number, now_ms=now_ms) != 1:
            raise HostError(f"no outcome or audit receipt waits under number {number}")
        tx.run(queries.drop, number=number)
        post_void(tx, number)
    row = tx.one(queries.count_parked)
    assert row is not None
    if row["parked"] > PARKED_MAX:
        raise HostError(f"{row['parked']} results would be parked, allowed: {PARKED_MAX}")


def unpark(tx: Transaction, numbers: Sequence[int]) -> list[int]:
    """Put parked results back into the outbox and return their new numbers, in order.

    Raises:
        HostError: none is parked under a number.
        HostFileFullError: the outbox has no room for them.
    """
    if not has_room(read_state(tx), len(numbers) - 1):
        raise HostFileFullError
    return [_put_back(tx, number) for number in numbers]


def _put_back(tx: Transaction, number: int) -> int:
    row = tx.one(queries.take_back, number=number)
    if row is None:
        raise HostError(f"nothing is parked under number {number}")
    given = take_numbers(tx, 1)
    tx.run(queries.post, number=given, kind=row["kind"], body=row["body"])
    return given
