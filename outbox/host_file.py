"""A host's own file: every number is given once, every claim has one owner and one outcome.

It holds no content. All processes of one host on one machine share it, and each operation is one
transaction: seen by all of them when it returns. Numbers count observations, outcomes, audit
receipts and voids together, from 1 and without a gap. Rows of the outbox go when the ledger says
that it has them, and never because the bus took them.

Claims are on disk when their operation returns, and so are results but for one that is written
beside reservations. What a loss of power may take back is only what another start finds out by
itself: that messages were acknowledged, sent or receipted, which of the numbers were given that the
last sync had promised, and that a claim was closed, which then ends as `unknown`. That messages
were acknowledged waits for the next transaction of this process; all others see the watermark at
once.
Source: DESIGN sections 2 (a host's watermark) and 3.8.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import AuditReceipt, Outcome, Received, encode, sha256
from pmcl.outbox import host_parking as parking
from pmcl.outbox import host_units as units
from pmcl.outbox.boot import boot_id
from pmcl.outbox.host_changes import HostChanges
from pmcl.outbox.host_mark import open_mark
from pmcl.outbox.host_units import Claim, Kind, queries
from pmcl.outbox.owners import has_siblings, is_gone, opening, own
from pmcl.store import StoreConfig, StoreUnavailableError, Transaction, open_writer

__all__ = [
    "Claim",
    "HostFile",
    "HostFileSwept",
    "PendingMessage",
    "message_id",
    "open_host_file",
]

_APPLICATION_ID = 0x504D4348
_VERSION = 3


class HostFileSwept(msgspec.Struct, frozen=True):
    """What a sweep closed: claims of dead owners as `unknown`, stale reservations as voids."""

    orphans: int
    voids: int


class PendingMessage(msgspec.Struct, frozen=True):
    """A message that the ledger has not receipted."""

    number: int
    kind: Kind
    body: bytes


def message_id(epoch: str, number: int, body: bytes) -> str:
    """Return the `Nats-Msg-Id` of a numbered message: the same for every try of the same message.

    The number is part of it: a later observation of the same key must reach the stream, since its
    number must reach the ledger.
    """
    return sha256(f"{epoch}/{number}/".encode() + body)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class HostFile:
    """The shared file, as one owner sees it."""

    def __init__(
        self, changes: HostChanges, path: Path, owner: str, now_ms: Callable[[], int]
    ) -> None:
        self._changes = changes
        self._mark = changes.mark
        self._untold = changes.untold
        self._path = path
        self._now_ms = now_ms
        self.owner = owner
        self.epoch = ""

    async def load(self) -> None:
        """Give the file its epoch, if it has none, and read it.

        The first to do so since the machine was started closes what a loss of power left open.
        """
        boot = self._changes.boot

        def unit(tx: Transaction) -> str:
            tx.run(queries.create, host_epoch=ulid_now(), boot=boot)
            state = units.read_state(tx)
            if state["boot"] != boot:
                units.close_promised(tx, boot)
            return str(state["host_epoch"])

        self.epoch = await self._changes.run(unit)

    @property
    def watermark(self) -> int:
        """The highest number that the bus has acknowledged to any process, 0 for none."""
        return self._mark.acknowledged

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits for a receipt and no claim is open."""
        return self._mark.is_empty

    def is_full(self, *, outstanding: int = 0) -> bool:
        """Return whether nothing but audit receipts may be added.

        Args:
            outstanding: verdicts that may still become rows.
        """
        return self._mark.is_full(outstanding)

    async def reserve(self, count: int, deadline_ms: int) -> int:
        """Reserve `count` numbers until `deadline_ms` (wall clock) and return the first.

        Raises:
            HostFileFullError: there would be no room for the voids of lost ones.
        """
        first, _ = await self._reserve(count, deadline_ms, None)
        return first

    async def finish_reserving(
        self, result: Outcome | AuditReceipt, count: int, deadline_ms: int
    ) -> tuple[int, PendingMessage]:
        """Do what `reserve` and `finish` do, at once; the result's number is the last.

        A loss of power may take it back as long as nothing durable has followed. The claim is then
        open, so that it ends as `unknown`: a second outcome where the bus has the first.

        Raises:
            HostError: nothing was written; as `reserve` or as `finish`.
        """
        first, number = await self._reserve(count, deadline_ms, result)
        return first, _message(number, result)

    async def _reserve(
        self, count: int, deadline_ms: int, result: Outcome | AuditReceipt | None
    ) -> tuple[int, int]:
        """Return the first number, and the one of the result."""
        besides = 0 if result is None else 1

        def unit(tx: Transaction, *, durable: bool = True) -> tuple[int, int] | None:
            first = units.reserve(
                tx, self.owner, count, deadline_ms, durable=durable, besides=besides
            )
            if first is None:
                return None
            return first, 0 if result is None else units.finish(tx, result)

        voids = self._mark.voids
        given = await self._changes.run(partial(unit, durable=False), durable=False)
        if given is None:
            given = await self._changes.run(unit)
        assert given is not None
        self._untold.reserve(range(given[0], given[0] + count), voids)
        return given

    async def acknowledged(self, numbers: Sequence[int]) -> frozenset[int]:
        """Close acknowledged reservations and return those that were still open.

        A number that is not returned was closed by a void: its observation must be reported as
        lost, whatever the bus said.
        """
        are_open = self._untold.are_open(numbers, self._mark.voids)
        self._untold.forget(numbers)
        if are_open and self._changes.acknowledge(numbers):
            self._untold.release(numbers)
            return frozenset(numbers)
        return await self._changes.run(lambda tx: units.acknowledged(tx, numbers), durable=False)

    async def void(self, numbers: Sequence[int]) -> int:
        """Close reservations by voids, to be delivered, and return how many were still open."""
        self._untold.forget(numbers)
        return await self._changes.run(lambda tx: self._changes.void(tx, numbers), durable=False)

    async def lost(self, numbers: Sequence[int]) -> int:
        """Close acknowledged numbers whose messages are lost; return how many there were.

        What waits in the outbox or is still reserved is not lost, and stays.
        """
        return await self._changes.run(lambda tx: units.close_lost(tx, numbers))

    def is_alone(self) -> bool:
        """Return whether no other process has the file open."""
        return not has_siblings(self._path, self.owner)

    async def claim(self, claim: Claim) -> bool:
        """Claim a call and return True, or False when it was claimed before by anybody."""
        now_ms = self._now_ms()
        return await self._changes.run(lambda tx: units.claim(tx, self.owner, claim, now_ms))

    async def finish(self, result: Outcome | AuditReceipt) -> PendingMessage:
        """Close a claim with its result, and return the message that is to be delivered.

        Raises:
            HostError: no such claim, of another proposal, or it has a result already.
        """
        return _message(await self._changes.run(lambda tx: units.finish(tx, result)), result)

    async def close_unused(self, outcomes: Sequence[tuple[Claim, Outcome]]) -> int:
        """Claim and close those verdicts that nobody claimed; return how many these were."""

        def unit(tx: Transaction) -> int:
            unclaimed = [
                outcome for claim, outcome in outcomes if units.claim(tx, self.owner, claim, now_ms)
            ]
            for outcome in unclaimed:
                units.finish(tx, outcome)
            return len(unclaimed)

        now_ms = self._now_ms()
        return await self._changes.run(unit)

    async def sweep(self) -> HostFileSwept:
        """Close what dead owners left, and reservations past their deadline.

        A claim of a dead owner becomes `unknown`, once, whoever sweeps at the same time.
        """

        def unit(tx: Transaction) -> HostFileSwept:
            late = [row["number"] for row in tx.all(queries.late_reservations, now_ms=now_ms)]
            voids, orphans = self._changes.void(tx, late), 0
            for owner in [row["owner"] for row in tx.all(queries.owners)]:
                if owner != self.owner and is_gone(self._path, owner):
                    left = tx.all(queries.reservations_of, owner=owner)
                    voids += self._changes.void(tx, [row["number"] for row in left])
                    orphans += units.close_orphans(tx, owner, now_ms)
            return HostFileSwept(orphans, voids)

        now_ms = self._now_ms()
        return await self._changes.run(unit)

    async def pending(self, *, after: int, sent_before_ms: int, limit: int) -> list[PendingMessage]:
        """Return unreceipted messages above `after` not sent since `sent_before_ms`, in order."""

        def unit(tx: Transaction) -> list[PendingMessage]:
            rows = tx.all(queries.pending, after=after, before_ms=sent_before_ms, limit=limit)
            return [PendingMessage(row["number"], row["kind"], row["body"]) for row in rows]

        found = await self._changes.read(unit)
        return [each for each in found if not self._untold.was_sent(each.number, sent_before_ms)]

    async def sent(self, numbers: Sequence[int]) -> None:
        """Note which messages the bus has acknowledged; they stay until they are receipted."""
        now_ms = self._now_ms()
        if self._changes.acknowledge(numbers):
            self._untold.send(numbers, now_ms)
        else:
            await self._changes.run(lambda tx: units.sent(tx, numbers, now_ms), durable=False)

    async def receipted(self, received: Received) -> bool:
        """Drop what the ledger has committed; return whether everything left must be sent again.

        A receipt for numbers that were never given changes nothing.
        """

        def unit(tx: Transaction) -> bool:
            state = units.read_state(tx)
            if max((received.through, *received.beyond)) >= state["next_number"]:
                return False
            units.drop(tx, received, now_ms)
            known = state["ledger_epoch"]
            if known != received.ledger_epoch:
                tx.run(queries.set_ledger_epoch, ledger_epoch=received.ledger_epoch)
            return known not in (None, received.ledger_epoch) and units.send_again(tx)

        now_ms = self._now_ms()
        return await self._changes.run(unit, durable=False)

    async def park(self, numbers: Sequence[int]) -> None:
        """Set results aside, all or none; raises `HostError` when one does not wait here."""
        now_ms = self._now_ms()
        await self._changes.run(lambda tx: parking.park(tx, numbers, now_ms))

    async def unpark(self, numbers: Sequence[int]) -> list[int]:
        """Put parked results back and return their new numbers; raises as `park`."""
        return await self._changes.run(lambda tx: parking.unpark(tx, numbers))


def _message(number: int, result: Outcome | AuditReceipt) -> PendingMessage:
    kind: Kind = "outcome" if isinstance(result, Outcome) else "audit"
    return PendingMessage(number, kind, encode(result))


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # `touch` opens no file that is there: closing one would drop SQLite's locks in this process.
    path.touch(mode=0o600)


@asynccontextmanager
async def open_host_file(
    path: Path, now_ms: Callable[[], int] = _wall_ms
) -> AsyncIterator[HostFile]:
    """Open the file as a new owner; it is made (0600, its directory 0700) when it is missing.

    Raises:
        HostError: a sibling has been opening it for too long.
        LedgerError: it cannot be used.
    """
    config = StoreConfig(
        path=path,
        schemas=(queries.schema,),
        application_id=_APPLICATION_ID,
        version=_VERSION,
        shared=True,
    )
    async with AsyncExitStack() as stack:
        try:
            _make(path)
            owner = stack.enter_context(own(path))
            async with opening(path):
                mark = stack.enter_context(open_mark(path))
                writer = await stack.enter_async_context(open_writer(config))
        except OSError as error:
            raise StoreUnavailableError(path, error.strerror or str(error)) from error
        changes = HostChanges(writer, mark, boot_id())
        host_file = HostFile(changes, path, owner, now_ms)
        await host_file.load()
        try:
            yield host_file
        finally:
            await changes.tell()
