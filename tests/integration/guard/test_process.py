"""The guard as a process: what it passes on, how it ends, and what is left when it is killed."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil
import pytest

from tests.integration.guard.guards import TOY, WITHIN_S, Guard, Guards, Raw, raw

pytestmark = pytest.mark.anyio


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "toy.log"


@pytest.fixture
def guard(guards: Guards, log: Path) -> Guard:
    return guards.guard(TOY, "--server", "toy", TOY_LOG=str(log), TOY_SAYS="hello")


def executed(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


async def pid_of(toy: Raw) -> int:
    return int((await toy.ask("pid", "pid"))["result"]["pid"])


async def is_gone(pid: int) -> None:
    with anyio.fail_after(WITHIN_S):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_a_session_is_mediated_from_its_begin_to_the_servers_own_end(
    guards: Guards, guard: Guard, log: Path, tmp_path: Path
) -> None:
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        assert (await toy.ask(0, "initialize"))["result"]["serverInfo"]["name"] == "toy"
        listed = await toy.ask(1, "tools/list")
        assert "_pmcl" in listed["result"]["tools"][0]["inputSchema"]["properties"]
        read = await toy.call(2, "read_note", path="/n/1", _pmcl={"goal": "read it"})
        assert read["result"]["content"][0]["text"] == "the note {'path': '/n/1'}"
        assert (await toy.call(3, "read_env", name="TOY_SAYS"))["result"]["content"][0] == {
            "type": "text",
            "text": "hello",
        }
        held = await toy.call(4, "delete_note", path="/n/2")
        assert held["result"]["isError"]
        assert "PMCL held toy/delete_note" in held["result"]["content"][0]["text"]
        flood = await toy.ask(5, "flood", bytes=3_000_000)
        assert len(flood["result"]["text"]) == 3_000_000
        await toy.say(b'{"jsonrpc":"2.0","id":6,"id":7,"method":"tools/call"}\n')
        assert (await toy.hear())["error"]["code"] == -32700
        await toy.close()
        assert await toy.rest() == b""
        assert await toy.ends() == 7
        told = f"pmcl: toy is guarded for {guard.scope}/a"
        assert toy.errors.splitlines()[:2] == [told, "toy: at your service"]
        assert toy.errors.count(told) == 1
    assert executed(log) == [
        ["read_note", {"path": "/n/1"}],
        ["read_env", {"name": "TOY_SAYS"}],
    ]
    outcomes = await guards.outcomes(guard.scope, 2)
    assert [(row["tool"], row["status"], row["verified"]) for row in outcomes] == [
        ("read_note", "succeeded", 1),
        ("read_env", "succeeded", 1),
    ]
    assert await guards.recorded(guard.scope) == [
        ("toy/read_note", "tool_output", "the note {'path': '/n/1'}"),
        ("toy/read_env", "tool_output", "hello"),
    ]


async def test_what_was_said_before_the_end_of_input_is_answered(
    guards: Guards, guard: Guard, tmp_path: Path
) -> None:
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        frame = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_note"}}'
        await toy.say((frame % 1).encode() + b"\n" + (frame % 2).encode())
        await toy.close()
        answers = [await toy.hear() for _ in range(2)]
        assert [answer["id"] for answer in answers] == [1, 2]
        assert await toy.ends() == 7


async def test_many_calls_at_once_are_all_judged_and_answered(
    guards: Guards, guard: Guard, log: Path, tmp_path: Path
) -> None:
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        await toy.ask("list", "tools/list")
        calls = [
            {"name": "read_note", "arguments": {"path": f"/n/{number}"}} for number in range(50)
        ]
        await toy.say(
            *(
                {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
                for id, params in enumerate(calls)
            )
        )
        answers = [await toy.hear() for _ in calls]
        assert [answer["id"] for answer in answers] == [*range(50)]
        assert all("isError" not in answer["result"] for answer in answers)
        await toy.close()
        assert await toy.ends() == 7
    assert executed(log) == [["read_note", call["arguments"]] for call in calls]
    assert {row["status"] for row in await guards.outcomes(guard.scope, 50)} == {"succeeded"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 5), (signal.SIGINT, 130)])
async def test_signals_and_exit_codes_are_passed_on(
    guard: Guard, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        pid = await pid_of(toy)
        toy.process.send_signal(number)
        assert await toy.ends() in (code, 1)  # Python ends with 1 after its own KeyboardInterrupt
        await is_gone(pid)


async def test_a_server_that_dies_ends_the_guard_and_leaves_its_calls_unknown(
    guards: Guards, guard: Guard, tmp_path: Path
) -> None:
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        await toy.ask(0, "tools/list")
        await toy.say(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_nothing"}},
            {"jsonrpc": "2.0", "id": 2, "method": "crash"},
        )
        assert await toy.rest() == b""
        assert await toy.ends() == 128 + signal.SIGKILL
    [outcome] = await guards.outcomes(guard.scope, 1)
    assert (outcome["tool"], outcome["status"]) == ("read_nothing", "unknown")


async def test_a_guard_that_is_killed_takes_its_server_along_and_its_call_is_unknown_once(
    guards: Guards, log: Path, tmp_path: Path
) -> None:
    guard = guards.guard(TOY, "--server", "toy", TOY_LOG=str(log), TOY_LINGERS="1")
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        pid = await pid_of(toy)
        await toy.ask(0, "tools/list")
        hanging = {"name": "read_nothing", "arguments": {}}
        await toy.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": hanging})
        with anyio.fail_after(WITHIN_S):
            while not executed(log):  # noqa: ASYNC110 - a fact of another process
                await anyio.sleep(0.01)
        toy.process.kill()
        await is_gone(pid)
    for _ in range(2):
        async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
            await toy.ask(0, "tools/list")
            [outcome] = await guards.outcomes(guard.scope, 1)
            assert (outcome["tool"], outcome["status"]) == ("read_nothing", "unknown")
            os.kill(await pid_of(toy), signal.SIGKILL)
            assert await toy.ends() == 128 + signal.SIGKILL


async def test_what_the_client_has_heard_is_told_when_the_guard_is_killed_just_then(
    guards: Guards, guard: Guard, tmp_path: Path
) -> None:
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        await toy.ask(0, "tools/list")
        await toy.call(1, "read_note", path="/n/1")
        toy.process.kill()
        await toy.ends()
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        await toy.ask(0, "tools/list")
        [outcome] = await guards.outcomes(guard.scope, 1)
    assert (outcome["status"], outcome["verified"]) == ("succeeded", 1)


async def test_a_server_outlives_no_client_that_is_gone(guards: Guards, log: Path) -> None:
    guard = guards.guard(TOY, "--server", "toy", TOY_LOG=str(log), TOY_LINGERS="1")
    pid, code = await anyio.to_thread.run_sync(visit_and_vanish, guard)
    assert code == 5
    await is_gone(pid)


def visit_and_vanish(guard: Guard) -> tuple[int, int]:
    """Return the server's process and the guard's exit code, after a client that just goes."""
    with subprocess.Popen(
        guard.command, env=guard.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"pid"}\n')
            process.stdin.flush()
            pid = json.loads(process.stdout.readline())["result"]["pid"]
            process.stdin.close()
            process.stdout.close()
            return pid, process.wait(WITHIN_S)
        finally:
            process.kill()


async def test_without_a_sidecar_only_inspections_go_on(
    guards: Guards, log: Path, tmp_path: Path
) -> None:
    guard = guards.guard(TOY, "--server", "toy", TOY_LOG=str(log))
    lonely = guards.away(guard.scope, tmp_path)
    async with raw(lonely(guard.command), guard.environment, tmp_path / "err") as toy:
        await toy.ask(0, "tools/list")
        read = await toy.call(1, "read_note", path="/n/1")
        assert read["result"]["content"][0]["text"] == "the note {'path': '/n/1'}", read
        held = await toy.call(2, "delete_note", path="/n/1")
        assert "degraded." in held["result"]["content"][0]["text"]
        await toy.close()
        assert await toy.ends() == 7
    assert executed(log) == [["read_note", {"path": "/n/1"}]]


async def test_a_command_that_cannot_be_run_is_told(guards: Guards, tmp_path: Path) -> None:
    guard = guards.guard(("/nowhere/server",))
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        assert await toy.rest() == b""
        assert await toy.ends() == 127
        assert "/nowhere/server cannot be run" in toy.errors


async def test_without_its_host_the_guard_starts_no_server(
    guards: Guards, log: Path, tmp_path: Path
) -> None:
    guard = guards.guard_of("nobody", TOY, TOY_LOG=str(log))
    async with raw(guard.command, guard.environment, tmp_path / "err") as toy:
        assert await toy.ends() == 1
        assert "no host 'nobody/a' here" in toy.errors
        assert "at your service" not in toy.errors
