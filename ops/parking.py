"""`pmcl outbox show`, `park` and `release`: single rows of a host's outbox.

What is parked is not delivered and not lost; see `outbox.host_parking` for what that costs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.contracts import AuditReceipt, Outcome, decode
from pmcl.ops.console import console, shown_minute
from pmcl.ops.known_hosts import HostNotFoundError
from pmcl.ops.reach import is_there
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.outbox import open_host_file
from pmcl.store import Row, load_queries, open_reader

__all__ = ["HostRows", "OutboxRow", "list_rows", "park_rows", "release_rows", "show_rows"]

_queries = load_queries("pmcl.ops", "outbox")
_ROWS_MAX: Final = 256


class OutboxRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a host's outbox, without its content.

    Attributes:
        kind: `outcome`, `audit` or `void`.
        id: of the outcome or the audit receipt; "" of a void.
        about: the evaluation, or the call that nobody could judge.
        sent_at, parked_at: milliseconds since the epoch; 0 where it was not.
    """

    number: int
    kind: str
    id: str = ""
    about: str = ""
    status: str = ""
    size_bytes: int = 0
    sent_at: int = 0
    parked_at: int = 0


class HostRows(msgspec.Struct, frozen=True, kw_only=True):
    """What waits in a host's file, the first 256 rows, and all that is parked."""

    host: str
    waiting: tuple[OutboxRow, ...]
    parked: tuple[OutboxRow, ...]


async def list_rows(settings: Settings, host: str) -> HostRows:
    """Return the rows; nothing is changed.

    Raises:
        HostNotFoundError: the host (`scope/name`) has no file here.
    """
    async with open_reader(_file_of(settings, host)) as reader:
        waiting = await reader.all(_queries.waiting_rows, max_rows=_ROWS_MAX)
        parked = await reader.all(_queries.parked_rows)
    return HostRows(
        host=host,
        waiting=tuple(_row(row, sent_at=row["sent_ms"]) for row in waiting),
        parked=tuple(_row(row, parked_at=row["parked_at"]) for row in parked),
    )


async def park_rows(settings: Settings, host: str, numbers: Sequence[int]) -> HostRows:
    """Set results aside, all or none, and return what is where then.

    Raises:
        HostNotFoundError: the host has no file here.
        HostError: a number is no outcome or audit receipt that waits, or too many are parked.
    """
    async with open_host_file(_file_of(settings, host)) as file:
        await file.park(numbers)
    return await list_rows(settings, host)


async def release_rows(settings: Settings, host: str, numbers: Sequence[int] = ()) -> HostRows:
    """Put parked results back, all of them without `numbers`, and return what is where then.

    Raises:
        HostNotFoundError: the host has no file here.
        HostError: nothing is parked under a number, or the outbox is full.
    """
    found = await list_rows(settings, host)
    wanted = numbers or [row.number for row in found.parked]
    if wanted:
        async with open_host_file(_file_of(settings, host)) as file:
            await file.unpark(wanted)
    return await list_rows(settings, host)


def _file_of(settings: Settings, host: str) -> Path:
    folder = settings.state_dir / "hosts"
    path = folder / f"{host.replace('/', '.', 1)}.sqlite"
    if path.parent != folder or not is_there(path):
        raise HostNotFoundError(f"host {host!r} has no file in {folder}")
    return path


def _row(row: Row, **changes: Any) -> OutboxRow:
    told = OutboxRow(number=row["number"], kind=row["kind"], size_bytes=len(row["body"]), **changes)
    match told.kind:
        case "outcome":
            outcome = decode(row["body"], Outcome)
            return msgspec.structs.replace(
                told, id=outcome.outcome_id, about=outcome.evaluation_id, status=outcome.status
            )
        case "audit":
            receipt = decode(row["body"], AuditReceipt)
            return msgspec.structs.replace(
                told, id=receipt.audit_id, about=receipt.call_id, status=receipt.status
            )
        case _:
            return told


def show_rows(found: HostRows) -> None:
    """Print the rows for people."""
    if not found.waiting and not found.parked:
        console.print(f"Nothing of {found.host} waits, and nothing is parked.", markup=False)
        return
    names = ("number", "kind", "id", "about", "status", "bytes", "sent", "parked")
    rows = [
        (
            str(row.number),
            row.kind,
            row.id,
            row.about,
            row.status,
            str(row.size_bytes),
            shown_minute(row.sent_at or None),
            shown_minute(row.parked_at or None),
        )
        for row in (*found.waiting, *found.parked)
    ]
    print_rows(names, rows)
