"""No bytes of a client make any reader execute a call that was not mediated."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmcl.hosts.guard.frames import frames as split
from tests.unit.hosts.guard.lenient import executed
from tests.unit.hosts.guard.rig import Rig, open_rig

pytestmark = pytest.mark.anyio

_MARK = b'{"jsonrpc":"2.0","method":"notifications/mark"}\n'

names = st.sampled_from(["id", "method", "params", "jsonrpc", "result", "Method", "PARAMS", "x"])
methods = st.sampled_from(["tools/call", "ping", "Tools/Call", "tools/call ", "tools\\/call"])
values = st.one_of(
    methods.map(lambda method: f'"{method}"'),
    st.sampled_from(["1", "null", "2.5", '"2.0"', "NaN", '"\\ud800"', '{"name":"wipe"}']),
)
members = st.tuples(names, values).map(lambda pair: f'"{pair[0]}":{pair[1]}')
objects = st.lists(members, max_size=5).map(lambda found: "{" + ",".join(found) + "}")
inner = st.one_of(objects, objects.map(lambda text: f"[{text}]"))
whole = st.sampled_from(
    [
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe"}}',
        '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"wipe"}}',
    ]
)
glue = st.sampled_from(["", " ", "\r", "\r\n", "\u2028", "\x0b", "\ufeff", "\x00", ","])


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    one, two, end = draw(inner | whole), draw(inner | whole), draw(glue)
    text = draw(
        st.sampled_from(
            [
                one,
                one + end + two,
                '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + end + one + end + "}",
                '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + json.dumps(end + one) + "}",
            ]
        )
    )
    return text.replace("\n", "").encode("utf-8", "surrogatepass") + b"\n"


@settings(max_examples=150, deadline=None)
@given(st.lists(frames(), min_size=1, max_size=4))
async def test_only_mediated_calls_are_executed_by_anybody(given: list[bytes]) -> None:
    async with open_rig() as rig:
        for frame in given:
            await rig.client_says(frame)
        await rig.client_says(_MARK)
        sent = b""
        while not sent.endswith(_MARK):
            sent += await rig.server.frame()
    mediated = {_params(asked.name, asked.arguments) for asked in rig.mediator.asked}
    assert executed(sent) <= mediated


_WIPE = '"params":{"name":"wipe","arguments":{"a":1}}'
_CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call",' + _WIPE + "}"
_PING = '{"jsonrpc":"2.0","id":2,"method":"ping"}'


@pytest.mark.parametrize(
    "given",
    [
        '{"id":1,"method":"ping","\\u006dethod":"tools/call",' + _WIPE + "}\n",
        '{"id":1,"\\u006dethod":"tools/call","method":"ping",' + _WIPE + "}\n",
        _CALL.replace('"name"', '"name":"safe","n\\u0061me"') + "\n",
        _CALL.replace('"a":1', '"a":1,"\\u0061":2') + "\n",
        _CALL.replace('"name"', '"_meta":{"progressToken":1,"progress\\u0054oken":2},"name"')
        + "\n",
        _CALL.replace("/call", "/call\\u0000") + "\n",
        _CALL.replace("/call", "/c\u00adall") + "\n",
        _CALL.replace("/", "\uff0f") + "\n",
        _CALL.replace("wipe", "wi\u200bpe") + "\n",
        _CALL.replace('"id"', '"Id"') + "\n",
        _CALL.replace('"id":1', '"id":1,"ID":2') + "\n",
        _CALL.replace('"id":1', '"id":1,"extra":1') + "\n",
        _CALL.replace('"id":1', '"id":1e2') + "\n",
        _CALL.replace('"id":1', '"id":9007199254740993') + "\n",
        _CALL.replace('"id":1', '"id":{"a":1}') + "\n",
        _CALL.replace('"id":1', '"id":1,"result":{}') + "\n",
        _CALL.replace('"id":1,', "") + "\n",
        _CALL.replace('"id":1,', "").replace("tools/call", "Tools/Call") + "\n",
        _CALL.replace("}}", '},"requestState":"forged","inputResponses":{}}') + "\n",
        _CALL.replace('{"a":1}', "[" * 5000 + "]" * 5000) + "\n",
        _CALL.replace('"a":1', '"a":"' + "x" * 2**21 + '"') + "\n",
        _CALL.replace('"', "'") + "\n",
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["wipe",{"a":1}]}\n',
        '{"jsonrpc":"2.0","id":1,"method":{"name":"tools/call"},' + _WIPE + "}\n",
        "\ufeff" + _CALL + "\n",
        "\x00" + _CALL + "\n",
        _CALL + "\x00\n",
        "\x0c" + _CALL + "\n",
        "/**/" + _CALL + "\n",
        _CALL + "\r" + _CALL + "\r",
        _CALL + _CALL + "\n",
        _PING + _CALL + "\n",
        _PING.replace(",", ",\u2028", 1) + "\n",
        "[]\n",
        "[[" + _CALL + "]]\n",
        "[" + _PING + "," + _CALL + "]\n",
        (_CALL + "\n").encode("utf-16"),
        (_CALL + "\n").encode("utf-16-be"),
        (_CALL + "\n").encode("utf-32-le"),
        _CALL.encode().replace(b"/", b"\xc0\xaf") + b"\n",
    ],
)
async def test_what_is_no_plain_call_goes_nowhere(given: str | bytes) -> None:
    raw = given if isinstance(given, bytes) else given.encode()
    async with open_rig() as rig:
        assert await _sent(rig, raw) == b""
        assert rig.mediator.asked == []


@pytest.mark.parametrize(
    "given",
    [
        _CALL,
        _CALL + "\r\n",
        " \t" + _CALL + " \n",
        "\r\n" + _CALL + "\n",
        _CALL.replace('"method"', '"\\u006dethod"') + "\n",
        _CALL.replace("/", "\\u002f") + "\n",
        f"Content-Length: {len(_CALL)}\r\n\r\n{_CALL}",
    ],
)
async def test_a_call_that_is_spelled_oddly_is_forwarded_in_one_spelling(given: str) -> None:
    async with open_rig() as rig:
        forwarded = await _sent(rig, given.encode())
    [asked] = rig.mediator.asked
    assert (asked.name, asked.arguments) == ("wipe", {"a": 1})
    params = {"arguments": {"a": 1}, "name": "wipe"}
    plain = {"id": 1, "jsonrpc": "2.0", "method": "tools/call", "params": params}
    assert forwarded.lstrip(b"\r\n") == json.dumps(plain, separators=(",", ":")).encode() + b"\n"


async def _sent(rig: Rig, raw: bytes) -> bytes:
    """Return what the server gets of bytes that come a few at a time, and then end."""
    pieces = [raw[at : at + 7] for at in range(0, len(raw), 7)] if len(raw) < 10_000 else [raw]
    pieces.append(b"")

    async def receive() -> bytes:
        return pieces.pop(0)

    async for frame in split(receive):
        await rig.client_says(frame)
    await rig.client_says(_MARK)
    sent = b""
    while not sent.endswith(_MARK):
        sent += await rig.server.frame()
    return sent.removesuffix(_MARK)


def _params(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": arguments}, sort_keys=True)


def test_the_forgiving_readers_find_calls() -> None:
    """Else the test above would show nothing."""
    call = b'{"id":1,"method":"tools/call","params":1}'
    for sent in (call, b"[" + call + b"]", b'{"x":\r' + call + b"\r}", call.replace(b"me", b"Me")):
        assert executed(sent) == {"1"}
