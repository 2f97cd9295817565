"""Deliver, repeat, reorder, crash before and after the commit, replay: the effect is there once."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pmcl.contracts import Received
from pmcl.outbox import inbox, journal
from pmcl.store import Transaction
from tests.unit.outbox.ledger_file import LedgerFile

EPOCH = "0" * 26
HOSTS = ("a", "b")

Message = tuple[str, int]
messages = st.tuples(st.sampled_from(HOSTS), st.integers(1, 12))


def deliver(message: Message) -> Callable[[Transaction], bool]:
    """What a worker does in its unit: mark, and only for what is new append its fact."""
    host, number = message

    def unit(tx: Transaction) -> bool:
        if not inbox.mark(tx, "s", host, EPOCH, number):
            return False
        journal.append(tx, f"pmcl.v1.event.s.{host}.x", b"%d" % number)
        return True

    return unit


def received(host: str) -> Callable[[Transaction], Received]:
    return lambda tx: inbox.received(tx, "s", host, EPOCH)


def fails(message: Message) -> Callable[[Transaction], Any]:
    def unit(tx: Transaction) -> None:
        deliver(message)(tx)
        raise KeyError(message)

    return unit


class ExactlyOnce(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.directory = TemporaryDirectory()
        self.ledger = LedgerFile(Path(self.directory.name) / "ledger.sqlite")
        self.facts: list[Message] = []

    def teardown(self) -> None:
        self.ledger.close()
        self.directory.cleanup()

    def committed(self, message: Message) -> bool:
        """Take a message into the model; return whether it was new."""
        new = message not in self.facts
        if new:
            self.facts.append(message)
        return new

    @rule(message=messages)
    def deliver(self, message: Message) -> None:
        assert self.ledger.run(deliver(message)) is self.committed(message)

    @rule(group=st.lists(st.tuples(messages, st.booleans()), min_size=2, max_size=6))
    def deliver_group(self, group: list[tuple[Message, bool]]) -> None:
        units = [(deliver if good else fails)(message) for message, good in group]
        results = self.ledger.run_group(*units)
        for (message, good), result in zip(group, results, strict=True):
            if good:
                assert result is self.committed(message)
            else:
                assert isinstance(result, KeyError)

    @rule(message=messages)
    def crash_before_commit(self, message: Message) -> None:
        self.ledger.crash_within(deliver(message))

    @rule(message=messages)
    def crash_after_commit(self, message: Message) -> None:
        assert self.ledger.run(deliver(message)) is self.committed(message)
        self.ledger.restart()  # before the ack, so the message comes again
        assert self.ledger.run(deliver(message)) is False

    @precondition(lambda self: self.facts)
    @rule()
    def replay(self) -> None:
        assert not any(self.ledger.run_group(*map(deliver, self.facts)))

    @invariant()
    def journal_holds_each_fact_once_in_order(self) -> None:
        rows = self.ledger.run(
            lambda tx: tx.all("SELECT sequence, subject, body, hash FROM journal ORDER BY 1")
        )
        previous = bytes(32)
        expected = []
        for sequence, (host, number) in enumerate(self.facts, start=1):
            subject, body = f"pmcl.v1.event.s.{host}.x", b"%d" % number
            previous = hashlib.sha256(previous + subject.encode() + b"\0" + body).digest()
            expected.append((sequence, subject, body, previous.hex()))
        assert [tuple(row) for row in rows] == expected

    @invariant()
    def inbox_says_what_is_there(self) -> None:
        for host in HOSTS:
            there = {number for owner, number in self.facts if owner == host}
            through = next(n for n in range(14) if n + 1 not in there)
            found = self.ledger.run(received(host))
            assert found.through == through
            assert found.beyond == tuple(sorted(n for n in there if n > through))


ExactlyOnce.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestExactlyOnce = ExactlyOnce.TestCase
