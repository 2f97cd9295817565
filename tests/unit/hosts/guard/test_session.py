"""What each frame of a session becomes, with a mediator that does as it is told."""

import json
from typing import Any

import anyio
import pytest

from pmcl.contracts import HostError
from pmcl.hosts import DispatchRefusedError, ObservationLostError
from pmcl.hosts.guard import mediation, waiting
from pmcl.hosts.guard.frames import Overlong
from pmcl.hosts.guard.messages import unanswered
from tests.unit.hosts.guard.rig import RECEIPT, Rig, call, open_rig, result

pytestmark = pytest.mark.anyio

TOOL = {"name": "wipe", "description": "wipes", "inputSchema": {"type": "object"}}
LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def cancelled(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


@pytest.mark.parametrize(
    "frame",
    [
        b'{ "jsonrpc" : "2.0", "id":7, "method":"ping" }\n',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\r\n',
        b'{"jsonrpc":"2.0","id":"s1","result":{"roots":[]}}\n',
        b"\n",
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n',
    ],
)
async def test_other_frames_of_the_client_pass_byte_for_byte(frame: bytes) -> None:
    async with open_rig() as rig:
        await rig.client_says(frame)
        assert await rig.server.frame() == frame
        assert rig.mediator.asked == []


@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc": "2.0", "id": "s1", "method": "roots/list"}\n',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.10}}\n',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}\n',
        b"\r\n",
    ],
)
async def test_other_frames_of_the_server_pass_byte_for_byte(frame: bytes) -> None:
    async with open_rig() as rig:
        await rig.server_says(frame)
        assert await rig.client.frame() == frame


async def test_a_call_is_judged_forwarded_recorded_and_closed() -> None:
    async with open_rig() as rig:
        await rig.lists(TOOL)
        given = call(1, arguments={"b": 2, "a": 1, "_pmcl": {"goal": "g"}})
        await rig.client_says(given)
        forwarded = await rig.server.message()
        assert forwarded["params"] == {"name": "wipe", "arguments": {"a": 1, "b": 2}}
        [asked] = rig.mediator.asked
        assert (asked.server, asked.name, asked.stated.goal) == ("toy", "wipe", "g")
        assert asked.arguments == {"a": 1, "b": 2}
        assert asked.definition is not None
        assert asked.definition.description == "wipes"
        answer = json.dumps(result(1)).encode() + b" \n"
        await rig.server_says(answer)
        assert await rig.client.frame() == answer
        assert rig.mediator.recorded == [("wipe", "out")]
        assert await rig.mediator.outcome() == ("succeeded", None, RECEIPT)


@pytest.mark.parametrize("meta", [{}, MODERN])
async def test_a_held_call_comes_back_as_a_tool_error(meta: dict[str, Any]) -> None:
    async with open_rig() as rig:
        rig.mediator.passes = lambda asked: False
        await rig.client_says(call("x", _meta=meta))
        told = await rig.client.message()
        assert told["id"] == "x"
        assert told["result"]["isError"]
        assert "plan.unmitigated" in told["result"]["content"][0]["text"]
        assert told["result"].get("resultType") == ("complete" if meta else None)
        await rig.client_says(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        assert (await rig.server.message())["method"] == "ping"
        assert rig.mediator.outcomes == []


async def test_a_call_that_cannot_be_claimed_is_not_forwarded() -> None:
    async with open_rig() as rig:
        rig.mediator.dispatch_error = DispatchRefusedError("c", "expired")
        await rig.client_says(call(1))
        assert "expired" in (await rig.client.message())["result"]["content"][0]["text"]
        await expect_nothing_sent(rig)


async def expect_nothing_sent(rig: Rig) -> None:
    """The next frame that the server gets is the one that is sent now."""
    await rig.client_says(b'{"jsonrpc":"2.0","method":"notifications/mark"}\n')
    assert (await rig.server.message())["method"] == "notifications/mark"


@pytest.mark.parametrize(
    ("given", "id", "code"),
    [
        ({**call(1), "id": None}, None, -32600),
        ({**call(1), "id": 2.5}, None, -32600),
        ({**call(1), "id": True}, None, -32600),
        ({**call(1), "method": "Tools/Call"}, 1, -32600),
        ({**call(1), "jsonrpc": "1.0"}, 1, -32600),
        (call(1, Name="safe"), 1, -32602),
        ({**call(1), "params": None}, 1, -32600),
        ({**call(1), "method": ["tools/call"]}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1.0, "method": "resources/read"}, None, -32600),
        (b'{"id":1,"method":"tools/call","method":"ping"}\n', None, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]\n', None, -32700),
        (Overlong(b'{"id":1', 10**9), None, -32600),
        ({"jsonrpc": "2.0", "id": 1}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1}}, None, -32600),
        ({**call(1), "result": {}}, 1, -32600),
    ],
)
async def test_what_is_no_call_but_could_be_read_as_one_is_refused(
    given: dict[str, Any] | bytes | Overlong, id: int | None, code: int
) -> None:
    async with open_rig() as rig:
        await rig.client_says(given)
        told = await rig.client.message()
        assert (told["id"], told["error"]["code"]) == (id, code)
        await expect_nothing_sent(rig)
        assert rig.mediator.asked == []


async def test_a_call_without_an_id_is_dropped() -> None:
    async with open_rig() as rig:
        given = call(1)
        del given["id"]
        await rig.client_says(given)
        await expect_nothing_sent(rig)
        assert rig.mediator.asked == []


async def test_a_malformed_statement_is_a_tool_error_that_names_the_field() -> None:
    async with open_rig() as rig:
        await rig.client_says(call(1, arguments={"_pmcl": {"goal": 5}}))
        assert "_pmcl.goal" in (await rig.client.message())["result"]["content"][0]["text"]
        assert rig.mediator.asked == []


async def test_an_id_is_not_used_twice_at_the_same_time() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        for second in (call(1), {"jsonrpc": "2.0", "id": 1, "method": "ping"}):
            await rig.client_says(second)
            assert (await rig.client.message())["error"]["code"] == -32600
        await rig.client_says(call("1"))
        assert (await rig.server.message())["id"] == "1"


async def test_calls_and_other_frames_keep_their_order_while_a_verdict_is_awaited() -> None:
    async with open_rig() as rig:
        rig.mediator.gate = anyio.Event()
        await rig.client_says(call(1))
        await rig.client_says(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        await rig.client_says(call(3))
        rig.mediator.gate.set()
        assert [(await rig.server.message())["id"] for _ in range(3)] == [1, 2, 3]
        await rig.server_says(result(3, "c"))
        await rig.server_says(result(2))
        await rig.server_says(result(1, "a"))
        assert [(await rig.client.message())["id"] for _ in range(3)] == [3, 2, 1]
        assert sorted(text for _, text in rig.mediator.recorded) == ["a", "c"]


async def test_a_call_that_is_cancelled_while_it_waits_is_never_sent() -> None:
    async with open_rig() as rig:
        rig.mediator.gate = anyio.Event()
        await rig.client_says(call(1))
        await rig.client_says(cancelled(1))
        rig.mediator.gate.set()
        await expect_nothing_sent(rig)
        assert rig.mediator.outcomes == []
        assert len(rig.mediator.asked) == 1


async def test_a_call_that_is_cancelled_at_the_server_still_tells_the_truth() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.client_says(cancelled(1))
        assert (await rig.server.message())["method"] == "notifications/cancelled"
        await rig.server_says(result(1))
        assert (await rig.client.message())["id"] == 1
        assert (await rig.mediator.outcome())[0] == "succeeded"


@pytest.mark.parametrize("id", [1.0, True, None, [1], {"id": 1}])
async def test_a_cancellation_by_what_is_no_id_cancels_nothing(id: Any) -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.client_says(cancelled(id))
        await expect_nothing_sent(rig)
        await rig.server_says(result(1))
        assert await rig.client.message() == result(1)
        assert (await rig.mediator.outcome())[0] == "succeeded"


async def test_a_cancellation_is_of_the_clients_own_request_of_that_id_only() -> None:
    async with open_rig() as rig:
        rig.mediator.gate = anyio.Event()
        await rig.client_says(call(1))
        await rig.client_says(cancelled("1"))
        rig.mediator.gate.set()
        assert (await rig.server.message())["id"] == 1
        assert (await rig.server.message()) == cancelled("1")


async def test_a_question_of_the_server_under_a_calls_id_is_no_answer_to_the_call() -> None:
    question = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant"}}
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(question)
        assert await rig.client.message() == question
        await rig.client_says(answer)
        assert await rig.server.message() == answer
        assert rig.mediator.recorded == []
        await rig.server_says(result(1))
        assert await rig.client.message() == result(1)
        assert await rig.mediator.outcome() == ("succeeded", None, RECEIPT)


async def test_an_error_that_answers_a_cancelled_call_is_no_failure() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.client_says(cancelled(1))
        await rig.server.frame()
        await rig.server_says({"jsonrpc": "2.0", "id": 1, "error": {"code": 0, "message": "off"}})
        await rig.client.frame()
        assert (await rig.mediator.outcome())[0] == "cancelled"


async def test_a_cancelled_call_without_an_answer_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "_ANSWER_S", 0.0)
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.client_says(cancelled(1))
        assert (await rig.mediator.outcome())[0] == "cancelled"
        await rig.server_says(result(1))
        await expect_nothing_told(rig)


async def expect_nothing_told(rig: Rig) -> None:
    """The next frame that the client gets is the one that is sent now."""
    await rig.server_says(b'{"jsonrpc":"2.0","method":"notifications/mark"}\n')
    assert (await rig.client.message())["method"] == "notifications/mark"


@pytest.mark.parametrize(
    "answer",
    [
        result(9),
        result("1"),
        {**result(1), "id": 1.0},
        {**result(1), "id": True},
        {**result(1), "method": "ping"},
        {**result(1), "error": {"code": 1, "message": "m"}},
        {"jsonrpc": "2.0", "id": 9},
        {**result(9), "id": None},
        b'{"id":9,"id":8,"result":{}}\n',
        b"a banner\n",
    ],
)
async def test_an_answer_that_nobody_waits_for_is_dropped(answer: dict[str, Any] | bytes) -> None:
    async with open_rig() as rig:
        await rig.client_says(b'{"jsonrpc":"2.0","id":5,"method":"ping"}\n')
        await rig.server_says(answer)
        await expect_nothing_told(rig)


@pytest.mark.parametrize("depth", [400, 900, 1000, 5000])
async def test_deep_answers_are_recorded_or_told_of(depth: int) -> None:
    async with open_rig() as rig:
        deep = "[" * depth + "]" * depth
        for id, method in ((1, "tools/call"), (2, "tools/list"), (3, "resources/read")):
            frame = {"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "t"}}
            await rig.client_says(frame)
            await rig.server.frame()
            answer = '{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"t","x":%s}]}}\n'
            await rig.server_says((answer % (id, deep)).encode())
            told = await rig.client.frame()
            assert b"error" in told or len(rig.mediator.recorded) == (id + 1) // 2


@pytest.mark.parametrize(
    "more", [{"method": "ping"}, {"error": {"code": 1, "message": "m"}}, {"Result": {}}]
)
async def test_an_answer_that_is_something_else_as_well_is_withheld(more: dict[str, Any]) -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says({**result(1, "two faces"), **more})
        told = await rig.client.message()
        assert (told["id"], told["error"]["code"]) == (1, -32603)
        assert (await rig.mediator.outcome())[0] == "unknown"
        assert rig.mediator.recorded == []


async def test_an_answer_counts_once() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(result(1, "first"))
        await rig.server_says(result(1, "second"))
        assert (await rig.client.message())["result"]["content"][0]["text"] == "first"
        await expect_nothing_told(rig)
        assert rig.mediator.recorded == [("wipe", "first")]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (result(1, isError=True), ("failed", "tool_error", None)),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}},
            ("failed", "rpc_error", None),
        ),
    ],
)
async def test_an_error_is_recorded_and_is_a_failure(answer: dict[str, Any], outcome: Any) -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(answer)
        assert await rig.client.message() == answer
        assert await rig.mediator.outcome() == outcome
        assert len(rig.mediator.recorded) == 1


async def test_an_answer_that_never_came_leaves_the_call_unknown() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(unanswered(1, "ReadError"))
        assert "ReadError" in (await rig.client.message())["error"]["message"]
        assert (await rig.mediator.outcome())[0] == "unknown"


async def test_an_output_that_cannot_be_recorded_is_withheld_and_the_outcome_is_true() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        rig.mediator.record_error = ObservationLostError(("k",), (), "bus")
        await rig.server_says(result(1, "secret sauce"))
        told = await rig.client.message()
        assert told["result"]["isError"]
        assert "sauce" not in json.dumps(told)
        assert await rig.mediator.outcome() == ("succeeded", None, None)


@pytest.mark.parametrize("method", ["resources/read", "prompts/get"])
async def test_what_is_read_is_recorded_or_withheld(method: str) -> None:
    async with open_rig() as rig:
        told = []
        for id, error in ((1, None), (2, HostError("gone"))):
            rig.mediator.record_error = error
            await rig.client_says({"jsonrpc": "2.0", "id": id, "method": method})
            await rig.server.frame()
            await rig.server_says(result(id, "text"))
            told.append(await rig.client.message())
        passed, withheld = told
        assert passed == result(1, "text")
        assert withheld["id"] == 2
        assert "gone" in withheld["error"]["message"]
        assert "text" not in withheld["error"]["message"]
        assert rig.mediator.recorded == [(method, "text")]


async def test_an_unreadable_answer_is_told_to_who_waits_for_it() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(b'{"jsonrpc":"2.0","id":1,"id":1,"result":{}}\n')
        assert (await rig.client.message())["error"]["code"] == -32603
        assert (await rig.mediator.outcome())[0] == "unknown"


async def test_a_server_that_is_gone_leaves_calls_unknown() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        rig.mediator.gate = anyio.Event()
        await rig.client_says(call(2))
        rig.calls.lose()
        rig.mediator.gate.set()
        assert (await rig.mediator.outcome())[0] == "unknown"
        await expect_nothing_sent(rig)


async def test_tools_are_offered_the_argument_unless_the_guard_is_transparent() -> None:
    for is_transparent in (False, True):
        async with open_rig(is_transparent=is_transparent) as rig:
            await rig.client_says({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
            await rig.server.frame()
            listed = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL], "big": 2**70}}
            await rig.server_says(listed)
            got = await rig.client.message()
            assert (got == listed) is is_transparent
            got["result"]["tools"][0]["inputSchema"].pop("properties", None)
            assert got == listed


@pytest.mark.parametrize(
    "change",
    [
        LIST_CHANGED,
        {"jsonrpc": "2.0", "id": 8, "result": {"tools": [{**TOOL, "description": "reads"}]}},
    ],
)
async def test_a_changed_definition_voids_verdicts_that_were_not_dispatched(
    change: dict[str, Any],
) -> None:
    async with open_rig() as rig:
        await rig.lists(TOOL)
        await rig.client_says({"jsonrpc": "2.0", "id": 8, "method": "tools/list"})
        await rig.server.frame()
        rig.mediator.gate = anyio.Event()
        await rig.client_says(call(1))
        await rig.server_says(change)
        await rig.client.frame()
        rig.mediator.gate.set()
        told = await rig.client.message()
        assert (told["id"], told["result"]["isError"]) == (1, True)
        assert "changed" in told["result"]["content"][0]["text"]
        await rig.calls_tool(2)
        [_, again] = rig.mediator.asked
        described = None if again.definition is None else again.definition.description
        assert described == (None if change == LIST_CHANGED else "reads")


async def test_the_same_list_again_voids_nothing() -> None:
    async with open_rig() as rig:
        await rig.lists(TOOL)
        rig.mediator.gate = anyio.Event()
        await rig.client_says(call(1))
        await rig.client_says({"jsonrpc": "2.0", "id": 8, "method": "tools/list"})
        rig.mediator.gate.set()
        assert [(await rig.server.message())["id"] for _ in range(2)] == [1, 8]
        await rig.server_says({"jsonrpc": "2.0", "id": 8, "result": {"tools": [TOOL]}})
        await rig.client.frame()
        await rig.server_says(result(1))
        assert await rig.client.message() == result(1)


def asking(id: int | str, state: str) -> dict[str, Any]:
    asked = {"a": {"method": "elicitation/create", "params": {"message": "Sure?"}}}
    return {
        "jsonrpc": "2.0",
        "id": id,
        "result": {
            "resultType": "input_required",
            "inputRequests": asked,
            "requestState": state,
        },
    }


async def test_a_call_that_asks_for_input_is_judged_and_closed_once() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(asking(1, "s1"))
        assert await rig.client.message() == asking(1, "s1")
        again = await rig.calls_tool(2, requestState="s1", inputResponses={"a": {"action": "ok"}})
        assert again["params"]["inputResponses"] == {"a": {"action": "ok"}}
        await rig.server_says(asking(2, "s2"))
        await rig.client.frame()
        await rig.calls_tool(3, requestState="s2")
        assert rig.mediator.outcomes == []
        await rig.server_says(result(3))
        assert await rig.client.message() == result(3)
        assert await rig.mediator.outcome() == ("succeeded", None, RECEIPT)
        assert len(rig.mediator.asked) == 1
        assert len(rig.mediator.recorded) == 3


@pytest.mark.parametrize(
    "params",
    [
        {"requestState": "other"},
        {"requestState": "s1", "arguments": {"a": 2}},
        {"requestState": "s1", "name": "copy"},
        {"inputResponses": {}},
    ],
)
async def test_input_that_no_call_waits_for_is_refused(params: dict[str, Any]) -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(asking(1, "s1"))
        await rig.client.frame()
        await rig.client_says(call(2, **params))
        told = await rig.client.message()
        assert (told["id"], told["result"]["isError"]) == (2, True)
        await expect_nothing_sent(rig)
        assert len(rig.mediator.asked) == 1


async def test_input_is_brought_once() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(asking(1, "s1"))
        await rig.client.frame()
        await rig.calls_tool(2, requestState="s1")
        await rig.client_says(call(3, requestState="s1"))
        assert (await rig.client.message())["result"]["isError"]
        await expect_nothing_sent(rig)


async def test_a_call_whose_input_never_comes_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediation, "_INPUT_S", 0.0)
    async with open_rig() as rig:
        await rig.calls_tool(1)
        await rig.server_says(asking(1, "s1"))
        assert (await rig.mediator.outcome())[0] == "unknown"
        await rig.client.frame()
        await rig.client_says(call(2, requestState="s1"))
        assert (await rig.client.message())["result"]["isError"]


async def test_a_task_is_one_call_until_its_result() -> None:
    async with open_rig() as rig:
        await rig.calls_tool(1, task={"ttl": 1000})
        created = {"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "x"}}}
        await rig.server_says(created)
        assert await rig.client.message() == created
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tasks/result", "params": {"taskId": "t"}}
        await rig.client_says(asked)
        await rig.server.frame()
        assert rig.mediator.outcomes == []
        await rig.server_says(result(2))
        assert await rig.client.message() == result(2)
        assert await rig.mediator.outcome() == ("succeeded", None, RECEIPT)
