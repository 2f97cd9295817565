"""A chain's word about a row is about that row alone."""

from pmcl.outbox.journal import GENESIS, Chain, Head, JournalRow, chain_hash


def rows(*bodies: bytes) -> list[JournalRow]:
    made: list[JournalRow] = []
    before = GENESIS
    for sequence, body in enumerate(bodies, start=1):
        before = chain_hash(before, "s", body)
        made.append(JournalRow(sequence, "s", body, before))
    return made


def test_rows_as_they_were_written_follow() -> None:
    chain = Chain(Head(0, GENESIS))
    assert [chain.follows(row) for row in rows(b"1", b"2", b"3")] == [True, True, True]


def test_a_changed_row_does_not_follow_and_the_next_does() -> None:
    first, second, third = rows(b"1", b"2", b"3")
    chain = Chain(Head(0, GENESIS))
    changed = JournalRow(2, "s", b"two", second.hash)
    assert [chain.follows(row) for row in (first, changed, third)] == [True, False, True]


def test_a_row_out_of_place_does_not_follow() -> None:
    first, _, third = rows(b"1", b"2", b"3")
    assert [Chain(Head(0, GENESIS)).follows(row) for row in (first, third)] == [True, False]
    assert not Chain(Head(2, first.hash)).follows(third)


def test_a_chain_may_begin_behind_any_row() -> None:
    _, second, third = rows(b"1", b"2", b"3")
    assert Chain(Head(2, second.hash)).follows(third)
