from typing import Any

import pytest

from pmcl.bus import (
    DEADLETTERS,
    BusTimeoutError,
    Connection,
    delete_message,
    move_dead_letters,
    moving,
    publish_stored,
    stored_messages,
    stream_state,
)
from tests.integration.bus.intake import Connect

pytestmark = pytest.mark.anyio

LETTERS = tuple(f"letter {number}".encode() for number in range(1, 6))


async def stored(admin: Connection) -> list[bytes]:
    state = await stream_state(admin, DEADLETTERS)
    assert state is not None
    found = await stored_messages(admin, DEADLETTERS, state.first, state.last)
    return [message.data for message in found if message is not None]


@pytest.fixture
async def working(connect: Connect, admin: Connection) -> Connection:
    """May publish dead letters; five are there, and the second was deleted."""
    working = await connect("worker")
    for letter in LETTERS:
        await working.request("pmcl.v1.deadletter.observe", letter, timeout_s=10)
    await delete_message(admin, DEADLETTERS, 2, overwrite=False)
    return working


async def test_letters_move_whole_and_in_their_order(
    admin: Connection, working: Connection
) -> None:
    assert await move_dead_letters(admin, working) == 4
    assert await stored(admin) == [LETTERS[0], *LETTERS[2:]]
    assert await stream_state(admin, moving.MOVING) is None
    state = await stream_state(admin, DEADLETTERS)
    assert state is not None
    assert state.first == 6


@pytest.mark.parametrize("at", range(4))
async def test_a_move_that_was_broken_off_goes_on_and_stores_nothing_twice(
    admin: Connection, working: Connection, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    sent = 0

    async def dies(*arguments: Any, **options: Any) -> Any:
        nonlocal sent
        sent += 1
        if sent > at:
            raise BusTimeoutError("the stream", 0)
        return await publish_stored(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr("pmcl.bus.moving.publish_stored", dies)
        with pytest.raises(BusTimeoutError):
            await move_dead_letters(admin, working)
    await move_dead_letters(admin, working)
    assert sorted(await stored(admin)) == [LETTERS[0], *LETTERS[2:]]
    assert await stream_state(admin, moving.MOVING) is None


async def test_a_move_that_ended_before_the_purge_loses_and_doubles_nothing(
    admin: Connection, working: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: Any) -> int:
        raise BusTimeoutError("the stream", 0)

    with monkeypatch.context() as patched:
        patched.setattr(moving, "_mirror", _then(moving._mirror, dies))
        with pytest.raises(BusTimeoutError):
            await move_dead_letters(admin, working)
    assert await move_dead_letters(admin, working) == 4
    assert await stored(admin) == [LETTERS[0], *LETTERS[2:]]


def _then(first: Any, second: Any) -> Any:
    async def both(*arguments: Any) -> None:
        await first(*arguments)
        await second()

    return both
