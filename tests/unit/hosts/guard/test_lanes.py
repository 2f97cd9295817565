import anyio
import pytest

from pmcl.hosts.guard.lanes import Lane

pytestmark = pytest.mark.anyio


class Kept:
    """A sink that keeps what it gets, until it breaks."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.is_broken = False
        self.is_closed = False

    async def send(self, data: bytes) -> None:
        if self.is_broken:
            raise BrokenPipeError
        self.frames.append(data)

    def close(self) -> None:
        self.is_closed = True


async def test_frames_leave_in_the_order_of_their_places() -> None:
    sink = Kept()
    lane = Lane(sink, "client")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run)
        first, second = await lane.place(), await lane.place()
        await lane.send(b"third")
        second.fill(b"second")
        await first.turn()
        assert sink.frames == []
        first.fill(b"first")
        lane.close()
    assert sink.frames == [b"first", b"second", b"third"]
    assert sink.is_closed


async def test_a_place_is_filled_once_and_may_stay_empty() -> None:
    sink = Kept()
    lane = Lane(sink, "client")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run)
        place = await lane.place()
        place.fill()
        place.fill(b"late")
        await lane.send(b"next")
        lane.close()
    assert sink.frames == [b"next"]


async def test_a_side_that_is_gone_holds_nobody_up() -> None:
    sink = Kept()
    lane = Lane(sink, "client")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run)
        await lane.send(b"first")
        sink.is_broken = True
        with anyio.fail_after(5):
            for _ in range(100):
                await lane.send(b"lost")
        lane.close()
    assert sink.frames in ([b"first"], [])
    assert sink.is_closed
