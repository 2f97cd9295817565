"""The official client sees the same through the guard as without it, in both revisions."""

import re
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, ElicitResult, TextContent

from tests.acceptance.world import clean_environment
from tests.integration.guard.guards import HERE, TWO_ERAS, WITHIN_S, Guard, Guards, client, raw

pytestmark = pytest.mark.anyio

ERAS = ("legacy", "2026-07-28")
_state = re.compile(rb'(?<="requestState":")[^"]+')


CALLS = [
    ("read_badly", "failed", "tool_error"),
    ("read_coloured", "succeeded", None),
    ("read_for_ever", "cancelled", None),
    ("read_note", "succeeded", None),
    ("read_note", "succeeded", None),
    ("read_picture", "succeeded", None),
    ("read_slowly", "succeeded", None),
]


class Seen:
    """All that a session brings, in order, as the client's application sees it."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def add(self, result: Any) -> None:
        self.all.append(result.model_dump(by_alias=True, mode="json"))

    async def answer(self, context: Any, asked: Any) -> ElicitResult:
        self.all.append(asked.message)
        return ElicitResult(action="accept", content={"colour": "green"})

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.all.append((progress, total, message))


async def seen(command: Sequence[str], environment: Mapping[str, str], era: str) -> list[Any]:
    """Return everything that a full session brings."""
    seen = Seen()
    opened = client(
        command, {**environment}, mode=era, elicitation_callback=seen.answer, raise_exceptions=True
    )
    async with opened as session:
        await visit(session, seen)
    return seen.all


async def visit(session: Client, seen: Seen) -> None:
    seen.add(await session.list_tools())
    seen.add(await session.list_resources())
    seen.add(await session.list_prompts())
    path = {"path": "/notes/1"}
    for tool in ("read_note", "read_picture", "read_badly", "read_coloured"):
        seen.add(await session.call_tool(tool, path))
    seen.add(await session.call_tool("read_slowly", path, progress_callback=seen.progress))
    await cancel(session, seen)
    seen.add(await session.read_resource("note://first"))
    seen.add(await session.get_prompt("greet", {"name": "Bob"}))
    seen.add(await session.call_tool("read_note", path))


async def cancel(session: Client, seen: Seen) -> None:
    """Call what never ends, and go away once it has begun."""
    with anyio.CancelScope() as scope:

        async def begun(progress: float, total: float | None, message: str | None) -> None:
            await seen.progress(progress, total, message)
            scope.cancel()

        await session.call_tool("read_for_ever", {"path": "/notes/1"}, progress_callback=begun)


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def without_offers(seen: list[Any]) -> list[Any]:
    """Return the same, the tools' argument `_pmcl` taken away."""
    tools, *others = seen
    for tool in tools["tools"]:
        assert tool["inputSchema"]["properties"].pop("_pmcl")
    return [tools, *others]


async def called(guards: Guards, guard: Guard) -> list[Any]:
    """Return what became of the calls of a session, by tool."""
    outcomes = await guards.outcomes(guard.scope, len(CALLS))
    return sorted((row["tool"], row["status"], row["failure_mode"]) for row in outcomes)


@pytest.fixture(scope="module")
async def unguarded() -> dict[str, list[Any]]:
    """All that a full session of each era brings without a guard."""
    return {era: await seen(TWO_ERAS, clean_environment(), era) for era in ERAS}


@pytest.mark.parametrize("era", ERAS)
async def test_a_session_is_the_same_with_and_without_the_guard(
    guards: Guards, unguarded: dict[str, list[Any]], era: str
) -> None:
    guard = guards.guard(TWO_ERAS, "--server", "notes")
    plain = unguarded[era]
    assert "Which colour has the note?" in plain
    assert without_offers(await seen(guard.command, guard.environment, era)) == plain
    assert await called(guards, guard) == CALLS
    texts = [text for _, trust, text in await guards.recorded(guard.scope) if trust != "user"]
    assert "the note at /notes/1" in texts
    assert "green notes at /notes/1" in texts
    assert "the first note" in "\n".join(texts)
    assert "Greet Bob" in "\n".join(texts)
    assert any("image/png, 7 bytes, sha256" in text for text in texts)


@pytest.mark.parametrize("era", ERAS)
async def test_a_transparent_guard_changes_no_byte(
    guards: Guards, tmp_path: Path, era: str
) -> None:
    guard = guards.guard(TWO_ERAS, "--server", "notes", "--transparent")
    sessions = []
    for command, said in ((TWO_ERAS, tmp_path / "plain"), (guard.command, tmp_path / "guarded")):
        tap = (sys.executable, "-I", "-S", str(HERE / "tap.py"), str(said))
        sessions.append((await seen((*tap, *command), guard.environment, era), frames(said)))
    plain, guarded = sessions
    assert guarded == plain
    assert b"Which colour has the note?" in b"".join(guarded[1])
    assert await called(guards, guard) == CALLS


def frames(said: Path) -> list[bytes]:
    """Return what was said, line by line; a server seals a state with a new nonce each time."""
    return [_state.sub(b"", line) for line in said.read_bytes().splitlines(keepends=True)]


async def test_a_held_call_is_a_tool_error_that_the_model_can_revise(guards: Guards) -> None:
    guard = guards.guard(TWO_ERAS, "--server", "notes")
    async with client(guard.command, guard.environment, mode="2026-07-28") as session:
        await session.list_tools()
        held = await session.call_tool("delete_note", {"path": "/notes/1"})
        assert held.is_error
        assert "plan.unmitigated" in text_of(held)
        read = await session.call_tool("read_note", {"path": "/notes/1"})
        assert not read.is_error
        revised = await session.call_tool(
            "delete_note", {"path": "/notes/1", "_pmcl": {"goal": "tidy up"}}
        )
        assert not revised.is_error, revised
        wrong = await session.call_tool("read_note", {"path": "/n", "_pmcl": {"goal": 1}})
        assert "_pmcl.goal" in text_of(wrong)


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """A server at an address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await anyio.open_process([*TWO_ERAS, str(port)], stdout=None, stderr=None)
    try:
        with anyio.fail_after(WITHIN_S):
            while not await answers(port):  # noqa: ASYNC110 - a fact of another process
                await anyio.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        with anyio.CancelScope(shield=True):
            await process.wait()
            await process.aclose()


async def answers(port: int) -> bool:
    try:
        async with await anyio.connect_tcp("127.0.0.1", port):
            return True
    except OSError:
        return False


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_at_an_address_is_guarded_alike(
    guards: Guards, unguarded: dict[str, list[Any]], era: str
) -> None:
    async with served() as url:
        guard = guards.guard((), "--http", url, "--server", "notes")
        met = await seen(guard.command, guard.environment, era)
    assert without_offers(met) == unguarded[era]
    assert await called(guards, guard) == CALLS


async def test_a_server_that_cannot_be_reached_is_an_error_of_each_request(
    guards: Guards, tmp_path: Path
) -> None:
    guard = guards.guard((), "--http", "http://127.0.0.1:1/mcp", "--server", "notes")
    async with raw(guard.command, guard.environment, tmp_path / "err") as session:
        told = await session.call(1, "read_note", path="/n")
        assert "PMCL held" in str(told) or "did not answer" in str(told)
        told = await session.ask(2, "tools/list")
        assert "did not answer: ConnectError" in told["error"]["message"]
        await session.close()
        assert await session.ends() == 0
