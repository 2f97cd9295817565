from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.hosts.guard.frames import Overlong, frames, guess_id

pytestmark = pytest.mark.anyio

pieces = st.lists(st.sampled_from([b"a", b"\n", b"\r", b"bc", b"\n\n"]).map(bytes), max_size=20)


async def read(chunks: Sequence[bytes], max_bytes: int = 1000) -> list[bytes | Overlong]:
    left = [chunk for chunk in chunks if chunk] + [b""]

    async def receive() -> bytes:
        return left.pop(0)

    return [frame async for frame in frames(receive, max_bytes)]


@given(pieces)
async def test_frames_are_the_lines_of_the_stream_however_it_comes(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    found = await read(chunks)
    assert b"".join(frame for frame in found if isinstance(frame, bytes)) == whole
    assert all(
        isinstance(frame, bytes) and frame.find(b"\n") in (-1, len(frame) - 1) for frame in found
    )
    assert len(found) == whole.count(b"\n") + (not whole.endswith(b"\n") and whole != b"")


async def test_a_line_of_the_limit_is_a_frame_and_a_longer_one_is_kept_by_its_ends() -> None:
    [fits, long, after] = await read([b"x" * 9 + b"\n", b"y" * 5, b"z" * 5 + b"\n", b"a\n"], 10)
    assert fits == b"x" * 9 + b"\n"
    assert isinstance(long, Overlong)
    assert long.size_bytes == 11
    assert after == b"a\n"


async def test_of_a_long_line_no_more_than_two_kibibytes_are_kept() -> None:
    [long] = await read([b'{"id":7,' + b"x" * 5000] + [b"y" * 60_000] * 40 + [b"end"], 10_000)
    assert isinstance(long, Overlong)
    assert long.size_bytes == 8 + 5000 + 40 * 60_000 + 3
    assert len(long.ends) <= 2048
    assert long.ends.startswith(b'{"id":7,')
    assert long.ends.endswith(b"end")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id": 12, "result"', 12),
        (b'{"id":"a-1","result"', "a-1"),
        (b'{"id":1.5}', None),
        (b'{"id":1e3}', None),
        (b"banner", None),
    ],
)
async def test_an_id_is_guessed_from_what_is_no_message(
    data: bytes, expected: int | str | None
) -> None:
    assert guess_id(data) == expected
