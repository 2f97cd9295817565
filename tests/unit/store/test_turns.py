import fcntl
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from pmcl.store import StoreConfig, StoreUnavailableError, Transaction
from pmcl.store.committer import Committer, Job
from tests.unit.store.test_writer import ids, note


@pytest.fixture
def shared(config: StoreConfig) -> StoreConfig:
    return msgspec.structs.replace(config, shared=True, busy_timeout_ms=10)


def job(unit: Callable[[Transaction], Any], *, durable: bool = True) -> Job:
    return Job(unit, cast("Any", None), durable)


def synchronous(tx: Transaction) -> int:
    row = tx.one("PRAGMA synchronous")
    assert row is not None
    return int(row[0])


def test_whoever_waits_for_its_turn_does_nothing_with_the_file(shared: StoreConfig) -> None:
    committer = Committer(shared)
    with shared.path.with_name("ledger.sqlite.turn").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StoreUnavailableError, match="by another process for 10 ms"):
            Committer(shared)
        with pytest.raises(StoreUnavailableError, match="by another process"):
            committer.truncate()
        (done,) = committer.commit([job(note(1))])
        assert isinstance(done.error, StoreUnavailableError)
        fcntl.flock(other, fcntl.LOCK_UN)
        assert committer.commit([job(note(2))])[0].value == 2
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back
        committer.close()
    committer = Committer(shared)
    assert committer.commit([job(ids)])[0].value == [2]
    committer.close()


def test_a_file_of_one_process_has_no_turns(config: StoreConfig) -> None:
    committer = Committer(config)
    committer.commit([job(note(1))])
    committer.close()
    assert not [path for path in config.path.parent.iterdir() if path.suffix == ".turn"]


def test_a_group_with_a_durable_unit_waits_for_the_disk(config: StoreConfig) -> None:
    committer = Committer(config)
    groups: list[list[Job]] = [
        [job(synchronous)],
        [job(synchronous, durable=False)],
        [job(synchronous, durable=False), job(note(1))],
        [job(synchronous, durable=False)],
    ]
    full, normal = 2, 1
    levels = [committer.commit(group)[0].value for group in groups]
    assert levels == [full, normal, full, normal]
    committer.close()
