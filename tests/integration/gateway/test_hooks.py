"""A coding agent's hook, from its process through the gateway to the ledger."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from pmcl.bus import Credentials
from pmcl.hosts import new_profile
from pmcl.hosts.hooks import client
from tests.integration.gateway.conftest import House
from tests.integration.gateway.wire import Wire
from tests.integration.hosts.sidecar import until

pytestmark = pytest.mark.anyio


class Hook:
    """The installed command of one host: runs a process for each event."""

    def __init__(self, house: House, wire: Wire, scope: str, folder: Path) -> None:
        self.folder = folder
        self.gateway = house.settings.state_dir / "gateway.json"
        self.credentials = house.settings.state_dir / f"credentials/{scope}.agent.json"
        self.credentials.parent.mkdir(exist_ok=True)
        assert wire.key is not None
        Credentials(url=house.cell.url, scope=scope, host="agent", seed=wire.key).save(
            self.credentials
        )

    def allow(self) -> None:
        self.credentials.with_suffix(".toml").write_text(new_profile([self.folder]))

    async def tell(self, name: str, **members: Any) -> tuple[int, str, str]:
        event = {"session_id": "one", "cwd": str(self.folder), "hook_event_name": name, **members}
        command = [sys.executable, "-I", "-S", client.__file__, "claude-code"]
        done = await anyio.run_process(
            [*command, str(self.credentials), str(self.gateway)],
            input=json.dumps(event).encode(),
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    async def before(self, command: str, **members: Any) -> tuple[int, str, str]:
        return await self.tell(
            "PreToolUse",
            tool_name="Bash",
            tool_input={"command": command},
            tool_use_id=f"call-{command}",
            **members,
        )

    async def after(self, command: str, output: str) -> tuple[int, str, str]:
        return await self.tell(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": command},
            tool_use_id=f"call-{command}",
            tool_response={"stdout": output, "stderr": "", "interrupted": False},
        )


@pytest.fixture
async def hook(house: House, tmp_path: Path) -> tuple[Hook, Wire]:
    wire = house.wire()
    scope = (await wire.begin())["scope"]
    await wire.send("DELETE", "/v1/lease")
    return Hook(house, wire, scope, tmp_path), wire


async def test_call_of_an_agent_is_checked_recorded_and_ended(
    house: House, hook: tuple[Hook, Wire]
) -> None:
    agent, wire = hook
    agent.allow()
    assert await agent.tell("UserPromptSubmit", prompt="List the folder") == (0, "", "")
    assert await agent.before("ls") == (0, "", "")
    lease = (await wire.get("/v1/lease")).body
    assert (lease["generation"], lease["dispatches"]) == (2, 1)
    assert await agent.after("ls", "notes.txt\n") == (0, "", "")
    assert (await wire.get("/v1/lease")).body["dispatches"] == 0

    async def verified() -> bool:
        sql = """SELECT o.verified FROM outcomes o JOIN evaluations e USING (evaluation_id)
            WHERE e.scope = :scope AND o.status = 'succeeded'"""
        rows = await house.reader.all(sql, scope=lease["scope"])
        return [row["verified"] for row in rows] == [1]

    await until(verified)


async def test_held_call_of_an_agent_is_denied_with_the_reason(hook: tuple[Hook, Wire]) -> None:
    agent, _ = hook
    agent.allow()
    code, told, _ = await agent.before("rm -rf /work")
    assert code in (0, 2)
    assert "PMCL held claude-code/Bash" in told
    assert "deny" in told


async def test_edited_profile_holds_from_the_next_event_on(hook: tuple[Hook, Wire]) -> None:
    agent, _ = hook
    agent.allow()
    assert await agent.before("ls") == (0, "", "")
    profile = agent.credentials.with_suffix(".toml")
    profile.write_text(profile.read_text().replace('"*" = "grant"', '"*" = "prohibit"'))
    _, told, _ = await agent.before("ls -a")
    assert "authority.tool_prohibited" in told


async def test_without_a_profile_every_call_is_blocked(hook: tuple[Hook, Wire]) -> None:
    agent, wire = hook
    code, told, why = await agent.before("ls")
    assert (code, told) == (2, "")
    assert "409" in why
    refused = await wire.post("/v1/hooks/claude-code", {})
    assert (refused.status, refused.body["code"]) == (409, "no_profile")


async def test_unknown_agent_is_refused(wire: Wire) -> None:
    refused = await wire.post("/v1/hooks/clippy", {})
    assert (refused.status, refused.body["code"]) == (404, "unknown_agent")


async def test_event_that_is_no_json_blocks(hook: tuple[Hook, Wire]) -> None:
    agent, wire = hook
    agent.allow()
    answer = await wire.send("POST", "/v1/hooks/codex", b'{"a":1,"a":2}')
    assert (answer.status, answer.body["exit_code"], answer.body["stdout"]) == (200, 2, "")


async def test_event_may_be_as_large_as_the_hook_sends_it(hook: tuple[Hook, Wire]) -> None:
    agent, _ = hook
    agent.allow()
    assert await agent.before("ls") == (0, "", "")
    assert await agent.after("ls", "x" * 800_000) == (0, "", "")
    _, told, why = await agent.after("ls", "x" * client.EVENT_MAX_BYTES)
    assert "bytes" in told + why


async def test_a_canary_is_denied_for_what_it_does_and_leaves_nothing(
    house: House, hook: tuple[Hook, Wire]
) -> None:
    agent, _ = hook
    agent.allow()
    assert (await agent.before("ls"))[0] == 0
    tables = ("evaluations", "holds", "approvals", "payloads", "outcomes")
    before = await _all_rows(house, tables)
    canaries = ("echo dG91Y2ggbWFya2Vy | base64 -d | sh", "ls")
    answers = [await agent.before(each, session_id="pmcl-doctor") for each in canaries]
    assert await _all_rows(house, tables) == before
    reasons = [
        json.loads(printed)["hookSpecificOutput"]["permissionDecisionReason"]
        for _, printed, _ in answers
    ]
    assert "plan.approval_required" in reasons[0]
    assert all("canary.not_kept" in reason for reason in reasons)


async def _all_rows(house: House, tables: Iterable[str]) -> list[list[tuple[Any, ...]]]:
    found = [await house.reader.all(f"SELECT * FROM {table}") for table in tables]
    return [[tuple(row) for row in rows] for rows in found]
