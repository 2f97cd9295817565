"""Too much, or something broken, of one host stays that host's own trouble."""

from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import anyio
import msgspec
import pytest

from pmcl.bus import DEADLETTERS, stored_message
from pmcl.contracts import (
    DeadLetter,
    EvidencePendingError,
    EvidenceRecorded,
    Refused,
    headers,
    limits,
)
from pmcl.hosts import Host
from pmcl.workers import CheckpointWorker, Incoming, ObserveWorker, requests, streams
from tests.integration.sidecar.plain import PlainHost, open_plain
from tests.integration.sidecar.room import WITHIN_S, Room, grown, proposal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gate(monkeypatch: pytest.MonkeyPatch) -> anyio.Event:
    """What a crowd asks stays under way until this is set, however slow the machine is."""
    opened, prepare = anyio.Event(), CheckpointWorker.prepare

    async def held(worker: CheckpointWorker, incoming: Incoming) -> Any:
        if incoming.body.goal != "crowd":
            return await prepare(worker, incoming)
        await opened.wait()
        raise EvidencePendingError(headers.NUMBER, 999, "committed")

    monkeypatch.setattr(CheckpointWorker, "prepare", held)
    monkeypatch.setattr(requests, "_budget_ms", lambda *_: 1000 * WITHIN_S)
    return opened


async def _crowd(host: PlainHost, count: int, codes: list[str]) -> None:
    """Ask so many times at once."""

    async def ask() -> None:
        codes.append((await host.check(host.request(goal="crowd")))["code"])

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(ask)


async def _answered(codes: list[str], count: int) -> None:
    with anyio.fail_after(WITHIN_S):
        while len(codes) < count:  # noqa: ASYNC110 - replies of another connection
            await anyio.sleep(0.002)


async def test_a_host_that_asks_too_much_is_busy_and_nobody_else_is(
    room: Room, plain: PlainHost, neighbour: PlainHost, gate: anyio.Event
) -> None:
    codes: list[str] = []
    before = await room.counts(plain.scope)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_crowd, plain, limits.HOST_QUEUE + 8, codes)
        await _answered(codes, 8)
        assert codes == ["busy"] * 8
        reply = await neighbour.check(neighbour.request())
        assert reply["checkpoint_status"] == "passed"
        assert len(codes) == 8, "the crowd was gone before the neighbour asked"
        gate.set()
    assert Counter(codes) == {"busy": 8, "evidence_pending": limits.HOST_QUEUE}
    assert grown(before, await room.counts(plain.scope)) == {}
    assert (await plain.check(plain.request()))["checkpoint_status"] == "passed"


async def test_a_cell_that_is_full_says_so_and_goes_on(
    room: Room, neighbour: PlainHost, gate: anyio.Event
) -> None:
    hosts = limits.CELL_QUEUE // limits.HOST_QUEUE
    codes: list[str] = []
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        crowd = [
            await stack.enter_async_context(open_plain(room.credentials())) for _ in "x" * hosts
        ]
        for host in crowd:
            await host.begin()
        for host in crowd:
            tasks.start_soon(_crowd, host, limits.HOST_QUEUE + 1, codes)
        await _answered(codes, hosts)
        reply = await neighbour.check(neighbour.request())
        assert (reply["code"], reply["value"]) == ("busy", "cell")
        assert len(codes) == hosts
        gate.set()
        await _answered(codes, hosts * (limits.HOST_QUEUE + 1))
    assert Counter(codes) == {"busy": hosts, "evidence_pending": limits.CELL_QUEUE}
    assert (await neighbour.check(neighbour.request()))["checkpoint_status"] == "passed"


async def test_a_poison_message_becomes_a_dead_letter_and_its_host_goes_on(
    room: Room, neighbour: PlainHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = ObserveWorker.prepare
    attempts = 0

    async def poisoned(worker: ObserveWorker, incoming: Incoming) -> Any:
        nonlocal attempts
        if incoming.body.source == "poison":
            attempts += 1
            raise ZeroDivisionError
        return await prepare(worker, incoming)

    monkeypatch.setattr(ObserveWorker, "prepare", poisoned)
    monkeypatch.setattr(streams, "_RETRY_MS", 5)
    config = room.config()
    scope = config.credentials.scope
    letters = await room.stream(DEADLETTERS)
    async with Host.connect(config) as host:
        await host.observe(source="poison", summary="what nobody can take")
        evidence_id = await host.observe(source="tool", summary="behind it")
        refused = await room.event(scope, Refused)
        assert (refused.code, refused.cause.number) == ("dead_lettered", 1)
        assert attempts == 5
        verdict = await host.check(proposal(evidence_ids=(evidence_id,)))
        assert verdict.status == "passed"
    last = (await room.stream(DEADLETTERS)).last
    assert last == letters.last + 1
    stored = await stored_message(room.admin, DEADLETTERS, last)
    assert stored is not None
    assert stored.subject == "pmcl.v1.deadletter.observe"
    letter = msgspec.json.decode(stored.data, type=DeadLetter)
    assert (letter.reason, letter.attempts) == ("ZeroDivisionError", 5)
    assert b"what nobody can take" in letter.payload
    assert len(await room.events(scope, EvidenceRecorded)) == 1
    assert (await neighbour.check(neighbour.request()))["checkpoint_status"] == "passed"


async def test_a_defect_of_a_check_degrades_that_check_only(
    room: Room, neighbour: PlainHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = CheckpointWorker.prepare

    async def poisoned(worker: CheckpointWorker, incoming: Incoming) -> Any:
        if incoming.body.goal == "poison":
            raise ZeroDivisionError
        return await prepare(worker, incoming)

    monkeypatch.setattr(CheckpointWorker, "prepare", poisoned)
    async with Host.connect(room.config()) as host:
        for tool, status in (("read_file", "degraded"), ("write_file", "held")):
            verdict = await host.check(proposal(tool, goal="poison"))
            assert verdict.status == status
            assert verdict.reasons == ("degraded.ledger_unavailable",)
        assert (await host.check(proposal())).status == "passed"
    assert (await neighbour.check(neighbour.request()))["checkpoint_status"] == "passed"
