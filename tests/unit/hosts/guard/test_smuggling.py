"""No bytes of a client make any reader execute a call that was not mediated."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.hosts.guard.lenient import executed
from tests.unit.hosts.guard.rig import open_rig

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


def _params(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": arguments}, sort_keys=True)


def test_the_forgiving_readers_find_calls() -> None:
    """Else the test above would show nothing."""
    call = b'{"id":1,"method":"tools/call","params":1}'
    for sent in (call, b"[" + call + b"]", b'{"x":\r' + call + b"\r}", call.replace(b"me", b"Me")):
        assert executed(sent) == {"1"}
