"""What a fold could not bring back, the content, is looked for in INTAKE."""

from pathlib import Path
from typing import Final

import msgspec
import structlog

from pmcl.bus import INTAKE, Connection, Message, stored_message, stored_messages, stream_state
from pmcl.ledger import evidence
from pmcl.outbox import journal
from pmcl.store import open_reader
from pmcl.workers import Retaker

__all__ = ["Retaken", "retake_payloads"]

log = structlog.get_logger()

_READ_ROWS: Final = 200
_RECORDED: Final = ".evidence-recorded"
_OBSERVATION: Final = "pmcl.v1.observation."

Lacking = dict[tuple[str, str], int]
"""Scope and id of evidence without its payload, to its place in the ledger."""


class Retaken(msgspec.Struct, frozen=True):
    """How many payloads were taken again, and how many INTAKE does not have."""

    taken: int
    unavailable: int


class _Named(msgspec.Struct):
    evidence_id: str


async def retake_payloads(admin: Connection, ledger: Path, retaker: Retaker, after: int) -> Retaken:
    """Give evidence that is journalled behind `after` its payload, where INTAKE has it.

    INTAKE is read from its end, as far as anything is lacking; what is found is taken in the order
    of the evidence, so that the newest stays the newest.

    Raises:
        BusError: no answer.
    """
    async with open_reader(ledger) as reader:
        newest = 0
        while rows := await journal.read(reader, after):
            newest += sum(row.subject.endswith(_RECORDED) for row in rows)
            after = rows[-1].sequence
        lacking = await evidence.lacking(reader, newest)
    wanted = len(lacking)
    state = await stream_state(admin, INTAKE)
    position = 0 if state is None else state.last
    while lacking and state is not None and position >= max(1, state.first):
        places, position = await _search(admin, lacking, position, max(1, state.first))
        for name in sorted(places, key=lambda name: lacking[name]):
            if await _retake_one(admin, retaker, places[name]):
                del lacking[name]
    return Retaken(wanted - len(lacking), len(lacking))


async def _retake_one(admin: Connection, retaker: Retaker, places: list[int]) -> bool:
    """Return whether one of the messages gave the payload; a repeat gives another envelope."""
    for place in places:
        message = await stored_message(admin, INTAKE, place)
        if message is not None and await retaker.retake(message):
            return True
    return False


async def _search(
    admin: Connection, lacking: Lacking, position: int, first: int
) -> tuple[dict[tuple[str, str], list[int]], int]:
    """Return where lacking ones were heard of, last first, and how far INTAKE was read."""
    found: dict[tuple[str, str], list[int]] = {}
    while position >= first and len(found) < len(lacking):
        start = max(first, position - _READ_ROWS + 1)
        messages = await stored_messages(admin, INTAKE, start, position)
        for sequence in range(position, start - 1, -1):
            message = messages[sequence - start]
            name = None if message is None else _named(message)
            if name in lacking:
                found.setdefault(name, []).append(sequence)
        position = start - 1
    return found, position


def _named(message: Message) -> tuple[str, str]:
    """Return scope and evidence id of an observation; of anything else, names of nothing."""
    if not message.subject.startswith(_OBSERVATION):
        return "", ""
    try:
        named = msgspec.json.decode(message.data, type=_Named)
    except msgspec.DecodeError:
        return "", ""
    return message.subject.split(".")[3], named.evidence_id
