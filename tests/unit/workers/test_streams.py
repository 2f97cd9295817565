from typing import Any

import anyio
import msgspec
import pytest

from pmcl.bus import BusTimeoutError, Message
from pmcl.contracts import (
    Contract,
    DeadLetter,
    DetectorMissingError,
    EvidenceRecorded,
    Kind,
    Observation,
    Refused,
    Void,
    encode,
)
from pmcl.outbox import UnitOfWork
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers import (
    Decision,
    Incoming,
    ObserveWorker,
    Reject,
    Retry,
    Settlement,
    StreamHandler,
)
from tests.unit.workers.desk import TRUST, Desk, Ledger

pytestmark = pytest.mark.anyio


class _Scripted:
    """A worker that does as it is told, once for each message."""

    name = "observe"
    kind: Kind = "observation"
    accepts: tuple[type[Contract], ...] = (Observation,)

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.settlement: Settlement | None = None
        self.decided = 0

    async def prepare(self, incoming: Incoming) -> None:
        if self.error is not None:
            raise self.error

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        self.decided += 1
        return Decision() if self.settlement is None else Decision(settlement=self.settlement)


@pytest.fixture
def worker() -> _Scripted:
    return _Scripted()


@pytest.fixture
def handler(ledger: Ledger, worker: _Scripted) -> StreamHandler:
    return ledger.handler(worker)


async def _through(ledger: Ledger) -> int:
    rows = await ledger.rows("SELECT coalesce(max(through), 0) AS t FROM inbox_watermarks")
    return int(rows[0]["t"])


async def _redeliver(ledger: Ledger, handler: StreamHandler, message: Message) -> list[bytes]:
    """Deliver one stored message until it is settled for good; the words said."""
    delivery, wire = ledger.delivery(message)
    for _ in range(20):
        await handler.handle(delivery)
        if not wire.published[-1][1].startswith(b"-NAK"):
            break
    return [word for _, word in wire.published]


def _message(desk: Desk) -> Message:
    return Message(
        subject="pmcl.v1.observation.team.desk",
        data=encode(desk.observation()),
        headers={"Pmcl-Epoch": desk.epoch, "Pmcl-Number": "1"},
    )


async def test_a_poison_message_becomes_a_dead_letter_after_bounded_attempts(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted
) -> None:
    worker.error = ZeroDivisionError("with content of the message")
    message = _message(desk)
    words = await _redeliver(ledger, handler, message)
    assert [word.split()[0] for word in words] == [b"-NAK"] * 4 + [b"+TERM"]
    delays = [msgspec.json.decode(word.removeprefix(b"-NAK "))["delay"] for word in words[:-1]]
    assert delays == sorted(delays)
    ((subject, data),) = ledger.wire.requested
    letter = msgspec.json.decode(data, type=DeadLetter)
    assert subject == "pmcl.v1.deadletter.observe"
    assert (letter.subject, letter.payload) == (message.subject, message.data)
    assert letter.headers == message.headers
    assert (letter.reason, letter.attempts) == ("ZeroDivisionError", 5)
    (refused,) = await ledger.events(Refused)
    assert (refused.code, refused.cause.number) == ("dead_lettered", 1)
    assert await _through(ledger) == 1


async def test_the_watermark_goes_on_behind_a_dead_letter(ledger: Ledger, desk: Desk) -> None:
    broken = _Scripted()
    broken.error = ZeroDivisionError()
    await desk.observe()
    assert await desk.tell(ledger.handler(broken), desk.observation()) == b"-NAK"
    await desk.observe()
    assert await _through(ledger) == 1
    handler = desk.sent[1][0]
    await _redeliver(ledger, handler, desk.sent[1][1])
    assert await _through(ledger) == 3


async def test_a_message_that_works_again_is_forgiven(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted
) -> None:
    delivery, wire = ledger.delivery(_message(desk))
    worker.error = ZeroDivisionError()
    for _ in range(4):
        await handler.handle(delivery)
    worker.error = None
    await handler.handle(delivery)
    assert wire.published[-1][1] == b"+ACK"
    assert ledger.wire.requested == []
    assert worker.decided == 1


async def test_a_dead_letter_that_cannot_be_stored_ends_nothing(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted
) -> None:
    worker.error = ZeroDivisionError()
    ledger.wire.error = BusTimeoutError("pmcl.v1.deadletter.observe", 5.0)
    delivery, wire = ledger.delivery(_message(desk))
    for _ in range(8):
        await handler.handle(delivery)
    assert {word.split()[0] for _, word in wire.published} == {b"-NAK"}
    assert await _through(ledger) == 0
    ledger.wire.error = None
    await handler.handle(delivery)
    assert wire.published[-1][1] == b"+TERM"
    assert await _through(ledger) == 1


async def test_a_rejected_message_is_a_dead_letter_at_once(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted
) -> None:
    worker.settlement = Reject("no use")
    assert await _redeliver(ledger, handler, _message(desk)) == [b"+TERM"]
    ((_, data),) = ledger.wire.requested
    assert msgspec.json.decode(data, type=DeadLetter).reason == "no use"
    assert await _through(ledger) == 1


async def test_a_retried_message_leaves_nothing_and_comes_again(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted
) -> None:
    before = await ledger.tables()
    worker.settlement = Retry(700)
    delivery, wire = ledger.delivery(_message(desk))
    for _ in range(7):  # a worker's own wish is no failure, so it is not counted
        await handler.handle(delivery)
    assert {word for _, word in wire.published} == {b'-NAK {"delay":700000000}'}
    assert await ledger.tables() == before
    worker.settlement = None
    await handler.handle(delivery)
    assert wire.published[-1][1] == b"+ACK"


async def test_what_the_ledger_cannot_take_comes_again_later_each_time(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted
) -> None:
    worker.error = StoreUnavailableError(ledger.writer._config.path, "disk is full")
    delivery, wire = ledger.delivery(_message(desk))
    for attempt in (1, 2, 3, 50):
        delivery.attempt = attempt
        await handler.handle(delivery)
    delays = [msgspec.json.decode(word.removeprefix(b"-NAK ")) for _, word in wire.published]
    assert [each["delay"] // 1_000_000 for each in delays] == [200, 400, 800, 3200]
    assert ledger.wire.requested == []


@pytest.mark.parametrize("what", ["store", "detector"])
async def test_what_is_no_fault_of_the_message_lets_it_come_again(
    ledger: Ledger, desk: Desk, handler: StreamHandler, worker: _Scripted, what: str
) -> None:
    errors: dict[str, Exception] = {
        "store": StoreBusyError(ledger.writer._config.path, 1),
        "detector": DetectorMissingError("$", "ImportError", "a detect-secrets that loads"),
    }
    before = await ledger.tables()
    worker.error = errors[what]
    delivery, wire = ledger.delivery(_message(desk))
    for _ in range(7):
        await handler.handle(delivery)
    assert {word.split()[0] for _, word in wire.published} == {b"-NAK"}
    assert ledger.wire.requested == []
    assert await ledger.tables() == before


async def test_a_message_of_another_kind_is_left_alone(
    ledger: Ledger, desk: Desk, handler: StreamHandler
) -> None:
    before = await ledger.tables()
    message = msgspec.structs.replace(_message(desk), subject="pmcl.v1.outcome.team.desk")
    assert await _redeliver(ledger, handler, message) == [b"+ACK"]
    assert await ledger.tables() == before


@pytest.mark.parametrize(
    "subject",
    [
        "pmcl.v1.observation.team.DESK",
        "pmcl.v1.observation.team.\u2028",
        "pmcl.v1.observation.team.*",
        "pmcl.v1.observation",
    ],
    ids=ascii,
)
async def test_a_subject_of_nobody_is_a_dead_letter_and_ends_no_worker(
    ledger: Ledger, desk: Desk, handler: StreamHandler, subject: str
) -> None:
    before = await ledger.tables()
    message = msgspec.structs.replace(_message(desk), subject=subject)
    assert (await _redeliver(ledger, handler, message))[-1] == b"+TERM"
    ((_, data),) = ledger.wire.requested
    assert msgspec.json.decode(data, type=DeadLetter).subject == subject
    assert await ledger.tables() == before


async def test_other_messages_pass_a_poison_message(ledger: Ledger, desk: Desk) -> None:
    class Picky(ObserveWorker):
        async def prepare(self, incoming: Incoming) -> Any:
            if incoming.body.summary == "poison":
                raise ZeroDivisionError
            return await super().prepare(incoming)

    handler = ledger.handler(Picky(ledger.key, lambda *_: TRUST))
    summaries = ["good", "poison", "good"]
    said = [await desk.tell(handler, desk.observation(summary=each)) for each in summaries]
    assert said == [b"+ACK", b"-NAK", b"+ACK"]
    assert len(await ledger.events(EvidenceRecorded)) == 2


async def test_a_void_waits_for_the_observation_that_was_stored_before_it(
    ledger: Ledger, desk: Desk
) -> None:
    """A long text is read in a thread, and a void prepares nothing."""
    await desk.begin()
    long = desk.observation(detail="a long text, which is read. " * 3000)
    at_once = [
        Message(
            subject="pmcl.v1.observation.team.desk",
            data=encode(body),
            headers={"Pmcl-Epoch": desk.epoch, "Pmcl-Number": "1"},
        )
        for body in (long, Void(), Void(lost=True))
    ]
    async with anyio.create_task_group() as tasks:
        for message in at_once:
            tasks.start_soon(desk.observer.handle, ledger.delivery(message)[0])
    (recorded,) = await ledger.events(EvidenceRecorded)
    assert recorded.evidence_id == long.evidence_id
    assert await _through(ledger) == 1
