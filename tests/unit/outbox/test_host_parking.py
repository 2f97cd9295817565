"""What is set aside is neither sent nor lost, and its number is closed."""

from pathlib import Path

import pytest
from ulid_transform import ulid_now

from pmcl.contracts import Contract, HostError, Outcome, Received, Void, decode, limits
from pmcl.outbox import Claim, HostFile, HostFileFullError, host_parking, open_host_file

pytestmark = pytest.mark.anyio

HASH = "0" * 64
FAR = 2**50


async def result(file: HostFile, name: str) -> int:
    """The number of a finished call's outcome."""
    await file.claim(
        Claim(id=name, kind="outcome", proposal_hash=HASH, call_id="call", cause="", expires_at=FAR)
    )
    message = await file.finish(
        Outcome(
            outcome_id=ulid_now(),
            evaluation_id=name,
            proposal_hash=HASH,
            status="succeeded",
            finished_at=1,
        )
    )
    return message.number


async def bodies(file: HostFile) -> dict[int, Contract]:
    rows = await file.pending(after=0, sent_before_ms=FAR, limit=100)
    return {row.number: decode(row.body, Outcome, Void) for row in rows}


async def test_a_void_goes_in_its_place_and_it_comes_back_as_it_was(tmp_path: Path) -> None:
    async with open_host_file(tmp_path / "s.h.sqlite") as file:
        first, second = await result(file, ulid_now()), await result(file, ulid_now())
        before = await bodies(file)
        await file.park([first])
        assert await bodies(file) == {first: Void(), second: before[second]}
        assert not await file.receipted(Received(ledger_epoch=ulid_now(), through=2))
        assert await bodies(file) == {}
    async with open_host_file(tmp_path / "s.h.sqlite") as file:
        assert await file.unpark([first]) == [3]
        assert await bodies(file) == {3: before[first]}
        with pytest.raises(HostError, match="nothing is parked under number 1"):
            await file.unpark([first])


async def test_only_results_that_wait_are_parked_all_or_none(tmp_path: Path) -> None:
    async with open_host_file(tmp_path / "s.h.sqlite") as file:
        kept = await result(file, ulid_now())
        reserved = await file.reserve(2, FAR)
        await file.void([reserved])
        before = await bodies(file)
        for number in (reserved, reserved + 1, 99):
            with pytest.raises(HostError, match=f"under number {number}"):
                await file.park([kept, number])
        assert await bodies(file) == before
        with pytest.raises(HostError, match="nothing is parked"):
            await file.unpark([kept])


async def test_what_may_be_parked_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_parking, "PARKED_MAX", 1)
    async with open_host_file(tmp_path / "s.h.sqlite") as file:
        first, second = await result(file, ulid_now()), await result(file, ulid_now())
        await file.park([first])
        with pytest.raises(HostError, match="2 results would be parked, allowed: 1"):
            await file.park([second])
        monkeypatch.setattr(limits, "HOST_OUTBOX_MAX_ROWS", 2)
        with pytest.raises(HostFileFullError):
            await file.unpark([first])
