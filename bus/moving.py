"""What was deleted from DEADLETTERS without being overwritten can be taken out of its files.

The server keeps a deleted message in its block until half of that is gone, and to overwrite one it
writes the whole block. So letters are deleted as they are dealt with, and where no byte of them may
stay, those that are left move once: into a mirror, and from there to the end of the emptied stream.
A letter is always in one of the two; broken off anywhere, the next move goes on from the mirror.
"""

from typing import Any, Final

import anyio

from pmcl.bus.append import publish_stored
from pmcl.bus.connection import Connection
from pmcl.bus.errors import BusTimeoutError, JetStreamError, StreamMissingError
from pmcl.bus.jetstream import (
    API_TIMEOUT_S,
    MESSAGE_NOT_FOUND,
    call,
    delete_message,
    stored_message,
    stored_messages,
    stream_state,
)
from pmcl.bus.streams import DEADLETTERS
from pmcl.contracts import headers

__all__ = ["MOVING", "move_dead_letters"]

MOVING: Final = "DEADLETTERS_MOVING"

_ALL: Final = {"last_by_subj": ">"}
_COPY_S: Final = 30.0
_LOOK_S: Final = 0.02
_PAGE: Final = 64


async def move_dead_letters(admin: Connection, working: Connection) -> int:
    """Return how many letters moved: the files of DEADLETTERS hold no letter that it has not.

    Each gets a new sequence; where none was ever deleted, or none is left, nothing happens.

    Args:
        admin: may change streams.
        working: may publish dead letters.

    Raises:
        BusError: it is not done; to be called again.
    """
    moved = await _put_back(admin, working)
    while await _has_gaps(admin) and (last := await _last(admin)):
        await _mirror(admin, last)
        await call(admin, f"STREAM.PURGE.{DEADLETTERS}", {"seq": last + 1})
        shared = await _last(admin)
        moved += await _put_back(admin, working)
        if not shared:
            break  # else a letter that came meanwhile shares a file with what was purged: once more
    return moved


async def _has_gaps(admin: Connection) -> bool:
    state = await stream_state(admin, DEADLETTERS)
    return state is not None and 0 < state.messages < state.last


async def _last(admin: Connection, stream: str = DEADLETTERS) -> int:
    """Return the sequence of the last message that is there, 0 if none is."""
    try:
        found = await call(admin, f"STREAM.MSG.GET.{stream}", _ALL)
    except (StreamMissingError, JetStreamError) as error:
        if isinstance(error, StreamMissingError) or error.code == MESSAGE_NOT_FOUND:
            return 0
        raise
    return int(found["message"]["seq"])


async def _mirror(admin: Connection, last: int) -> None:
    """MOVING holds every letter up to `last`, under the same sequences."""
    config: dict[str, Any] = {
        "name": MOVING,
        "storage": "file",
        "retention": "limits",
        "mirror": {"name": DEADLETTERS},
    }
    await call(admin, f"STREAM.CREATE.{MOVING}", config)
    with anyio.move_on_after(_COPY_S):
        while await _last(admin, MOVING) < last:  # noqa: ASYNC110 - the server tells nobody
            await anyio.sleep(_LOOK_S)
        return
    raise BusTimeoutError(f"the mirror {MOVING}", _COPY_S)


async def _put_back(admin: Connection, working: Connection) -> int:
    """Return how many letters of MOVING were stored again; it is gone.

    One that DEADLETTERS has still is not stored twice, nor is one that was stored just before.
    """
    state = await stream_state(admin, MOVING)
    if state is None:
        return 0
    moved = 0
    for first in range(state.first, state.last + 1, _PAGE):
        last = min(first + _PAGE - 1, state.last)
        page = await stored_messages(admin, MOVING, first, last)
        for sequence, letter in enumerate(page, start=first):
            if letter is None or await stored_message(admin, DEADLETTERS, sequence) is not None:
                continue
            name = {headers.MSG_ID: f"moved-{sequence}"}
            await publish_stored(
                working, letter.subject, letter.data, headers=name, timeout_s=API_TIMEOUT_S
            )
            await delete_message(admin, MOVING, sequence, overwrite=False)
            moved += 1
    await call(admin, f"STREAM.DELETE.{MOVING}")
    return moved
