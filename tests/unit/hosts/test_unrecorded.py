"""A result is written once the host's file can be, in order, and never twice."""

from pathlib import Path
from typing import cast

import pytest
from ulid_transform import ulid_now

from pmcl.contracts import HostError, LedgerError, Outcome
from pmcl.hosts.unrecorded import UnrecordedResults
from pmcl.outbox import HostFile
from pmcl.store import StoreUnavailableError

pytestmark = pytest.mark.anyio


class File:
    """A host's file that is full, or not; what is closed elsewhere it does not take."""

    def __init__(self) -> None:
        self.full = True
        self.closed: set[str] = set()
        self.written: list[str] = []

    async def finish(self, result: Outcome) -> int:
        if self.full:
            raise StoreUnavailableError(Path("file"), "database or disk is full")
        if result.evaluation_id in self.closed:
            raise HostError("closed")
        self.written.append(result.evaluation_id)
        return len(self.written)


def outcome() -> Outcome:
    return Outcome(
        outcome_id=ulid_now(),
        evaluation_id=ulid_now(),
        proposal_hash="0" * 64,
        status="succeeded",
        finished_at=1,
    )


async def test_results_wait_in_order_until_the_file_takes_them() -> None:
    file, results = File(), [outcome() for _ in range(3)]
    unrecorded = UnrecordedResults(cast("HostFile", file))
    for number, result in enumerate(results):
        unrecorded.add(f"call-{number}", result)
    with pytest.raises(LedgerError):
        await unrecorded.record()
    file.full = False
    file.closed = {results[1].evaluation_id}
    await unrecorded.record()
    await unrecorded.record()
    assert file.written == [results[0].evaluation_id, results[2].evaluation_id]
