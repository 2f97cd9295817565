"""A payload is taken again from the very message that gave it, and from no other."""

from typing import Any

import msgspec
import pytest

from pmcl.bus import Message
from pmcl.contracts import EvidenceRecorded, Observation, PayloadRetaken, decode, encode
from pmcl.ledger import payloads
from pmcl.workers import Retaker
from tests.unit.workers.desk import NOTES, PLANS, Desk, Ledger

pytestmark = pytest.mark.anyio

_TEXT = "the notes say: ship on Friday"


async def _lost(ledger: Ledger) -> tuple[Desk, Message]:
    """A desk whose one observation has lost its payload, and the observation's message."""
    desk = Desk(ledger)
    await desk.begin()
    await desk.observe(detail=_TEXT, resources=(NOTES,))
    await ledger.writer.run(lambda tx: tx.run("DELETE FROM payloads"))
    return desk, desk.sent[-1][1]


def _changed(message: Message, **changes: Any) -> Message:
    body = msgspec.structs.replace(decode(message.data, Observation), **changes)
    return msgspec.structs.replace(message, data=encode(body))


async def test_its_own_message_gives_the_payload_back(ledger: Ledger) -> None:
    _, message = await _lost(ledger)

    assert await Retaker(ledger.key, ledger.units).retake(message)

    (event,) = await ledger.events(PayloadRetaken)
    (row,) = await ledger.rows("SELECT * FROM evidence")
    (kept,) = await ledger.rows("SELECT * FROM payloads")
    assert kept["id"] == event.evidence_id == row["evidence_id"]
    assert _TEXT.encode() in kept["content"]
    assert kept["excerpt"] is not None
    payload = payloads.Payload(scope="", id="", salt=kept["salt"], content=kept["content"])
    assert payload.commitment == event.commitment == row["commitment"]
    (recorded,) = await ledger.events(EvidenceRecorded)
    assert recorded.commitment != event.commitment


@pytest.mark.parametrize(
    "changes",
    [
        {"detail": _TEXT + "!"},
        {"key": "another"},
        {"source": "another"},
        {"trust": "web"},
        {"generation": 2},
        {"confidence": 0.5},
        {"observed_at": 1},
        {"resources": (PLANS,)},
        {"evidence_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
    ],
)
async def test_another_message_under_its_id_gives_nothing(
    ledger: Ledger, changes: dict[str, Any]
) -> None:
    _, message = await _lost(ledger)

    assert not await Retaker(ledger.key, ledger.units).retake(_changed(message, **changes))

    assert await ledger.rows("SELECT * FROM payloads") == []
    assert await ledger.events(PayloadRetaken) == []


async def test_another_host_or_scope_gives_nothing(ledger: Ledger) -> None:
    _, message = await _lost(ledger)
    for name in ("team.other", "elsewhere.desk"):
        moved = msgspec.structs.replace(message, subject=f"pmcl.v1.observation.{name}")
        assert not await Retaker(ledger.key, ledger.units).retake(moved)


async def test_a_payload_that_is_there_or_erased_is_not_taken_again(ledger: Ledger) -> None:
    _, message = await _lost(ledger)
    retaker = Retaker(ledger.key, ledger.units)
    await ledger.writer.run(lambda tx: tx.run("UPDATE evidence SET erased = 1"))
    assert not await retaker.retake(message)
    await ledger.writer.run(lambda tx: tx.run("UPDATE evidence SET erased = 0"))
    assert await retaker.retake(message)
    assert not await retaker.retake(message)


async def test_what_is_no_observation_gives_nothing(ledger: Ledger) -> None:
    _, message = await _lost(ledger)
    for data in (b"{", b"{}", b'{"schema":"pmcl/void/1"}'):
        spoiled = msgspec.structs.replace(message, data=data)
        assert not await Retaker(ledger.key, ledger.units).retake(spoiled)
