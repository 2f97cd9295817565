import json

import pytest

from pmcl.contracts import ContractError
from pmcl.hosts.guard.messages import error_reply, folded, parse_message, tool_error

pytestmark = pytest.mark.anyio

CALL = '"method":"tools/call","params":{"name":"wipe"}'


@pytest.mark.parametrize(
    "frame",
    [
        "{" + CALL,
        "[{" + CALL + "}]",
        '"tools/call"',
        '{"id":1,"id":2,' + CALL + "}",
        '{"method":"ping",' + CALL + "}",
        '{"id":1,"Method":"ping",' + CALL + "}",
        '{"id":1,"method":"ping","METHOD":"tools/call"}',
        '{"id":1,"method":"ping","param\u017f":{}}',
        '{"id":1,"method":"ping","met\u200bhod":"tools/call"}',
        '{"id":1,"method":"ping","params":{"x":\r{"id":1,' + CALL + "}\r}}",
        '{"id":1,"method":"ping","params":{"x":"\\ud800"}}',
        '{"id":1,"method":"ping","params":{"x":NaN}}',
        '{"id":1,"method":"ping","params":{"x":1e400}}',
        '{"id":1,"method":"ping","params":' + "[" * 5000 + "]" * 5000 + "}",
        '\ufeff{"id":1,"method":"ping"}',
        '{"id":1,"method":"ping"}\x0b{"id":2,' + CALL + "}",
    ],
)
async def test_what_two_readers_could_read_apart_is_no_message(frame: str) -> None:
    with pytest.raises(ContractError):
        await parse_message(frame.encode() + b"\n")


async def test_bytes_that_are_no_utf8_are_no_message() -> None:
    with pytest.raises(ContractError):
        await parse_message(b'{"id":1,"method":"ping","params":{"x":"\xff"}}\n')


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
async def test_a_message_is_read_with_any_end(end: bytes) -> None:
    frame = b'{"jsonrpc":"2.0","id":1,"method":"ping","extra":[1.5,"\xe2\x80\xa8"]}' + end
    assert await parse_message(frame) == json.loads(frame)


async def test_a_long_message_is_read_whole() -> None:
    frame = json.dumps({"id": 1, "result": ["x" * 100_000, {"b": 1, "a": 2}]}).encode()
    assert await parse_message(frame) == json.loads(frame)


async def test_a_server_may_write_numbers_that_json_does_not_know() -> None:
    frame = b'{"id":1,"result":{"x":NaN,"y":-Infinity}}'
    assert (await parse_message(frame, lenient=True))["id"] == 1
    with pytest.raises(ContractError):
        await parse_message(frame)


@pytest.mark.parametrize("frame", ['{"id":1,"id":2,"result":{}}', '{"id":1,"ID":2,"result":NaN}'])
async def test_a_server_may_not_name_its_answer_twice(frame: str) -> None:
    with pytest.raises(ContractError):
        await parse_message(frame.encode(), lenient=True)


@pytest.mark.parametrize(
    "method", ["Tools/Call", " tools/call", "tools/call\x00", "\uff54ools/call", "tools/\u200bcall"]
)
async def test_look_alikes_fold_to_the_method(method: str) -> None:
    assert folded(method) == "tools/call"


async def test_a_tool_error_names_its_type_in_the_newer_revision_only() -> None:
    modern = json.loads(tool_error("a", "held", is_modern=True))
    assert modern == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {
            "content": [{"type": "text", "text": "held"}],
            "isError": True,
            "resultType": "complete",
        },
    }
    assert "resultType" not in json.loads(tool_error("a", "held", is_modern=False))["result"]


async def test_an_error_reply_is_one_line() -> None:
    reply = error_reply(None, -32700, "two\nlines")
    assert reply.count(b"\n") == 1
    assert json.loads(reply)["error"] == {"code": -32700, "message": "two\nlines"}
