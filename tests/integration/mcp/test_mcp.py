"""The official client asks by itself, in both revisions of the protocol."""

import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent

from pmcl.contracts import sha256
from pmcl.hosts.mcp import VERBS
from tests.acceptance.world import clean_environment
from tests.integration.guard.guards import Guards, client, raw

pytestmark = pytest.mark.anyio

ERAS = ("legacy", "2026-07-28")
READING = {
    "goal": "Read the notes",
    "tool": {"server": "files", "name": "read_file"},
    "arguments": {"path": "/work/notes.txt"},
    "expected_receipt": {"kind": "file_content"},
}


class Model:
    """What a model does with the tools: it calls them and reads their texts."""

    def __init__(self, session: Client, scope: str) -> None:
        self.session = session
        self.scope = scope

    async def ask(self, verb: str, **said: Any) -> dict[str, Any]:
        result = await self.session.call_tool(verb, said)
        assert not result.is_error, result
        return self._read(result)

    async def refused(self, verb: str, **said: Any) -> dict[str, Any]:
        result = await self.session.call_tool(verb, said)
        assert result.is_error, result
        return self._read(result)

    @staticmethod
    def _read(result: Any) -> dict[str, Any]:
        [content] = result.content
        assert isinstance(content, TextContent)
        told = json.loads(content.text)
        assert result.structured_content == told
        return dict(told)


def command_of(guards: Guards, scope: str) -> list[str]:
    given = ("--state-dir", str(guards.state_dir), "--host", f"{scope}/a")
    return [sys.executable, "-m", "pmcl.ops", "mcp", *given]


@asynccontextmanager
async def asking(guards: Guards, era: str = "2026-07-28") -> AsyncIterator[Model]:
    scope = next(guards._scopes)
    async with client(command_of(guards, scope), clean_environment(), mode=era) as session:
        yield Model(session, scope)


@pytest.mark.parametrize("era", ERAS)
async def test_model_asks_runs_once_and_tells_what_came_of_it(guards: Guards, era: str) -> None:
    async with asking(guards, era) as model:
        listed = await model.session.list_tools()
        assert [tool.name for tool in listed.tools] == [verb.name for verb in VERBS]
        for tool in listed.tools:
            assert tool.input_schema["type"] == "object"
            assert "\\Z" not in json.dumps(tool.input_schema)

        status = await model.ask("status")
        assert (status["scope"], status["live"], status["generation"]) == (model.scope, True, 1)
        verdict = await model.ask("check_tool", **READING)
        assert (verdict["status"], verdict["reasons"]) == ("passed", [])
        claim = {"verdict_id": verdict["verdict_id"], "arguments": READING["arguments"]}
        other = await model.refused("dispatch", **claim | {"arguments": {"path": "/etc/shadow"}})
        assert other["code"] == "other_proposal"
        assert (await model.ask("dispatch", **claim))["verdict_id"] == verdict["verdict_id"]
        assert (await model.refused("dispatch", **claim))["code"] == "claimed"
        assert (await model.ask("status"))["dispatches"] == 1
        told = {"verdict_id": verdict["verdict_id"], "status": "failed", "failure_mode": "gone"}
        assert (await model.ask("outcome", **told))["status"] == "failed"
        assert (await model.refused("outcome", **told))["code"] == "not_open"
        assert await model.ask("complete_turn", turn_id="turn-1") == {"turn_id": "turn-1"}
    [outcome] = await guards.outcomes(model.scope, 1)
    assert (outcome["status"], outcome["failure_mode"]) == ("failed", "gone")


async def test_held_call_tells_the_model_what_would_lift_it(guards: Guards) -> None:
    async with asking(guards) as model:
        deleting = READING | {"tool": {"server": "files", "name": "delete_file"}}
        held = await model.ask("check_tool", **deleting)
        assert held["status"] == "held"
        assert held["revision_request"]
        claim = {"verdict_id": held["verdict_id"], "arguments": READING["arguments"]}
        assert (await model.refused("dispatch", **claim))["code"] == "held"


async def test_plan_and_recommendation_cover_no_call(guards: Guards) -> None:
    async with asking(guards) as model:
        tool = {"server": "files", "name": "read_file", "definition_hash": "0" * 64}
        plan = await model.ask("check_plan", goal="read", steps=[{"tool": tool}])
        text = await model.ask("check_recommendation", goal="read", text="read it")
        for verdict in (plan, text):
            assert verdict["status"] == "passed"
            claim = {"verdict_id": verdict["verdict_id"], "arguments": {}}
            assert (await model.refused("dispatch", **claim))["code"] == "not_a_call"


async def test_model_is_told_what_stands_within_its_budget(guards: Guards) -> None:
    async with asking(guards) as model:
        assert (await model.ask("check_tool", **READING))["status"] == "passed"
        told = await model.ask("context", goal="notes", budget_bytes=4096)
        assert (told["status"], told["scope"]) == ("compiled", model.scope)
        assert told["operational"]["pending_calls"] == 1
        small = await model.refused("context", budget_bytes=4095)
        assert small["field"] == "$.budget_bytes"
        other = await model.refused("context", generation=told["generation"] + 1)
        assert other["code"] == "stale_generation"


async def test_what_a_model_observes_is_a_models_word_and_proves_nothing(guards: Guards) -> None:
    async with asking(guards) as model:
        verdict = await model.ask("check_tool", **READING)
        verdict_id = verdict["verdict_id"]
        await model.ask("dispatch", verdict_id=verdict_id, arguments=READING["arguments"])
        seen = {"source": "files", "summary": "the notes", "detail": "on Friday"}
        refused = await model.refused("observe", **seen, trust="user")
        assert (refused["code"], refused["value"]) == ("malformed", "trust")
        assert await model.ask("observe", **seen)
        receipt = {"kind": "file_content", "digest": sha256(b"on Friday")}
        await model.ask("outcome", verdict_id=verdict_id, status="succeeded", receipt=receipt)
    [outcome] = await guards.outcomes(model.scope, 1)
    assert (outcome["status"], outcome["verified"]) == ("succeeded", 0)
    assert await guards.recorded(model.scope) == [("files", "model", "on Friday")]


async def test_paths_are_resolved_here_and_not_believed(guards: Guards, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("s")
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "secret.txt")
    claimed = {"kind": "path", "value": "/work/harmless"}
    async with asking(guards) as model:
        said = READING | {"arguments": {"path": str(link)}, "resources": [claimed]}
        await model.ask("check_tool", **said)
    rows = await guards.rows("SELECT content FROM payloads WHERE scope = :scope", scope=model.scope)
    [judged] = [row["content"] for row in rows if b"/work/harmless" in row["content"]]
    assert bytes((tmp_path / "secret.txt").resolve()) in judged


async def test_bad_input_is_a_tool_error_that_quotes_no_secret(guards: Guards) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    async with asking(guards) as model:
        for said in ({}, {"goal": 7, "text": "t"}, {"goal": "g", "text": "t", secret: 1}):
            refused = await model.refused("check_recommendation", **said)
            assert refused["code"] == "malformed"
            assert secret not in json.dumps(refused)
        assert (await model.refused("check_plan", goal="g", steps=[]))["field"] == "$.steps"
        assert (await model.refused("approve_everything"))["code"] == "unknown_tool"


async def test_what_is_open_is_closed_when_the_client_goes(guards: Guards) -> None:
    async with asking(guards) as model:
        verdict = await model.ask("check_tool", **READING)
        await model.ask("check_tool", **READING)
        claim = {"verdict_id": verdict["verdict_id"], "arguments": READING["arguments"]}
        await model.ask("dispatch", **claim)
    outcomes = await guards.outcomes(model.scope, 2)
    assert sorted(outcome["status"] for outcome in outcomes) == ["unknown", "unused"]


async def test_killed_server_leaves_its_claim_unknown(guards: Guards, tmp_path: Path) -> None:
    scope = next(guards._scopes)
    command, errors = command_of(guards, scope), tmp_path / "errors"
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    async with raw(command, clean_environment(), errors) as server:
        await server.ask(1, "initialize", **hello)
        await server.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        answer = await server.call(2, "check_tool", **READING)
        verdict_id = answer["result"]["structuredContent"]["verdict_id"]
        claim = {"verdict_id": verdict_id, "arguments": READING["arguments"]}
        assert not (await server.call(3, "dispatch", **claim))["result"]["isError"]
        server.process.send_signal(signal.SIGKILL)
        await server.process.wait()
    async with client(command, clean_environment(), mode="auto") as session:
        assert not (await session.call_tool("status", {})).is_error
        [outcome] = await guards.outcomes(scope, 1)
    assert outcome["status"] == "unknown"


async def test_calls_at_once_are_answered_each(guards: Guards) -> None:
    async with asking(guards) as model:
        found: list[str] = []

        async def ask(number: int) -> None:
            arguments = {"path": f"/work/{number}"}
            verdict = await model.ask("check_tool", **READING | {"arguments": arguments})
            found.append(verdict["verdict_id"])

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(ask, number)
        assert len(set(found)) == 8
