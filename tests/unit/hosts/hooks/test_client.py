"""Whatever happens to the hook's process, the tool does not run, and nobody else is blocked."""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pmcl.hosts.hooks import client
from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.agents import AGENTS
from tests.unit.hosts.hooks.gateway import SEED, Answer, body, gateway, http, private, saying

BEFORE = {"claude-code": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}
PROMPT = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}

agents = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


def command(agent: str, credentials: Path, address: Path) -> list[str]:
    paths = [str(credentials), str(address)]
    return [sys.executable, "-I", "-S", str(client.__file__), agent, *paths]


def hook(
    agent: Agent, event: bytes, credentials: Path, address: Path
) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        command(agent.name, credentials, address), input=event, capture_output=True, check=False
    )
    return subprocess.CompletedProcess(
        ended.args, ended.returncode, ended.stdout.decode(), ended.stderr.decode()
    )


def event(name: str, **members: object) -> bytes:
    return json.dumps({"hook_event_name": name, **members}).encode()


def assert_blocked(ended: subprocess.CompletedProcess[str]) -> None:
    """Exit code 2, a reason of one line, nothing printed: so all three agents block."""
    assert ended.returncode == 2, ended
    assert ended.stdout == ""
    assert ended.stderr.startswith("pmcl: blocked, nobody checked this call: ")
    assert len(ended.stderr.splitlines()) == 1
    assert SEED not in ended.stderr


@agents
def test_the_event_is_handed_on_as_it_is(agent: Agent, tmp_path: Path) -> None:
    given = event(BEFORE[agent.name], tool_input={"command": "ls \u20ac"})
    with gateway(tmp_path, saying(http(body()))) as serving:
        ended = hook(agent, given, serving.credentials, serving.address)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    head, _, content = serving.requests[0].partition(b"\r\n\r\n")
    assert content == given
    assert head.startswith(f"POST /v1/hooks/{agent.name} HTTP/1.1\r\n".encode())
    assert f"Authorization: Bearer {SEED}".encode() in head.split(b"\r\n")


@agents
@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_answer_is_printed(agent: Agent, code: int, tmp_path: Path) -> None:
    answer = body(exit_code=code, stdout='{"decision":"deny \u20ac"}', stderr="why\n")
    with gateway(tmp_path, saying(http(answer))) as serving:
        ended = hook(agent, event(BEFORE[agent.name]), serving.credentials, serving.address)
    assert (ended.returncode, ended.stderr) == (code, "why\n")
    assert ended.stdout == '{"decision":"deny \u20ac"}'


def reset(connection: socket.socket, request: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


BAD: dict[str, Answer] = {
    "nothing": saying(b""),
    "reset": reset,
    "not http": saying(b"hello"),
    "cut off": saying(http(body())[:-1]),
    "no length": saying(b"HTTP/1.1 200 OK\r\n\r\n" + body()),
    "refused": saying(http(b"{}", "401 Unauthorized")),
    "broken": saying(http(body(), "500 Internal Server Error")),
    "no json": saying(http(b"ok")),
    "other json": saying(http(b"[]")),
    "no code": saying(http(b'{"stdout":"","stderr":""}')),
    "other code": saying(http(body(exit_code=3))),
    "no text": saying(http(body(stdout=None))),
    "no reason": saying(http(body(exit_code=2))),
    "too long": saying(http(b" " * 2_000_000)),
}


@agents
@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_a_bad_answer_blocks_the_call(agent: Agent, answer: Answer, tmp_path: Path) -> None:
    with gateway(tmp_path, answer) as serving:
        assert_blocked(hook(agent, event(BEFORE[agent.name]), serving.credentials, serving.address))


@agents
@pytest.mark.parametrize("name", [*BAD][:3])
def test_a_bad_answer_never_blocks_a_prompt(agent: Agent, name: str, tmp_path: Path) -> None:
    with gateway(tmp_path, BAD[name]) as serving:
        for each in agent.never_blocked:
            ended = hook(agent, event(each), serving.credentials, serving.address)
            assert (ended.returncode, ended.stdout) == (1, "")
            assert ended.stderr.startswith("pmcl: this was not recorded: ")


@agents
def test_a_key_that_is_not_accepted_is_told_as_such(agent: Agent, tmp_path: Path) -> None:
    with gateway(tmp_path, BAD["refused"]) as serving:
        ended = hook(agent, event(BEFORE[agent.name]), serving.credentials, serving.address)
    assert ended.returncode == 2
    assert "does not accept the key of this hook's host" in ended.stderr
    assert "`pmcl host list`" in ended.stderr


@agents
def test_an_output_that_nobody_recorded_is_withheld(agent: Agent, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(b"")) as serving:
        ended = hook(agent, event(agent.after_tool), serving.credentials, serving.address)
    if agent.name == "claude-code":
        assert (ended.returncode, ended.stderr) == (0, "")
        answer = json.loads(ended.stdout)
        assert "withheld" in answer["hookSpecificOutput"]["updatedToolOutput"]
    else:
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "withheld" in ended.stderr


MALFORMED = {
    "nothing": b"",
    "no json": b"{",
    "no object": b"[]",
    "no name": b"{}",
    "no text": b'{"hook_event_name": 1}',
    "no utf-8": b'{"hook_event_name": "Stop\xff"}',
    "deep": b"[" * 100_000,
    "not said yet": event("PermissionRequest"),
}


@agents
@pytest.mark.parametrize("given", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_event_is_taken_for_a_call(agent: Agent, given: bytes, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(http(b"{}", "400 Bad Request"))) as serving:
        assert_blocked(hook(agent, given, serving.credentials, serving.address))


def test_another_events_name_inside_a_call_changes_nothing(tmp_path: Path) -> None:
    """The agent's own member counts, wherever else the name stands."""
    given = event("PreToolUse", tool_input={"hook_event_name": "Stop"})
    with gateway(tmp_path, saying(b"")) as serving:
        assert_blocked(hook(AGENTS["codex"], given, serving.credentials, serving.address))


@agents
def test_an_event_beyond_the_limit_is_blocked(agent: Agent, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(http(body()))) as serving:
        given = event(BEFORE[agent.name], tool_input="x" * client.EVENT_MAX_BYTES)
        assert_blocked(hook(agent, given, serving.credentials, serving.address))
        assert serving.requests == []


@agents
def test_a_dead_sidecar_blocks_the_call(agent: Agent, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(b"")) as serving:
        pass
    ended = hook(agent, event(BEFORE[agent.name]), serving.credentials, serving.address)
    assert_blocked(ended)
    assert "no sidecar runs: start it with `pmcl up`" in ended.stderr


@agents
@pytest.mark.parametrize("slow", ["never", "drop by drop"])
def test_a_slow_sidecar_blocks_the_call(agent: Agent, slow: str, tmp_path: Path) -> None:
    ended = threading.Event()

    def answer(connection: socket.socket, request: bytes) -> None:
        if slow == "never":
            ended.wait()
        while not ended.wait(0.05):
            connection.sendall(b"H")

    quick = tmp_path / "client.py"
    source = Path(client.__file__).read_text()
    quick.write_text(source.replace("DEADLINE_S = 5.0", "DEADLINE_S = 0.5"))
    with gateway(tmp_path, answer) as serving:
        words = command(agent.name, serving.credentials, serving.address)
        words[3] = str(quick)
        got = subprocess.run(
            words, input=event(BEFORE[agent.name]), capture_output=True, check=False
        )
        ended.set()
    assert got.returncode == 2
    assert b"no answer within 0.5 s" in got.stderr


@agents
def test_an_agent_that_never_ends_its_event_is_not_waited_for(agent: Agent, tmp_path: Path) -> None:
    quick = tmp_path / "client.py"
    source = Path(client.__file__).read_text()
    quick.write_text(source.replace("DEADLINE_S = 5.0", "DEADLINE_S = 0.2"))
    words = command(agent.name, tmp_path, tmp_path)
    words[3] = str(quick)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"no answer within 0.2 s" in process.stderr.read()
    assert process.returncode == 2


@agents
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
@pytest.mark.parametrize("file", ["credentials", "address"])
def test_a_file_that_is_open_to_others_is_refused(
    agent: Agent, mode: int, file: str, tmp_path: Path
) -> None:
    with gateway(tmp_path, saying(http(body()))) as serving:
        getattr(serving, file).chmod(mode)
        ended = hook(agent, event(BEFORE[agent.name]), serving.credentials, serving.address)
        assert_blocked(ended)
        assert "chmod 600" in ended.stderr
        assert serving.requests == []


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "",
        '{"url": "http://example.org:80"}',
        '{"url": "https://127.0.0.1:1"}',
        '{"url": "http://127.0.0.1"}',
        '{"url": "http://127.0.0.1:80@example.org:80"}',
        '{"url": "http:\\/\\/127.0.0.1:80"}',
    ],
)
def test_no_other_machine_gets_the_key(text: str, tmp_path: Path) -> None:
    with gateway(tmp_path, saying(http(body()))) as serving:
        private(serving.address, text)
        ended = hook(AGENTS["codex"], event("PreToolUse"), serving.credentials, serving.address)
    assert_blocked(ended)
    assert "has no url" in ended.stderr or "the gateway's address is not" in ended.stderr
    assert serving.requests == []


def test_ten_calls_at_once_are_all_asked_about(tmp_path: Path) -> None:
    together = threading.Barrier(10)

    def answer(connection: socket.socket, request: bytes) -> None:
        together.wait(30)
        number = int(request.rpartition(b'"number": ')[2].rstrip(b"}"))
        told = body(exit_code=2, stderr=f"call {number}\n") if number % 2 else body()
        connection.sendall(http(told))

    with gateway(tmp_path, answer) as serving, ThreadPoolExecutor(10) as pool:

        def call(number: int) -> subprocess.CompletedProcess[str]:
            given = event("PreToolUse", number=number)
            return hook(AGENTS["codex"], given, serving.credentials, serving.address)

        ended = [*pool.map(call, range(10))]
    assert [each.returncode for each in ended] == [0, 2] * 5
    assert [each.stderr for each in ended if each.stderr] == [
        f"call {number}\n" for number in range(1, 10, 2)
    ]


@agents
@pytest.mark.parametrize("moment", ["asked", "answered"])
def test_a_kill_at_any_moment_leaves_no_answer_that_lets_a_call_go_on(
    agent: Agent, moment: str, tmp_path: Path
) -> None:
    """The installed command's shell blocks for a process that was killed."""
    from pmcl.hosts.hooks.command import HookPaths, groups_of

    processes: list[int] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        pid = int((tmp_path / "pid").read_text())
        processes.append(pid)
        if moment == "answered":
            connection.sendall(http(body())[:-1])  # all but the last byte
        os.kill(pid, signal.SIGKILL)

    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho $$ > {tmp_path}/pid\nexec {sys.executable} "$@"\n')
    python.chmod(0o700)
    with gateway(tmp_path, answer) as serving:
        paths = HookPaths(credentials=serving.credentials, gateway=serving.address, python=python)
        groups = dict(groups_of(agent, paths))
        shell = groups[BEFORE[agent.name]]["hooks"][0]["command"]
        ended = subprocess.run(
            ["bash", "-c", shell],
            input=event(BEFORE[agent.name]),
            capture_output=True,
            check=False,
        )
    assert len(processes) == 1
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"did not finish" in ended.stderr


def test_a_foreign_program_on_the_port_gets_no_key(tmp_path: Path) -> None:
    with gateway(tmp_path, saying(http(body()))) as serving:
        pass  # it has stopped
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        named = json.loads(serving.address.read_text())
        named["url"] = f"http://127.0.0.1:{foreign.getsockname()[1]}"
        private(serving.address, json.dumps(named))
        ended = hook(AGENTS["codex"], event("PreToolUse"), serving.credentials, serving.address)
        foreign.settimeout(0)
        with pytest.raises(BlockingIOError):
            foreign.accept()
    assert_blocked(ended)


def test_usage_blocks() -> None:
    words = [sys.executable, "-I", "-S", str(client.__file__)]
    for arguments in ([], ["codex"], ["cursor", "a", "b"], ["codex", "a", "b", "c"]):
        ended = subprocess.run(
            [*words, *arguments], input=event("PreToolUse"), capture_output=True, check=False
        )
        assert ended.returncode == 2
        assert b"usage" in ended.stderr


def test_it_imports_only_what_is_built_in() -> None:
    tree = ast.parse(Path(client.__file__).read_text())
    at_the_top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [alias.name for node in at_the_top for alias in node.names] == [
        "_signal",
        "_socket",
        "os",
        "sys",
    ]


def test_it_knows_the_agents_and_their_events() -> None:
    knows: Callable[[str], object] = client.__dict__.__getitem__
    assert knows("_AGENTS") == tuple(AGENTS)
    assert set(knows("_NEVER_BLOCKED")) == {  # type: ignore[call-overload]
        name for agent in AGENTS.values() for name in agent.never_blocked
    }
    assert set(knows("_AFTER_TOOL")) == {  # type: ignore[call-overload]
        agent.after_tool for agent in AGENTS.values()
    }
