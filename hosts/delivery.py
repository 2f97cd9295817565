"""What is in the host's file reaches the ledger, however often the bus goes away.

A message is sent until a receipt says that the ledger has committed it. Each look also closes what
dead siblings and late reservations left.
Source: DESIGN sections 2 and 3.8; facts/reliability, section 4.
"""

import anyio
import structlog

from pmcl.bus import Connection
from pmcl.contracts import BusError, Kind, LedgerError, Received
from pmcl.hosts.clock import now_s, wall_ms
from pmcl.hosts.config import HostConfig
from pmcl.hosts.intake import Numbered, store_each
from pmcl.hosts.kept import KeptObservations
from pmcl.hosts.unrecorded import UnrecordedResults
from pmcl.outbox import HostFile, PendingMessage

__all__ = ["Delivery"]

log = structlog.get_logger()

_PAGE = 64
_RETRY_S = 0.5
_RECEIPT_S = 0.5
_SEND_S = 2.0


class Delivery:
    """Delivers the outbox of one host file; `run` must run beside it."""

    def __init__(
        self,
        connection: Connection,
        file: HostFile,
        config: HostConfig,
        kept: KeptObservations,
        unrecorded: UnrecordedResults,
    ) -> None:
        self._connection = connection
        self._file = file
        self._config = config
        self._kept = kept
        self._unrecorded = unrecorded
        self._missing: tuple[int, ...] = ()
        self._missing_since: dict[int, float] = {}
        self._handed: list[PendingMessage] = []
        self._looks_for_all = True
        self._wanted = anyio.Event()
        self._progress = anyio.Event()
        self._begun = 0
        self._done = 0
        self._received: Received | None = None
        self._again_before_ms = 0
        self._swept_s = float("-inf")
        self._receipted_s = float("-inf")
        connection.on_ready(self._reconnected)

    def wake(self) -> None:
        """Look at the file now."""
        self._looks_for_all = True
        self._wanted.set()

    def hand(self, message: PendingMessage) -> None:
        """Send a message now that this process has just put into the file."""
        self._handed.append(message)
        self._wanted.set()

    def received(self, received: Received) -> None:
        """Take in a receipt, from a reply that is known to be the sidecar's; never waits.

        It is used at a later look, so that a busy host does not write for each reply.
        """
        self._received = received
        if received.missing:
            self._missing = received.missing
            self.wake()

    async def sent(self, timeout_s: float) -> bool:
        """Return whether all that it was woken for or handed was acknowledged within the time."""
        awaited = self._begun + 1
        self._wanted.set()
        with anyio.move_on_after(timeout_s):
            while self._done < awaited:
                await self._progress.wait()
            return True
        return False

    async def run(self) -> None:
        """Deliver for ever."""
        while True:
            pause_s = self._config.sweep_ms / 1000
            try:
                await self.look()
                if not self._file.is_empty:
                    pause_s = min(pause_s, _RECEIPT_S)
            except (LedgerError, BusError) as error:
                log.warning("delivery.failed", error=type(error).__name__, reason=str(error))
                self._looks_for_all = True
                pause_s = _RETRY_S
            with anyio.move_on_after(pause_s) as waiting:
                await self._wanted.wait()
            self._looks_for_all |= waiting.cancelled_caught
            self._wanted = anyio.Event()

    async def look(self) -> None:
        """Write what is unrecorded, sweep and take in a receipt when it is time, send what is due.

        Raises:
            BusError: a message was not acknowledged; what was is noted.
            LedgerError: the file failed.
        """
        self._begun += 1
        await self._unrecorded.record()
        if now_s() >= self._swept_s + self._config.sweep_ms / 1000:
            await self._sweep()
        if now_s() >= self._receipted_s + _RECEIPT_S:
            await self._take_receipt()
        if self._connection.ready:
            await self._make_up()
            await self._send()
            self._done = self._begun
            self._progress.set()
            self._progress = anyio.Event()

    async def _sweep(self) -> None:
        swept = await self._file.sweep()
        self._swept_s = now_s()
        self._looks_for_all = True
        if swept.orphans or swept.voids:
            log.info("host_file.swept", orphans=swept.orphans, voids=swept.voids)

    async def _take_receipt(self) -> None:
        received, self._received = self._received, None
        if received is None:
            return
        self._receipted_s = now_s()
        self._looks_for_all = True
        self._kept.forget(received)
        if await self._file.receipted(received):
            log.warning("delivery.ledger_changed", ledger_epoch=received.ledger_epoch)

    async def _make_up(self) -> None:
        """Send again what the stream has lost, and close the numbers of what nobody here has.

        A sibling may have what this process has not, so its numbers are left open for a while.
        """
        missing, self._missing = self._missing, ()
        if not missing:
            return
        since = {number: self._missing_since.get(number, now_s()) for number in missing}
        self._missing_since = since
        self._again_before_ms = wall_ms()  # outcomes of these numbers are in the file
        again = self._kept.find(missing)
        sent = await store_each(self._connection, again, _SEND_S)
        wait_s = 0.0 if self._file.is_alone() else self._config.sibling_ms / 1000
        ours = {message.number for message in again}
        late = [n for n, seen_s in since.items() if n not in ours and now_s() >= seen_s + wait_s]
        lost = await self._file.lost(late)
        log.warning("delivery.made_up", missing=len(missing), sent=len(sent), lost=lost)

    async def _send(self) -> None:
        handed, self._handed = self._handed, []
        looks_for_all = self._looks_for_all or self._again_before_ms > 0
        self._looks_for_all = False
        if looks_for_all:
            await self._send_all()  # what was handed is in the file
        elif handed:
            await self._send_page(handed)

    async def _send_all(self) -> None:
        again_before_ms = self._again_before_ms
        before_ms = max(again_before_ms, wall_ms() - self._config.resend_ms)
        after = 0
        while rows := await self._file.pending(after=after, sent_before_ms=before_ms, limit=_PAGE):
            await self._send_page(rows)
            if len(rows) < _PAGE:
                break
            after = rows[-1].number
        if self._again_before_ms == again_before_ms:
            self._again_before_ms = 0

    async def _send_page(self, rows: list[PendingMessage]) -> None:
        stored = await store_each(self._connection, [self._numbered(row) for row in rows], _SEND_S)
        if stored:
            await self._file.sent(stored)
        if len(stored) < len(rows):
            raise BusError(f"{len(rows) - len(stored)} of {len(rows)} messages not acknowledged")

    def _numbered(self, row: PendingMessage) -> Numbered:
        kind: Kind = "observation" if row.kind == "void" else "outcome"
        return Numbered(self._config.subject(kind), self._file.epoch, row.number, row.body)

    def _reconnected(self) -> None:
        self._again_before_ms = wall_ms()
        self.wake()
