"""What a stream may still lose is kept in memory, as far as there is room."""

import pytest
from ulid_transform import ulid_now

from pmcl.contracts import Received
from pmcl.hosts import kept
from pmcl.hosts.intake import Numbered
from pmcl.hosts.kept import KeptObservations

EPOCH = ulid_now()


def message(number: int, size: int = 1) -> Numbered:
    return Numbered("pmcl.v1.observation.s.a", EPOCH, number, b"x" * size)


def numbers(observations: KeptObservations) -> list[int]:
    return [found.number for found in observations.find(range(100))]


def test_what_the_ledger_has_is_not_kept() -> None:
    observations = KeptObservations()
    observations.keep(map(message, range(1, 6)))
    observations.forget(Received(ledger_epoch=EPOCH, through=3))
    assert numbers(observations) == [4, 5]
    assert observations.find([2, 5]) == [message(5)]


def test_the_oldest_fall_out_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MESSAGES_MAX", 3)
    monkeypatch.setattr(kept, "_BYTES_MAX", 100)
    observations = KeptObservations()
    observations.keep(map(message, range(1, 6)))
    assert numbers(observations) == [3, 4, 5]
    observations.keep([message(6, 99)])
    assert numbers(observations) == [5, 6]
    observations.forget(Received(ledger_epoch=EPOCH, through=6))
    observations.keep([message(7, 100)])
    assert numbers(observations) == [7]
