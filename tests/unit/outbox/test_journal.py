import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from pmcl.contracts import NumberClosed, Refused, TooLargeError, decode
from pmcl.outbox import UnitOfWork, journal
from pmcl.store import Transaction, open_reader
from tests.unit.outbox.ledger_file import LedgerFile

pytestmark = pytest.mark.anyio


def append(*bodies: bytes, subject: str = "pmcl.v1.event.s.h.x") -> Callable[[Transaction], int]:
    def unit(tx: Transaction) -> int:
        return [journal.append(tx, subject, body).sequence for body in bodies][-1]

    return unit


async def verified(ledger: LedgerFile) -> journal.Head:
    async with open_reader(ledger.config.path) as reader:
        return await journal.verify(reader)


async def rows_of(path: Path, after: int = 0, **limits: int) -> list[journal.JournalRow]:
    async with open_reader(path) as reader:
        return await journal.read(reader, after, **limits)


async def test_rows_are_numbered_and_chained_from_genesis(ledger: LedgerFile) -> None:
    assert ledger.run(journal.head) == journal.Head(0, journal.GENESIS)
    assert ledger.run(append(b"one", b"two")) == 2
    first = hashlib.sha256(bytes(32) + b"pmcl.v1.event.s.h.x\0one")
    second = hashlib.sha256(first.digest() + b"pmcl.v1.event.s.h.x\0two")
    rows = await rows_of(ledger.config.path)
    assert [(row.sequence, row.body, row.hash) for row in rows] == [
        (1, b"one", first.hexdigest()),
        (2, b"two", second.hexdigest()),
    ]
    assert await verified(ledger) == journal.Head(2, second.hexdigest())


async def test_numbers_have_no_gap_when_units_of_a_group_are_undone(ledger: LedgerFile) -> None:
    def fails(tx: Transaction) -> None:
        append(b"undone", b"undone")(tx)
        raise KeyError

    results = ledger.run_group(append(b"1"), fails, append(b"2", b"3"), fails, append(b"4"))
    assert [result for result in results if not isinstance(result, KeyError)] == [1, 3, 4]
    assert [row.body for row in await rows_of(ledger.config.path)] == [b"1", b"2", b"3", b"4"]
    assert (await verified(ledger)).sequence == 4


async def test_numbers_have_no_gap_when_a_full_file_loses_the_group(ledger: LedgerFile) -> None:
    def limit(tx: Transaction) -> None:
        (pages,) = tuple(tx.all("PRAGMA page_count")[0])
        tx.one(f"PRAGMA max_page_count = {pages + 2}")

    ledger.run(append(b"1"))
    ledger.run(limit)
    results = ledger.run_group(append(b"2"), append(b"x" * 100_000), append(b"3"))
    assert (results[0], results[2]) == (2, 3)
    assert isinstance(results[1], Exception)
    assert (await verified(ledger)).sequence == 3


TAMPERED = {
    "body changed": (3, ["UPDATE journal SET body = x'00' WHERE sequence = 3"]),
    "subject changed": (3, ["UPDATE journal SET subject = 'pmcl' WHERE sequence = 3"]),
    "hash changed": (3, [f"UPDATE journal SET hash = '{'0' * 64}' WHERE sequence = 3"]),
    "row missing": (3, ["DELETE FROM journal WHERE sequence = 3"]),
    "first row missing": (1, ["DELETE FROM journal WHERE sequence = 1"]),
    "rows moved up": (4, ["UPDATE journal SET sequence = sequence + 10 WHERE sequence > 3"]),
    "rows swapped": (
        2,
        [
            "UPDATE journal SET sequence = 100 WHERE sequence = 2",
            "UPDATE journal SET sequence = 2 WHERE sequence = 3",
            "UPDATE journal SET sequence = 3 WHERE sequence = 100",
        ],
    ),
}


@pytest.mark.parametrize("change", TAMPERED)
async def test_verify_names_the_first_row_that_is_wrong(ledger: LedgerFile, change: str) -> None:
    ledger.run(append(b"1", b"2", b"3", b"4", b"5"))
    broken, statements = TAMPERED[change]
    for statement in statements:
        ledger.tamper(statement)
    with pytest.raises(journal.BrokenChainError) as caught:
        await verified(ledger)
    assert caught.value.sequence == broken


async def test_read_keeps_both_limits_and_gives_at_least_one_row(ledger: LedgerFile) -> None:
    ledger.run(append(*[b"x" * 100] * 10))
    path = ledger.config.path
    assert [row.sequence for row in await rows_of(path, 4, max_rows=3)] == [5, 6, 7]
    assert [row.sequence for row in await rows_of(path, 0, max_bytes=250)] == [1, 2]
    assert [row.sequence for row in await rows_of(path, 0, max_bytes=1)] == [1]
    assert await rows_of(path, 10) == []


async def test_publish_appends_the_event_under_its_subject(ledger: LedgerFile) -> None:
    event = NumberClosed(scope="s", host="h", at_ms=1, reason="void")
    assert ledger.run(lambda tx: UnitOfWork(tx, 1).publish(event)) == 1
    (row,) = await rows_of(ledger.config.path)
    assert row.subject == "pmcl.v1.event.s.h.number-closed"
    assert decode(row.body, NumberClosed) == event


def test_publish_lets_in_nothing_that_could_not_be_sent(ledger: LedgerFile) -> None:
    event = Refused(scope="s", host="h", at_ms=1, code="c", field="$", limit="x" * 300_000)
    with pytest.raises(TooLargeError, match="262144 bytes"):
        ledger.run(lambda tx: UnitOfWork(tx, 1).publish(event))
    assert ledger.run(journal.head).sequence == 0
