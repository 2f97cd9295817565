import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import anyio.lowlevel
import msgspec
import pytest

from pmcl.bus import Connection, Message
from pmcl.contracts import (
    BeginLease,
    CheckpointRequest,
    Contract,
    ErrorReply,
    Evaluation,
    Lease,
    encode,
    headers,
)
from pmcl.outbox import UnitOfWork
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers import (
    CommitSignal,
    Decision,
    Incoming,
    RequestLimits,
    RequestLoop,
    RequestWorker,
    RuntimeSignals,
)
from tests.unit.workers.desk import AUTHORITY, Desk, Ledger, Wire

pytestmark = pytest.mark.anyio

_WITHIN_S = 5.0


class _Bus(Wire):
    """Hands requests to whoever subscribed, and gives their replies out."""

    def __init__(self) -> None:
        super().__init__()
        self.handlers: dict[str, Callable[[Message], None]] = {}
        self._said = anyio.Event()

    async def subscribe(self, subject: str, handler: Any, *, queue: str = "") -> Any:
        self.handlers[subject] = handler
        bus = self

        class Taken:
            async def unsubscribe(self) -> None:
                del bus.handlers[subject]

        return Taken()

    async def publish(self, subject: str, data: bytes, **fields: Any) -> None:
        await super().publish(subject, data, **fields)
        self._said.set()
        self._said = anyio.Event()

    async def send(self, message: Message) -> None:
        kind = message.subject.split(".")[2]
        self.handlers[f"pmcl.v1.{kind}.>"](message)

    async def replies(self, count: int) -> list[Any]:
        with anyio.fail_after(_WITHIN_S):
            while len(self.published) < count:
                await self._said.wait()
        kinds = ErrorReply | Evaluation | Lease
        return [msgspec.json.decode(data, type=kinds) for _, data in self.published]

    @property
    def connection(self) -> Connection:
        return cast("Connection", self)


class _Slow:
    """Stands in a lease worker's place and waits until it is let go."""

    name = "lease"
    kind = "lease"
    needs_watermark = False
    accepts = dict.fromkeys(["begin", "complete", "disable", "heartbeat", "resume"], BeginLease)

    def __init__(self) -> None:
        self.entered = 0
        self.let_go = anyio.Event()
        self.error: Exception | None = None

    async def prepare(self, incoming: Incoming) -> None:
        self.entered += 1
        await self.let_go.wait()
        if self.error is not None:
            raise self.error

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        return Decision(reply=_A_LEASE)


_A_LEASE = Lease(
    lease_id="0" * 26, generation=1, expires_at=1, valid_for_ms=1, heartbeat_ms=1, salt="00"
)


@asynccontextmanager
async def _serving(
    ledger: Ledger,
    *workers: Any,
    limits: RequestLimits | None = None,
    signals: RuntimeSignals | None = None,
) -> AsyncIterator[tuple[_Bus, RequestLoop]]:
    bus, commits = _Bus(), CommitSignal()
    ledger.writer.on_commit(commits.notify)
    crew = cast("tuple[RequestWorker[Any], ...]", workers)
    limits = limits or RequestLimits()
    loop = RequestLoop(bus.connection, ledger.units, commits, crew, limits, signals)
    async with anyio.create_task_group() as tasks:
        await loop.serve(tasks)
        yield bus, loop
        tasks.cancel_scope.cancel()


def _begin(desk: Desk, reply: str = "_R_.x.1", **fields: str) -> Message:
    return Message(
        subject=f"pmcl.v1.lease.{desk.scope}.{desk.host}.begin",
        data=encode(BeginLease(host_epoch=desk.epoch, authority=AUTHORITY)),
        headers=fields,
        reply=reply,
    )


def _check(
    desk: Desk, request: CheckpointRequest, number: int = 0, budget_ms: int = 2000
) -> Message:
    return Message(
        subject=f"pmcl.v1.checkpoint.{desk.scope}.{desk.host}.tool",
        data=encode(request),
        headers={
            headers.EPOCH: desk.epoch,
            headers.NUMBER: str(number),
            headers.BUDGET_MS: str(budget_ms),
        },
        reply="_R_.x.1",
    )


async def _settled() -> None:
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


async def test_a_request_is_answered_with_the_committed_reply(ledger: Ledger, desk: Desk) -> None:
    async with _serving(ledger, desk.leases, desk.checkpoint) as (bus, _):
        await bus.send(_begin(desk))
        (lease,) = await bus.replies(1)
        assert isinstance(lease, Lease)
        assert lease.joined
        await bus.send(_check(desk, desk.request("read_file")))
        _, evaluation = await bus.replies(2)
        assert isinstance(evaluation, Evaluation)
        assert evaluation.received is not None
    assert [subject for subject, _ in bus.published] == ["_R_.x.1"] * 2


@pytest.mark.parametrize(
    "reply", ["", "pmcl.v1.observation.team.desk", "$JS.API.STREAM.DELETE.LOG"]
)
async def test_a_request_whose_reply_goes_elsewhere_is_not_even_read(
    ledger: Ledger, desk: Desk, reply: str
) -> None:
    before = await ledger.tables()
    async with _serving(ledger, desk.leases) as (bus, loop):
        await bus.send(_begin(desk, reply))
        await _settled()
        await loop.drain()
    assert bus.published == []
    assert await ledger.tables() == before


async def test_one_host_cannot_take_all_places(ledger: Ledger) -> None:
    slow, busy, other = _Slow(), Desk(ledger), Desk(ledger, host="other")
    async with _serving(ledger, slow, limits=RequestLimits(cell=10, host=3)) as (bus, _):
        for _ in range(5):
            await bus.send(_begin(busy))
        errors = await bus.replies(2)
        assert [(error.code, error.value, error.limit) for error in errors] == [
            ("busy", "host", "3 requests under way")
        ] * 2
        await bus.send(_begin(other))
        await _settled()
        assert slow.entered == 4
        slow.let_go.set()
        replies = await bus.replies(6)
        assert sum(isinstance(reply, Lease) for reply in replies) == 4
        await bus.send(_begin(busy))
        assert isinstance((await bus.replies(7))[-1], Lease)


async def test_the_cell_has_so_many_places(ledger: Ledger) -> None:
    slow = _Slow()
    async with _serving(ledger, slow, limits=RequestLimits(cell=2, host=2)) as (bus, _):
        for name in ("a", "b", "c"):
            await bus.send(_begin(Desk(ledger, host=name)))
        (error,) = await bus.replies(1)
        assert (error.code, error.value, error.limit) == ("busy", "cell", "2 requests under way")


class _Told(RuntimeSignals):
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.defects: list[tuple[str, str]] = []

    def taken(self, kind: str) -> None:
        self.requests.append((kind, "taken"))

    def answered(self, kind: str, answer: str, seconds: float) -> None:
        self.requests.append((kind, answer))

    def defective(self, kind: str, error: str, line: str) -> None:
        self.defects.append((kind, error))


async def test_every_request_is_told_when_it_comes_and_by_its_end(
    ledger: Ledger, desk: Desk
) -> None:
    slow, told = _Slow(), _Told()
    limits = RequestLimits(cell=1)
    async with _serving(ledger, slow, limits=limits, signals=told) as (bus, loop):
        await bus.send(_begin(desk, **{headers.BUDGET_MS: "1"}))
        await bus.send(_begin(desk))
        await bus.replies(1)
        with anyio.fail_after(_WITHIN_S):
            await loop.drain()
    assert told.requests == [
        ("lease", "taken"),
        ("lease", "taken"),
        ("lease", "busy"),
        ("lease", "late"),
    ]


async def test_a_request_that_takes_longer_than_its_budget_gets_no_reply(
    ledger: Ledger, desk: Desk
) -> None:
    slow = _Slow()
    async with _serving(ledger, slow, limits=RequestLimits(cell=1)) as (bus, loop):
        await bus.send(_begin(desk, **{headers.BUDGET_MS: "1"}))
        with anyio.fail_after(_WITHIN_S):
            await loop.drain()
        assert (slow.entered, bus.published) == (1, [])


@pytest.mark.parametrize("budget", ["999999999999", "2000", None])
async def test_a_budget_is_cut_to_the_longest(
    ledger: Ledger, desk: Desk, budget: str | None
) -> None:
    slow = _Slow()
    fields = {} if budget is None else {headers.BUDGET_MS: budget}
    async with _serving(ledger, slow, limits=RequestLimits(budget_ms=5)) as (bus, loop):
        await bus.send(_begin(desk, **fields))
        with anyio.fail_after(_WITHIN_S):
            await loop.drain()
        assert bus.published == []


@pytest.mark.parametrize(
    "fields",
    [
        {headers.BUDGET_MS: "soon"},
        {headers.BUDGET_MS: "9" * 400},
        {headers.NUMBER: "-1"},
        {headers.NUMBER: "1.5"},
        {headers.EPOCH: "x"},
    ],
    ids=str,
)
async def test_a_garbage_header_is_named(
    ledger: Ledger, desk: Desk, fields: dict[str, str]
) -> None:
    before = await ledger.tables()
    async with _serving(ledger, desk.leases) as (bus, _):
        await bus.send(_begin(desk, **fields))
        (error,) = await bus.replies(1)
    assert (error.code, error.field) == ("malformed", next(iter(fields)))
    assert error.limit
    assert await ledger.tables() == before


async def test_a_request_without_headers_is_answered(ledger: Ledger, desk: Desk) -> None:
    async with _serving(ledger, desk.leases) as (bus, _):
        await bus.send(_begin(desk))
        (lease,) = await bus.replies(1)
    assert lease.received is None


async def test_a_check_waits_for_its_evidence_and_then_sees_it(ledger: Ledger, desk: Desk) -> None:
    observation = desk.observation()
    request = desk.request("read_file", evidence_ids=(observation.evidence_id,))
    async with _serving(ledger, desk.checkpoint) as (bus, _):
        await bus.send(_check(desk, request, number=2))
        await _settled()
        await desk.observe()
        await _settled()
        assert bus.published == []
        await desk.tell(desk.observer, observation)
        (evaluation,) = await bus.replies(1)
    assert isinstance(evaluation, Evaluation)
    assert evaluation.evidence_ids == (observation.evidence_id,)


async def test_a_check_whose_evidence_does_not_come_is_not_judged(
    ledger: Ledger, desk: Desk
) -> None:
    before = await ledger.tables()
    async with _serving(ledger, desk.checkpoint) as (bus, _):
        await bus.send(_check(desk, desk.request("read_file"), number=1, budget_ms=500))
        (error,) = await bus.replies(1)
    assert (error.code, error.field, error.value) == ("evidence_pending", headers.NUMBER, "1")
    assert await ledger.tables() == before


async def test_a_check_waits_no_longer_because_others_commit(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    async with (
        _serving(ledger, desk.checkpoint) as (bus, _),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_observe_for_ever, other)
        await bus.send(_check(desk, desk.request("read_file"), number=1, budget_ms=500))
        (error,) = await bus.replies(1)
        tasks.cancel_scope.cancel()
    assert error.code == "evidence_pending"


async def _observe_for_ever(desk: Desk) -> None:
    while True:
        await desk.observe()


async def test_a_number_without_an_epoch_is_never_there(ledger: Ledger, desk: Desk) -> None:
    message = _check(desk, desk.request("read_file"), number=1, budget_ms=500)
    fields = {name: value for name, value in message.headers.items() if name != headers.EPOCH}
    async with _serving(ledger, desk.checkpoint) as (bus, _):
        await bus.send(msgspec.structs.replace(message, headers=fields))
        (error,) = await bus.replies(1)
    assert error.code == "evidence_pending"


class _Decides(_Slow):
    """Takes more than half of the budget inside the writer."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.let_go.set()
        self.seconds = seconds

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        time.sleep(self.seconds)
        return super().decide(unit, incoming, prepared)


async def test_a_unit_that_takes_more_than_half_of_the_budget_is_answered(
    ledger: Ledger, desk: Desk
) -> None:
    """What is committed is not called refused, or a slow disk would end a host for good."""
    limits = RequestLimits(budget_ms=500)
    async with _serving(ledger, _Decides(0.3), limits=limits) as (bus, _):
        await bus.send(_begin(desk))
        (reply,) = await bus.replies(1)
    assert isinstance(reply, Lease)


@pytest.mark.parametrize("which", ["defect", "busy", "unavailable"])
async def test_a_failing_worker_answers_and_the_next_request_works(
    ledger: Ledger, desk: Desk, which: str
) -> None:
    path = ledger.writer._config.path
    errors: dict[str, tuple[Exception, str]] = {
        "defect": (ZeroDivisionError("content"), "ledger_unavailable"),
        "busy": (StoreBusyError(path, 1), "busy"),
        "unavailable": (StoreUnavailableError(path, "full"), "ledger_unavailable"),
    }
    slow = _Slow()
    slow.let_go.set()
    slow.error, code = errors[which]
    told = _Told()
    async with _serving(ledger, slow, signals=told) as (bus, _):
        await bus.send(_begin(desk))
        (error,) = await bus.replies(1)
        assert isinstance(error, ErrorReply)
        assert error.code == code
        assert told.defects == ([("lease", "ZeroDivisionError")] if which == "defect" else [])
        assert "content" not in encode(cast("Contract", error)).decode()
        slow.error = None
        await bus.send(_begin(desk))
        assert isinstance((await bus.replies(2))[-1], Lease)


@pytest.mark.parametrize(
    ("subject", "field"),
    [
        ("pmcl.v1.lease.team.desk.renew", "subject.leaf"),
        ("pmcl.v1.lease.team.DESK.begin", "subject.host"),
        ("pmcl.v1.lease.te*m.desk.begin", "subject.scope"),
        ("pmcl.v1.lease.team.desk", "subject.leaf"),
        ("pmcl.v1.lease.team.desk.begin.x", "subject"),
    ],
)
async def test_a_subject_that_is_none_is_named(
    ledger: Ledger, desk: Desk, subject: str, field: str
) -> None:
    async with _serving(ledger, desk.leases) as (bus, _):
        await bus.send(msgspec.structs.replace(_begin(desk), subject=subject))
        (error,) = await bus.replies(1)
    assert (error.code, error.field) == ("malformed", field)


async def test_drain_waits_for_the_last_reply(ledger: Ledger, desk: Desk) -> None:
    slow = _Slow()
    async with _serving(ledger, slow) as (bus, loop):
        await bus.send(_begin(desk))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(loop.drain)
            await _settled()
            assert bus.handlers == {}
            slow.let_go.set()
        assert len(bus.published) == 1
