from collections.abc import AsyncIterator, Sequence

import httpx
import pytest

from pmcl.hosts.guard import bodies
from pmcl.hosts.guard.bodies import body_of, events_of

pytestmark = pytest.mark.anyio


def response(*chunks: bytes) -> httpx.Response:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return httpx.Response(200, content=stream())


async def events(*chunks: bytes) -> Sequence[bytes]:
    return [data async for data in events_of(response(*chunks))]


async def test_events_are_read_however_they_come() -> None:
    stream = (
        b"event: message\ndata: {1}\n\n: a comment\n\ndata:{2\r\ndata: }\r\n\r\nid: 7\ndata: 3\n\n"
    )
    expected = [b"{1}", b"{2\n}", b"3"]
    assert await events(stream) == expected
    assert await events(*(stream[at : at + 1] for at in range(len(stream)))) == expected


async def test_an_event_without_data_or_without_its_end_is_none() -> None:
    assert await events(b"id: 1\ndata:\n\nretry: 5\n\ndata: cut") == []


async def test_what_looks_like_a_line_end_elsewhere_is_data() -> None:
    data = '{"a":"\u2028\x85"}'.encode()
    assert await events(b"data: " + data + b"\n\n") == [data]


async def test_a_body_is_read_up_to_the_bound_of_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "FRAME_MAX_BYTES", 4)
    assert await body_of(response(b"ab", b"cd")) == b"abcd"
    assert await body_of(response(b"ab", b"cde")) == b""
