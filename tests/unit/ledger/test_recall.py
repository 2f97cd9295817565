"""What the ledger recalls without a statement is what stands in its file."""

from typing import Any

import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    BeginLease,
    BeliefProposed,
    ConflictError,
    DisableLease,
    Heartbeat,
    MemoryProposed,
    ResumeLease,
    StaleGenerationError,
    WorkingStateProposed,
)
from pmcl.judgement import words_to_keep
from pmcl.ledger import derived, evidence, leases
from pmcl.ledger.payloads import Payload, keep, mark_words
from pmcl.outbox import inbox, journal
from pmcl.store import Transaction
from tests.unit.workers.desk import TTL_MS, Desk, Ledger

pytestmark = pytest.mark.anyio


async def recalled(desk: Desk) -> Any:
    """Return all that is recalled about the desk, and the same as the file has it."""

    def read(tx: Transaction) -> tuple[Any, ...]:
        return (
            leases.current(tx, desk.scope, desk.host),
            evidence.last_of_host(tx, desk.scope, desk.host),
            inbox.received(tx, desk.scope, desk.host, desk.epoch),
            journal.head(tx),
            derived.standing(tx, desk.scope, desk.host, "what timed out?", 0),
        )

    def both(tx: Transaction) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return read(tx), read(Transaction(tx._connection, tx._path))

    known, held = await desk.ledger.writer.run(both)
    assert known == held
    return known


async def test_recalled_facts_follow_every_event(ledger: Ledger) -> None:
    desk = Desk(ledger)
    lease, *_ = await recalled(desk)
    assert lease is None
    await desk.begin()
    lease, *_ = await recalled(desk)
    assert lease.generation == 1
    first = await desk.observe()
    _, last, received, *_ = await recalled(desk)
    assert (last[0], received.through) == (first, 1)
    ledger.clock.now_ms += 1000
    await desk.say("heartbeat", Heartbeat)
    lease, *_ = await recalled(desk)
    assert lease.expires_at == ledger.clock.now_ms + TTL_MS
    await desk.say("disable", DisableLease)
    lease, *_ = await recalled(desk)
    assert lease.state == "disabled"
    await desk.begin(ResumeLease)
    lease, *_ = await recalled(desk)
    assert lease.generation == 2
    ledger.clock.now_ms += TTL_MS
    await ledger.sweep()
    lease, *_ = await recalled(desk)
    assert lease.state == "expired"


async def test_recalled_numbers_follow_any_order(ledger: Ledger, desk: Desk) -> None:
    for number in (3, 1, 5, 4, 1, 2):
        desk.number = number - 1
        await desk.observe()
        await recalled(desk)
    _, _, received, *_ = await recalled(desk)
    assert (received.through, received.beyond) == (5, ())


async def test_recalled_facts_outlive_refusals(ledger: Ledger, desk: Desk) -> None:
    await desk.observe()
    before = await recalled(desk)
    with pytest.raises(StaleGenerationError):
        await desk.check(desk.request(generation=2))
    assert await recalled(desk) == before
    passed = desk.request(tool="read_file")
    await desk.check(passed)
    with pytest.raises(ConflictError):
        await desk.check(desk.request(call_id=passed.call_id))
    await recalled(desk)
    desk.epoch = ulid_now()
    await desk.begin(BeginLease)
    await recalled(desk)


async def test_recalled_items_follow_admission_closing_and_other_hosts(
    ledger: Ledger, desk: Desk
) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    for each in (desk, other):
        await recalled(each)
        seen = await each.observe()
        await each.reflect(
            MemoryProposed(text=f"{each.host} timed out", evidence_ids=(seen,)),
            WorkingStateProposed(text=f"{each.host} has begun", evidence_ids=(seen,)),
        )
        await recalled(other)
    *_, known = await recalled(desk)
    (begun,) = known.working_state.ids
    assert len(known.memories.ids) == 2
    seen = await desk.observe()
    await desk.reflect(
        WorkingStateProposed(text="all is done", evidence_ids=(seen,)),
        BeliefProposed(text="it is up", about="build", evidence_ids=(seen,)),
    )
    *_, known = await recalled(desk)
    assert begun not in known.working_state.ids
    await recalled(other)
    (revised,) = await ledger.rows("SELECT item_id FROM items WHERE kind = 'belief'")
    seen = await other.observe()
    down = BeliefProposed(
        text="it is down", about="build", evidence_ids=(seen,), replaces=revised["item_id"]
    )
    await other.reflect(down)
    *_, known = await recalled(desk)
    assert revised["item_id"] not in known.memories.ids


async def test_recalled_facts_outlive_what_is_derived(ledger: Ledger, desk: Desk) -> None:
    seen = await desk.observe()
    await recalled(desk)
    await ledger.writer.run(lambda tx: tx.remember(("any",), "known"))
    await desk.reflect(MemoryProposed(text="the deploy timed out", evidence_ids=(seen,)))

    def any_fact(tx: Transaction) -> str:
        return tx.recall(("any",), lambda: "forgotten")

    assert await ledger.writer.run(any_fact) == "known"


async def test_any_word_can_be_asked_for_and_finds_what_holds_it(ledger: Ledger) -> None:
    letters = " ".join(map(chr, range(0x20, 0x20000)))
    words = words_to_keep(f"don't isn\u2019t o'brien {letters}")
    assert {"don't", "isn't", "o'brien", "\u19b0"} <= {*words}

    def unfound(tx: Transaction) -> list[str]:
        missed = []
        for start in range(0, len(words), 1000):
            chunk = words[start : start + 1000]
            said = mark_words("scope", "local_only", chunk)
            keep(tx, Payload(scope="scope", id=f"{start}", salt=b"", content=b"{}", words=said))
            missed += [word for word in chunk if not is_found(tx, word)]
        return missed

    assert await ledger.writer.run(unfound) == []


def is_found(tx: Transaction, word: str) -> bool:
    marked = mark_words("scope", "local_only", (word,))
    found = "SELECT max(rowid) = (SELECT max(payload) FROM payloads) AS newest FROM payload_words"
    row = tx.one(f"{found} WHERE payload_words MATCH :word", word=f'"{marked}"')
    return row is not None and bool(row["newest"])
