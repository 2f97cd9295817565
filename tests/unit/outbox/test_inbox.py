from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from pmcl.contracts import Received
from pmcl.outbox import inbox, ledger_epoch
from pmcl.store import Transaction
from tests.unit.outbox.ledger_file import LedgerFile

EPOCH = "0" * 26


def mark(number: int, host: str = "h", epoch: str = EPOCH) -> Callable[[Transaction], bool]:
    return lambda tx: inbox.mark(tx, "s", host, epoch, number)


def received(host: str = "h", epoch: str = EPOCH) -> Callable[[Transaction], Received]:
    return lambda tx: inbox.received(tx, "s", host, epoch)


@st.composite
def deliveries(draw: st.DrawFn) -> list[int | None]:
    """Return numbers in any order and number of times, with restarts (None) between them."""
    numbers = draw(st.lists(st.integers(1, 40), max_size=60))
    order = draw(st.permutations([*numbers, *range(1, draw(st.integers(0, 12)))]))
    restarts: list[int | None] = [None] * draw(st.integers(0, 2))
    return draw(st.permutations([*order, *restarts]))


@settings(max_examples=60, deadline=None)
@given(deliveries())
def test_each_number_is_new_once_whatever_the_order(delivered: list[int | None]) -> None:
    seen: set[int] = set()
    with TemporaryDirectory() as directory:
        ledger = LedgerFile(Path(directory) / "ledger.sqlite")
        for number in delivered:
            if number is None:
                ledger.restart()
                continue
            assert ledger.run(mark(number)) is (number not in seen)
            seen.add(number)
        found = ledger.run(received())
        rows = ledger.run(lambda tx: tx.all("SELECT number FROM inbox_beyond"))
        ledger.close()
    through = next(n for n in range(42) if n + 1 not in seen)
    assert found.through == through
    assert found.beyond == tuple(sorted(n for n in seen if n > through))
    assert len(rows) == len(found.beyond), "what the watermark passed must leave the sparse set"


def test_hosts_and_epochs_are_counted_apart(ledger: LedgerFile) -> None:
    assert ledger.run(mark(1))
    assert ledger.run(mark(1, host="other"))
    assert ledger.run(mark(1, epoch="1" * 26))
    assert not ledger.run(mark(1))
    assert ledger.run(received(host="other")).through == 1
    assert ledger.run(received(host="third")).through == 0


def test_a_gap_of_thousands_closes_at_once(ledger: LedgerFile) -> None:
    def most(tx: Transaction) -> None:
        for number in range(2001, 1, -1):
            inbox.mark(tx, "s", "h", EPOCH, number)

    ledger.run(most)
    before = ledger.run(received())
    assert (before.through, len(before.beyond)) == (0, 256)
    assert before.beyond == tuple(range(2, 258))
    assert ledger.run(mark(1))
    assert ledger.run(received()).through == 2001
    assert ledger.run(lambda tx: tx.all("SELECT * FROM inbox_beyond")) == []


def test_an_undone_unit_leaves_no_mark(ledger: LedgerFile) -> None:
    def fails(tx: Transaction) -> None:
        assert inbox.mark(tx, "s", "h", EPOCH, 1)
        raise KeyError

    assert isinstance(ledger.run_group(mark(2), fails)[1], KeyError)
    assert ledger.run(received()).beyond == (2,)
    assert ledger.run(mark(1))


def test_ledger_epoch_is_made_once_and_stays(ledger: LedgerFile) -> None:
    epoch = ledger.run(ledger_epoch)
    assert len(epoch) == 26
    ledger.restart()
    assert ledger.run(ledger_epoch) == epoch
    assert ledger.run(received()).ledger_epoch == epoch


@settings(max_examples=60, deadline=None)
@given(deliveries(), st.integers(0, 50))
def test_what_is_missing_is_what_was_not_seen(delivered: list[int | None], number: int) -> None:
    seen = {each for each in delivered if each is not None}
    with TemporaryDirectory() as directory:
        ledger = LedgerFile(Path(directory) / "ledger.sqlite")
        for each in sorted(seen, reverse=True):
            ledger.run(mark(each))
        found = ledger.run(lambda tx: inbox.missing(tx, "s", "h", EPOCH, number))
        ledger.close()
    assert found == tuple(n for n in range(1, number + 1) if n not in seen)


def test_of_what_is_missing_the_lowest_are_told(ledger: LedgerFile) -> None:
    for number in range(1_000, 1_600):
        ledger.run(mark(number))

    def missing(number: int) -> tuple[int, ...]:
        return ledger.run(lambda tx: inbox.missing(tx, "s", "h", EPOCH, number))

    assert missing(10**14) == tuple(range(1, 257))
    for number in range(1, 1_000):
        ledger.run(mark(number))
    assert missing(1_599) == ()
    assert missing(1_601) == (1_600, 1_601)
