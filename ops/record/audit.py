"""`pmcl audit verify`: the journal, LOG and the payloads are held against each other, row by row.

Nothing is written. Each kind of fault is told by the first row that has it, and the walk goes on to
the end, so that what is told of one row does not hide another.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

import msgspec

from pmcl.bus import LOG, Connection, StreamState, stream_state
from pmcl.contracts import EVENTS, Event, PayloadErased, PayloadRetaken, RefusedError, decode
from pmcl.ledger import payloads
from pmcl.ledger.payloads import Envelope
from pmcl.ops.console import console
from pmcl.ops.progress import Advance, progress
from pmcl.ops.reach import check_ledger, reach_log
from pmcl.ops.settings import Settings
from pmcl.outbox import journal, read_log
from pmcl.outbox.journal import GENESIS, Chain, Head, JournalRow
from pmcl.store import Reader, open_reader

__all__ = ["Audit", "Fault", "audit_record", "show_audit"]

Where = Literal["journal", "log", "agreement", "payload"]

_BATCH_ROWS: Final = 200
_ENVELOPES: Final = (
    ".evaluated",
    ".evidence-recorded",
    ".evolution-proposed",
    ".identity-configured",
    ".item-admitted",
    ".payload-erased",
    ".payload-retaken",
    ".proposal-rejected",
)


class Fault(msgspec.Struct, frozen=True):
    """The first row that is not as it must be; sequence 0 where no row is to blame."""

    where: Where
    sequence: int
    what: str


class _Committed(NamedTuple):
    sequence: int
    envelope: Envelope
    kind: Literal["first", "again", "erased"]


class Audit:
    """What a walk has found so far.

    Attributes:
        faults: at most one for each place, the first.
        checked, absent, erased: payloads that keep their commitment, envelopes without a payload,
            and how many of these were erased.
    """

    def __init__(self) -> None:
        self.faults: dict[Where, Fault] = {}
        self.checked = 0
        self.absent = 0
        self.erased = 0
        self._chains: dict[Where, Chain] = {}
        self._suspects: dict[tuple[str, str], int] = {}

    def fault(self, where: Where, sequence: int, what: str) -> None:
        """Take down a fault, if it is the first of its place."""
        self.faults.setdefault(where, Fault(where, sequence, what))

    def follow(self, where: Where, row: JournalRow, before: Head) -> None:
        """Check one row of a chain; `before` is where the chain begins."""
        chain = self._chains.setdefault(where, Chain(before))
        if not chain.follows(row):
            self.fault(where, row.sequence, "it is not what its hash says, or not in its place")

    def compare(
        self, sequence: int, row: JournalRow | None, stored: JournalRow | None, before: Head
    ) -> None:
        """Check that journal and LOG have the same at `sequence`, and LOG in its own chain."""
        if stored is None:
            self.fault("agreement", sequence, "LOG lacks it")
            self._chains["log"] = Chain(before if row is None else Head(sequence, row.hash))
            return
        if row is None:
            self.fault("agreement", sequence, "the journal lacks it")
        elif stored != row:
            self.fault("agreement", sequence, "LOG has another row there")
        self.follow("log", stored, before)

    async def weigh(self, reader: Reader, rows: Sequence[JournalRow]) -> None:
        """Check that each payload is what its envelope commits to."""
        events = self._envelopes(rows)
        envelopes = [event.envelope for event in events]
        kept = await payloads.commitments(reader, envelopes)
        for event in events:
            name = event.envelope.scope, event.envelope.id
            self._weigh(event, name, kept.get(name))

    def _weigh(self, event: _Committed, name: tuple[str, str], found: str | None) -> None:
        if event.kind == "erased":
            self.erased += 1
            if found is not None:
                self.fault("payload", event.sequence, f"{name[1]} was erased and is still there")
        elif found is None:
            self.absent += event.kind == "first"
        elif found != event.envelope.commitment:
            self._suspects[name] = event.sequence  # unless it was taken again later
            return
        else:
            self.checked += 1
        self._suspects.pop(name, None)

    def blame(self) -> None:
        """Take down the first payload that no envelope explains; for the end of the walk."""
        if self._suspects:
            (_, payload_id), sequence = min(self._suspects.items(), key=itemgetter(1))
            self.fault("payload", sequence, f"the payload of {payload_id} is another one")

    def _envelopes(self, rows: Sequence[JournalRow]) -> list[_Committed]:
        found = []
        for row in rows:
            if not row.subject.endswith(_ENVELOPES):
                continue
            try:
                event = decode(row.body, *EVENTS)
            except RefusedError as refused:
                self.fault("journal", row.sequence, f"no event of this version: {refused.field}")
                continue
            committed = _committed(row.sequence, event)
            if committed is not None:
                found.append(committed)
        return found


def _committed(sequence: int, event: Event) -> _Committed | None:
    if isinstance(event, PayloadErased):
        erased = Envelope(event.scope, event.payload_id, "")
        return _Committed(sequence, erased, "erased")
    envelope = payloads.envelope_of(event)
    if envelope is None:
        return None
    again = isinstance(event, PayloadRetaken)
    return _Committed(sequence, envelope, "again" if again else "first")


async def audit_record(settings: Settings, *, quiet: bool = True) -> dict[str, Any]:
    """Return what holds of the record, and where it breaks first.

    Args:
        settings: name the ledger and its server.
        quiet: show no progress.

    Returns:
        `{"sound", "journal": {"rows", "head"}, "log": {"rows", "waiting"}, "payloads": {"checked",
        "erased", "absent"}, "faults": [{"where", "sequence", "what"}]}`.

    Raises:
        LedgerError: there is no ledger, or it cannot be read.
        BusError: LOG cannot be read.
    """
    check_ledger(settings)
    async with reach_log(settings) as connection, open_reader(settings.ledger_path) as reader:
        sources = _Sources(connection, reader, await stream_state(connection, LOG))
        # Read after LOG, the journal can only be further: rows are committed before they are sent.
        head = await journal.last(reader)
        audit = Audit()
        with progress("audit", head.sequence, quiet=quiet) as advance:
            await _walk(audit, sources, head.sequence, advance)
        return await _report(audit, sources, head)


class _Sources(NamedTuple):
    connection: Connection
    reader: Reader
    log: StreamState | None


async def _walk(audit: Audit, sources: _Sources, last: int, advance: Advance) -> None:
    after = 0
    while after < last:
        read = await journal.read(sources.reader, after, max_rows=_BATCH_ROWS)
        rows = [row for row in read if row.sequence <= last]
        await audit.weigh(sources.reader, rows)
        for row in rows:
            audit.follow("journal", row, Head(0, GENESIS))
        await _compare(audit, sources, rows, after)
        after = rows[-1].sequence
        advance(len(rows))


async def _compare(audit: Audit, sources: _Sources, rows: Sequence[JournalRow], after: int) -> None:
    """Hold LOG's rows behind `after` against these."""
    if sources.log is None:
        return
    first = max(sources.log.first, after + 1)
    last = min(sources.log.last, rows[-1].sequence)
    if first > last:
        return
    before = await _before(sources.reader, first)
    ours = {row.sequence: row for row in rows}
    for sequence, stored in enumerate(await read_log(sources.connection, first, last), start=first):
        audit.compare(sequence, ours.get(sequence), stored, before)


async def _before(reader: Reader, sequence: int) -> Head:
    """Return where LOG's own chain begins; its first rows may be purged."""
    if sequence == 1:
        return Head(0, GENESIS)
    return Head(sequence - 1, await journal.hash_of(reader, sequence - 1) or "")


async def _report(audit: Audit, sources: _Sources, head: Head) -> dict[str, Any]:
    audit.blame()
    stray, state = await payloads.stray(sources.reader), sources.log
    if stray is not None:
        audit.fault("payload", 0, f"the payload of {stray[1]} belongs to no envelope")
    if state is None and head.sequence > 0:
        audit.fault("log", 0, "there is no LOG; the next start makes it from the journal")
    last = 0 if state is None else state.last
    if last > head.sequence:
        audit.fault("agreement", head.sequence + 1, "LOG goes on, the journal ends here")
    return {
        "sound": not audit.faults,
        "journal": {"rows": head.sequence, "head": head.hash},
        "log": {"rows": 0 if state is None else state.messages, "waiting": head.sequence - last},
        "payloads": {
            "checked": audit.checked,
            "erased": audit.erased,
            "absent": audit.absent - audit.erased,
        },
        "faults": [msgspec.to_builtins(fault) for fault in audit.faults.values()],
    }


def show_audit(report: dict[str, Any]) -> None:
    """Print a report for people."""
    held, log, kept = report["journal"], report["log"], report["payloads"]
    console.print(f"journal   {held['rows']} rows, head {held['head']}", soft_wrap=True)
    console.print(f"LOG       {log['rows']} rows, {max(0, log['waiting'])} wait for the relay")
    console.print(
        f"payloads  {kept['checked']} as committed, {kept['erased']} erased, "
        f"{kept['absent']} not there"
    )
    for fault in report["faults"]:
        place = f"row {fault['sequence']}" if fault["sequence"] else "at no row"
        console.print(f"broken    {fault['where']}, {place}: {fault['what']}", soft_wrap=True)
    if report["sound"]:
        console.print("The record is sound.")
