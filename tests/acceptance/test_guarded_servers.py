"""Servers that people use behave behind the guard as they do without it.

Those of npm know the older revision of the protocol only, and answer the first question of the
newer one with an error; those of PyPI know both.
"""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from pmcl.hosts import new_profile
from tests.acceptance.facts import rows, until
from tests.acceptance.mcp_servers import node_server, python_server
from tests.acceptance.mcp_session import (
    MODERN,
    OLDER,
    Step,
    ask,
    call,
    given_up,
    hear_session,
    offers_removed,
)
from tests.acceptance.world import World

pytestmark = pytest.mark.anyio

_INSPECTS = "[tools.{tool}]\neffect = 'inspect_local'\n"
_RULED = (
    "everything/trigger-elicitation-request",
    "everything/trigger-sampling-request",
    "everything/trigger-long-running-operation",
    "everything/get-structured-content",
    "everything/get-sum",
    "everything/get-tiny-image",
    "everything/get-resource-links",
    "everything/echo",
    "memory/create_entities",
    "fetch/fetch",
)
Heard = tuple[list[bytes], list[bytes]]
EVERYTHING = (
    ask("server/discover"),
    ask("tools/list"),
    ask("resources/list"),
    ask("prompts/list"),
    call("echo", message="hello"),
    call("get-sum", a=1.5, b=2),
    call("get-structured-content", location="Chicago"),
    call("get-tiny-image"),
    call("get-resource-links", count=2),
    call("trigger-elicitation-request"),
    call("trigger-sampling-request", prompt="hello", maxTokens=5),
    call("trigger-long-running-operation", duration=0.2, steps=2),
    given_up(call("trigger-elicitation-request")),
    call("echo"),
    ask("resources/read", uri="demo://resource/static/document/architecture.md"),
    ask("resources/read", uri="demo://nothing"),
    ask("prompts/get", name="args-prompt", arguments={"city": "Rome"}),
    ask(
        "completion/complete",
        ref={"type": "ref/prompt", "name": "completable-prompt"},
        argument={"name": "department", "value": "E"},
    ),
    ask("ping"),
    ask("no/such/method"),
)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """An operator's word for tools whose names and texts do not show that they only look."""
    path = tmp_path / "rules.toml"
    path.write_text("".join(_INSPECTS.format(tool=json.dumps(tool)) for tool in _RULED))
    return path


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp-servers")


def guarded(world: World, name: str, server: Sequence[str], *options: str) -> list[str]:
    folder = world.state_dir / "credentials"
    folder.mkdir(exist_ok=True)
    path = folder / "s.a.json"
    if not path.exists():
        world.server.credentials("s", "a").save(path)
        path.with_suffix(".toml").write_text(new_profile([world.directory]))
    pmcl = (sys.executable, "-m", "pmcl.ops", "guard", "--state-dir", str(world.state_dir))
    return [*pmcl, "--server", name, *options, "--", *server]


async def expect_the_same(
    world: World, name: str, server: Sequence[str], steps: Sequence[Step], revision: str = OLDER
) -> list[Any]:
    """Return what was heard without the guard, once it is what is heard with it."""
    sessions: dict[str, tuple[list[bytes], list[bytes]]] = {}

    async def hear(who: str, command: Sequence[str]) -> None:
        sessions[who] = await hear_session(command, world.environment, steps, revision)

    async with anyio.create_task_group() as all_three:
        all_three.start_soon(hear, "plain", server)
        all_three.start_soon(hear, "transparent", guarded(world, name, server, "--transparent"))
        all_three.start_soon(hear, "offered", guarded(world, name, server))
    return expect_alike(sessions["plain"], sessions["transparent"], sessions["offered"])


def expect_alike(plain: Heard, transparent: Heard, offered: Heard) -> list[Any]:
    """Return what was heard, once each byte of it is, or each but the argument of every tool."""
    for line, expected in zip(transparent[0], plain[0], strict=True):
        assert line == expected
    messages = [json.loads(line) for line in plain[0]]
    assert offers_removed(offered[0]) == messages
    assert plain[1] == transparent[1] == offered[1]
    return messages


async def test_the_server_of_everything_shows_all_of_it(
    world: World, rules: Path, installed: Path
) -> None:
    program = await anyio.to_thread.run_sync(node_server, installed / "node", "everything")
    server = (*program, "stdio")
    async with world.sidecar(PMCL_RULES=str(rules)):
        heard = await expect_the_same(world, "everything", server, EVERYTHING)
        methods = {message.get("method") for message in heard}
        assert methods >= {"elicitation/create", "sampling/createMessage", "notifications/progress"}
        called = [step for step in EVERYTHING if step.method == "tools/call"]
        outcomes = await until(lambda: _outcomes(world, 2 * len(called)))
        assert outcomes.count("succeeded") == 2 * (len(called) - 2)
        assert outcomes.count("failed") == outcomes.count("cancelled") == 2


async def _outcomes(world: World, count: int) -> list[str] | None:
    found = await rows(world.ledger, "SELECT status FROM outcomes")
    return [row["status"] for row in found] if len(found) >= count else None


async def test_files_are_read_and_written_alike(world: World, installed: Path) -> None:
    server = await anyio.to_thread.run_sync(node_server, installed / "node", "filesystem")
    notes = world.directory / "notes"

    def fresh() -> None:
        shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir()
        (notes / "a.txt").write_text("first\nsecond\n")

    steps = (
        ask("tools/list"),
        call("list_allowed_directories"),
        call("list_directory", path=str(notes)),
        call("search_files", path=str(notes), pattern="*.txt"),
        call("read_text_file", path=str(notes / "a.txt"), head=1),
        call("read_text_file", path=str(notes / "none.txt")),
        call("read_text_file", path=str(world.directory / "elsewhere")),
        call(
            "edit_file", path=str(notes / "a.txt"), edits=[{"oldText": "first", "newText": "1st"}]
        ),
        call("read_text_file", path=str(notes / "a.txt")),
    )
    async with world.sidecar():
        heard = []
        command = (*server, str(notes))
        for started in (
            command,
            guarded(world, "files", command, "--transparent"),
            guarded(world, "files", command),
        ):
            await anyio.to_thread.run_sync(fresh)
            heard.append(await hear_session(started, world.environment, steps))
        assert "1st" in json.dumps(expect_alike(*heard)[-1])


async def test_memory_is_kept_alike(world: World, rules: Path, installed: Path) -> None:
    server = await anyio.to_thread.run_sync(node_server, installed / "node", "memory")
    steps = (
        ask("tools/list"),
        call("read_graph"),
        call(
            "create_entities",
            entities=[{"name": "Bob", "entityType": "person", "observations": ["tall"]}],
        ),
        call("search_nodes", query="tall"),
    )
    async with world.sidecar(PMCL_RULES=str(rules)):
        heard = [
            await hear_session(
                command,
                world.environment | {"MEMORY_FILE_PATH": str(world.directory / file)},
                steps,
            )
            for command, file in (
                (server, "plain.json"),
                (guarded(world, "memory", server, "--transparent"), "transparent.json"),
                (guarded(world, "memory", server), "offered.json"),
            )
        ]
        assert "Bob" in json.dumps(expect_alike(*heard)[-1])


async def test_servers_of_npm_answer_the_newer_revision_alike(
    world: World, rules: Path, installed: Path
) -> None:
    notes = world.directory / "notes"
    notes.mkdir()
    sessions = (
        ("everything", ("stdio",), call("echo", message="hello")),
        ("filesystem", (str(notes),), call("list_directory", path=str(notes))),
        ("memory", (), call("read_graph")),
    )
    async with world.sidecar(PMCL_RULES=str(rules)):
        for name, options, last in sessions:
            server = await anyio.to_thread.run_sync(node_server, installed / "node", name)
            steps = (ask("tools/list"), ask("no/such/method"), last)
            heard = await expect_the_same(world, name, (*server, *options), steps, MODERN)
            assert "error" in heard[0], "it knows the older revision only"
            assert "content" in heard[-1]["result"], heard[-1]


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"a page of the loopback")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def page() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/page"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    (path / "a.txt").write_text("a\n")
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.example")
    for command in (("init", "--quiet"), ("add", "."), (*identity, "commit", "-qm", "Begin")):
        subprocess.run(["git", *command], cwd=path, check=True)
    return path


@pytest.mark.long
async def test_servers_of_the_python_registry_work_alike(
    world: World, rules: Path, installed: Path, page: str, repository: Path
) -> None:
    git, time, fetch = [
        await anyio.to_thread.run_sync(python_server, installed / "python", name)
        for name in ("git", "time", "fetch")
    ]
    there = str(repository)
    zones = {"source_timezone": "Europe/Paris", "target_timezone": "Asia/Tokyo", "time": "16:30"}
    sessions = (
        (
            "git",
            (*git, "--repository", there),
            (
                ask("tools/list"),
                call("git_status", repo_path=there),
                call("git_log", repo_path=there),
                call("git_diff_unstaged", repo_path=there),
                call("git_show", repo_path=there, revision="none"),
            ),
            "Begin",
        ),
        ("time", time, (ask("tools/list"), call("convert_time", **zones)), "Tokyo"),
        (
            "fetch",
            (*fetch, "--ignore-robots-txt", "--allow-private-ips"),
            (ask("tools/list"), ask("prompts/list"), call("fetch", url=page)),
            "a page of the loopback",
        ),
    )
    async with world.sidecar(PMCL_RULES=str(rules)):
        for revision in (OLDER, MODERN):
            for name, server, steps, told in sessions:
                heard = await expect_the_same(world, name, server, steps, revision)
                assert told in json.dumps(heard)
                assert ("resultType" in heard[-1]["result"]) == (revision == MODERN)
