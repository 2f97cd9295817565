"""The hook as an agent runs it: the commands in its settings, whole processes, and their ends."""

import json
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
import psutil
import pytest

from pmcl.hosts import new_profile
from pmcl.hosts.hooks import AGENTS, Agent, installed
from pmcl.store import open_reader
from tests.acceptance.facts import until
from tests.acceptance.processes import pmcl
from tests.acceptance.world import World

pytestmark = pytest.mark.anyio

agents = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
GO_ON = (0, "", "")

Ended = tuple[int, str, str]


class Session:
    """An agent in a project, which does what its settings say."""

    def __init__(self, agent: Agent, world: World) -> None:
        self.agent = agent
        self.project = world.directory / "project"
        self.environment = {**world.environment, "HOME": str(world.directory / "home")}
        self.commands: dict[str, str] = {}

    def call(self, command: str) -> dict[str, Any]:
        return {**self.agent.shell_call(command, self.project), "session_id": "one"}

    def before(self, command: str, **members: Any) -> Ended:
        return self.tell({**self.call(command), **members})

    def after(self, command: str, output: str, **members: Any) -> Ended:
        call = self.call(command)
        response: Any = {"llmContent": output} if self.agent.name == "gemini" else output
        told = {"hook_event_name": self.agent.after_tool, "tool_response": response}
        return self.tell({**call, **told, **members})

    def tell(self, event: dict[str, Any]) -> Ended:
        with self.running(event) as process:
            out, told = process.communicate(timeout=60)
        return process.returncode, out, told

    @contextmanager
    def running(self, event: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
        command = self.commands[event["hook_event_name"]]
        with subprocess.Popen(
            ["bash", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            text=True,
        ) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(event))
            process.stdin.close()
            process.stdin = None
            yield process


async def install(agent: Agent, world: World) -> Session:
    """Install the hook of host `s/a` in a project, by the command."""
    session = Session(agent, world)
    session.project.mkdir()
    world.state_dir.chmod(0o700)
    credentials = world.state_dir / "credentials" / "s.a.json"
    credentials.parent.mkdir(mode=0o700)
    world.server.credentials("s", "a").save(credentials)
    credentials.with_suffix(".toml").write_text(new_profile([session.project]))
    done = await run_pmcl(session, world, "hook", "install", "--agent", agent.name, "--json")
    assert done["changed"]
    session.commands = dict(installed(agent, session.project))
    return session


async def run_pmcl(session: Session, world: World, *words: str) -> dict[str, Any]:
    places = ["--state-dir", str(world.state_dir), "--project", str(session.project)]
    done = await pmcl(*words, *places, environment=session.environment)
    report: dict[str, Any] = json.loads(done.stdout)
    return {"code": done.code, **report}


def is_denied(agent: Agent, ended: Ended) -> bool:
    """Return whether the agent blocks: whatever is printed is a denial, and 2 has a reason."""
    code, out, told = ended
    denies = bool(out) and agent.denial(json.loads(out)) is not None
    return (denies or not out) and (denies if code == 0 else code == 2 and bool(told.strip()))


async def statuses(world: World) -> list[str]:
    async with open_reader(world.ledger) as reader:
        return [row["status"] for row in await reader.all("SELECT status FROM outcomes")]


@agents
async def test_a_session_is_checked_recorded_and_well(agent: Agent, world: World) -> None:
    session = await install(agent, world)
    async with world.sidecar():
        report = await run_pmcl(session, world, "doctor", "--json")
        canary = [each for each in report["findings"] if each["check"] == f"canary.{agent.name}"]
        assert [each["state"] for each in canary] == ["ok"], report
        assert (report["code"], report["ok"]) == (0, True), report

        assert await anyio.to_thread.run_sync(session.before, "ls") == GO_ON
        assert await anyio.to_thread.run_sync(session.after, "ls", "a") == GO_ON

        def call(number: int) -> list[Ended]:
            one = {"tool_use_id": f"call_{number}"}
            command = f"ls {number}"
            return [session.before(command, **one), session.after(command, "b", **one)]

        def ten_at_once() -> list[list[Ended]]:
            with ThreadPoolExecutor(10) as pool:
                return [*pool.map(call, range(10))]

        assert await anyio.to_thread.run_sync(ten_at_once) == [[GO_ON, GO_ON]] * 10
        held = await anyio.to_thread.run_sync(session.before, "rm -rf /")
        assert is_denied(agent, held)

        async def eleven() -> bool:
            return await statuses(world) == ["succeeded"] * 11

        await until(eleven)


@agents
async def test_a_sidecar_that_is_killed_or_stopped_blocks(agent: Agent, world: World) -> None:
    session = await install(agent, world)
    async with world.sidecar() as sidecar:
        assert await anyio.to_thread.run_sync(session.before, "ls") == GO_ON
        sidecar.send(signal.SIGSTOP)
        slow = await anyio.to_thread.run_sync(session.before, "ls")
        sidecar.send(signal.SIGCONT)
        assert is_denied(agent, slow)
        assert "no answer within 5 s" in slow[2]
        sidecar.send(signal.SIGKILL)
        await sidecar.wait()
        dead = await anyio.to_thread.run_sync(session.before, "ls")
        assert is_denied(agent, dead)
    report = await run_pmcl(session, world, "doctor", "--json")
    assert (report["code"], report["ok"]) == (1, False)
    canary = [each for each in report["findings"] if each["check"] == f"canary.{agent.name}"]
    assert [each["state"] for each in canary] == ["wrong"]


@agents
async def test_a_hook_that_is_killed_at_any_moment_lets_no_held_call_go_on(
    agent: Agent, world: World
) -> None:
    """It is killed again and again, each time a little later, until it lives to its end."""
    session = await install(agent, world)
    event = session.call("rm -rf /")
    ends = []
    async with world.sidecar():
        for step in range(200):
            after_s = step / 1000 * 1.02**step  # in small steps at first; a busy machine is slow
            ended = await anyio.to_thread.run_sync(_killed, session, event, after_s)
            assert is_denied(agent, ended), (step, ended)
            ends.append(ended[0])
            if ends[-3:] == [0, 0, 0]:
                break
    assert 2 in ends
    assert ends[-1] == 0


def _killed(session: Session, event: dict[str, Any], after_s: float) -> Ended:
    """Return how the shell ends whose process is killed some time after it was seen."""
    with session.running(event) as process:
        python = _python_of(process)
        if python is not None:
            with suppress(psutil.NoSuchProcess):
                _kill_after(python, after_s)
        out, told = process.communicate(timeout=60)
    return process.returncode, out, told


def _kill_after(python: psutil.Process, after_s: float) -> None:
    try:
        python.wait(after_s)
    except psutil.TimeoutExpired:
        python.kill()


def _python_of(shell: subprocess.Popen[str]) -> psutil.Process | None:
    """Return the hook's own process, or `None` when it has ended already."""
    while shell.poll() is None:
        for each in psutil.Process(shell.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if each.name().startswith("python"):
                    return each
    return None
