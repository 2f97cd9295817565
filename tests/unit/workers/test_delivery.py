"""However messages come, come again, cross each other or are cut off, each counts once."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ulid_transform import ulid_now

from pmcl.bus import Message
from pmcl.contracts import OutcomeVerified, Void, encode
from pmcl.ledger import apply
from pmcl.outbox import inbox
from pmcl.store import StoreUnavailableError, Transaction, Writer
from pmcl.workers import StreamHandler
from tests.unit.workers.desk import Desk, Ledger, open_ledger, without

pytestmark = pytest.mark.anyio

Fate = Literal["works", "cut before the commit", "ack lost"]

_NOT_DOMAIN = ("payloads", "journal", "ledger", "inbox_watermarks", "inbox_beyond")
_KINDS = (
    "observation",
    "repeat",
    "conflict",
    "void",
    "malformed",
    "outcome",
    "outcome again",
    "outcome of nothing",
)


class _Failing:
    """A writer that can be told to lose what a unit has done."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.fails = False

    async def run(self, unit: Callable[[Transaction], Any]) -> Any:
        def lost(tx: Transaction) -> Any:
            unit(tx)
            raise StoreUnavailableError(Path("ledger"), "cut off")

        return await self._writer.run(lost if self.fails else unit)


def _bodies(desk: Desk, evaluations: list[Any]) -> dict[str, bytes]:
    first, second = evaluations
    return {
        "observation": encode(desk.observation()),
        "repeat": encode(desk.observation(key="k", evidence_id="0" * 26, summary="one")),
        "conflict": encode(desk.observation(key="k", summary="other")),
        "void": encode(Void()),
        "malformed": b"{",
        "outcome": encode(desk.outcome(first)),
        "outcome again": encode(desk.outcome(second)),
        "outcome of nothing": encode(desk.outcome(first, evaluation_id=ulid_now())),
    }


def _message(desk: Desk, kind: str, number: int, body: bytes) -> tuple[StreamHandler, Message]:
    handler = desk.outcomes if kind.startswith("outcome") else desk.observer
    fields = {"Pmcl-Epoch": desk.epoch, "Pmcl-Number": str(number)}
    subject = f"pmcl.v1.{handler.worker.kind}.{desk.scope}.{desk.host}"
    return handler, Message(subject=subject, data=body, headers=fields)


async def _deliver_all(
    ledger: Ledger, desk: Desk, kinds: list[str], fates: list[Fate], order: random.Random
) -> None:
    """Deliver until each message was acknowledged, in any order, with the fates given."""
    evaluations = [await desk.check(desk.request("read_file")) for _ in range(2)]
    writer = _Failing(ledger.writer)
    ledger.units._writer = writer  # type: ignore[assignment]
    waiting = [
        _message(desk, kind, number, _bodies(desk, evaluations)[kind])
        for number, kind in enumerate(kinds, start=1)
    ]
    pending = list(fates)
    while waiting:
        handler, message = order.choice(waiting)
        fate = pending.pop() if pending else "works"
        writer.fails = fate == "cut before the commit"
        word = await desk.deliver(handler, message)
        writer.fails = False
        # The inbox answers for what is there already: then there is no commit to be lost.
        assert (word == b"-NAK") == (fate == "cut before the commit")
        if fate == "works":
            waiting.remove((handler, message))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    kinds=st.lists(st.sampled_from(_KINDS), min_size=1, max_size=8),
    fates=st.lists(st.sampled_from(["cut before the commit", "ack lost", "works"]), max_size=12),
    seed=st.integers(0, 2**32),
)
async def test_each_message_counts_once_whatever_happens_to_it(
    kinds: list[str], fates: list[Fate], seed: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        async with open_ledger(Path(directory) / "ledger.sqlite") as ledger:
            desk = Desk(ledger)
            await desk.begin()
            await _deliver_all(ledger, desk, kinds, fates, random.Random(seed))
            await _check(ledger, desk, len(kinds))
            tables = without(await ledger.tables(), *_NOT_DOMAIN)
            events = await ledger.events()
        async with open_ledger(Path(directory) / "folded.sqlite") as folded:
            await folded.writer.run(partial(_fold, events))
            assert without(await folded.tables(), *_NOT_DOMAIN) == tables


def _fold(events: list[Any], tx: Transaction) -> None:
    for event in events:
        apply(tx, event)


async def _check(ledger: Ledger, desk: Desk, count: int) -> None:
    through = await ledger.writer.run(
        lambda tx: inbox.received(tx, desk.scope, desk.host, desk.epoch)
    )
    assert (through.through, through.beyond) == (count, ())
    events = [event for event in await ledger.events() if not isinstance(event, OutcomeVerified)]
    closed = Counter(event.cause.number for event in events if event.cause is not None)
    assert closed == dict.fromkeys(range(1, count + 1), 1)
    current = await ledger.rows("SELECT evaluation_id FROM outcomes WHERE corrected_by IS NULL")
    assert max(Counter(row["evaluation_id"] for row in current).values(), default=1) == 1
    envelopes = await ledger.rows("SELECT evidence_id FROM evidence ORDER BY evidence_id")
    payloads = await ledger.rows(
        "SELECT id AS evidence_id FROM payloads WHERE id IN (SELECT evidence_id FROM evidence)"
        " ORDER BY id"
    )
    assert payloads == envelopes
