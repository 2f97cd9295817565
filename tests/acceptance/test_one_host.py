"""Guard, hook and program of one host at once; and a hook's call whose sidecar is killed."""

import signal
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import pytest

from pmcl.hosts import Host, load_host
from pmcl.hosts.hooks import AGENTS
from tests.acceptance.facts import rows, until
from tests.acceptance.test_guarded_servers import guarded
from tests.acceptance.test_hooks import GO_ON, Session, install, statuses
from tests.acceptance.world import World, reading
from tests.integration.guard.guards import TOY, Raw, raw

pytestmark = pytest.mark.anyio

ROUNDS = 5
CLAUDE = AGENTS["claude-code"]


async def call_the_guarded(toy: Raw) -> None:
    for number in range(ROUNDS):
        answer = await toy.call(number, "read_note", path=f"/n/{number}")
        assert f"/n/{number}" in answer["result"]["content"][0]["text"], answer


async def call_the_hook(session: Session) -> None:
    for number in range(ROUNDS):
        for tell in (session.before, partial(session.after, output="a")):
            assert await anyio.to_thread.run_sync(tell, f"ls {number}") == GO_ON


async def call_the_program(host: Host) -> None:
    for number in range(ROUNDS):
        proposal = reading(f"/srv/{number}")
        async with host.dispatch(await host.check(proposal), proposal):
            pass


async def test_guard_hook_and_program_of_one_host_share_its_lease(
    world: World, tmp_path: Path
) -> None:
    session = await install(CLAUDE, world)
    command = guarded(world, "toy", TOY)
    given = session.environment | {"TOY_LOG": str(tmp_path / "toy.log")}
    config = load_host(world.state_dir / "credentials" / "s.a.json", world.state_dir)
    async with (
        world.sidecar(),
        raw(command, given, tmp_path / "err") as toy,
        Host.connect(config) as host,
    ):
        await toy.ask("list", "tools/list")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call_the_guarded, toy)
            tasks.start_soon(call_the_hook, session)
            tasks.start_soon(call_the_program, host)

        async def all_told() -> bool:
            return await statuses(world) == ["succeeded"] * 3 * ROUNDS

        await until(all_told)
        [lease] = await rows(world.ledger, "SELECT generation, state FROM leases")
        assert (lease["generation"], lease["state"]) == (1, "live")


async def test_a_killed_guards_call_is_closed_by_its_siblings_who_keep_the_lease(
    world: World, tmp_path: Path
) -> None:
    session = await install(CLAUDE, world)
    command, log = guarded(world, "toy", TOY), tmp_path / "toy.log"
    given = session.environment | {"TOY_LOG": str(log)}
    config = load_host(world.state_dir / "credentials" / "s.a.json", world.state_dir)
    config = msgspec.structs.replace(config, sweep_ms=100)
    hanging = {"name": "read_nothing", "arguments": {}}
    async with (
        world.sidecar(),
        raw(command, given, tmp_path / "err") as toy,
        Host.connect(config) as host,
    ):
        await toy.ask("list", "tools/list")
        await toy.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": hanging})
        await until(anyio.Path(log).exists)
        toy.process.kill()
        await toy.ends()
        await call_the_hook(session)
        await call_the_program(host)

        async def all_told() -> bool:
            return sorted(await statuses(world)) == ["succeeded"] * 2 * ROUNDS + ["unknown"]

        await until(all_told)
        [lost] = await rows(
            world.ledger,
            "SELECT e.tool FROM outcomes AS o JOIN evaluations AS e USING (evaluation_id)"
            " WHERE o.status = 'unknown'",
        )
        assert lost["tool"] == "read_nothing"
        [lease] = await rows(world.ledger, "SELECT generation, state FROM leases")
        assert (lease["generation"], lease["state"]) == (1, "live")


async def test_a_hooks_call_is_unknown_once_when_the_sidecar_was_killed(world: World) -> None:
    session = await install(CLAUDE, world)
    first = {"tool_use_id": "call_1"}
    async with world.sidecar() as sidecar:
        begun = partial(session.before, "ls 1", **first)
        assert await anyio.to_thread.run_sync(begun) == GO_ON
        sidecar.send(signal.SIGKILL)
        await sidecar.wait()
    async with world.sidecar():
        for _ in range(2):
            late = partial(session.after, "ls 1", "a", **first)
            await anyio.to_thread.run_sync(late)
        assert await anyio.to_thread.run_sync(session.before, "ls 2") == GO_ON

        async def one() -> bool:
            return await statuses(world) == ["unknown"]

        await until(one)
        [linked] = await rows(
            world.ledger,
            "SELECT e.tool FROM outcomes AS o JOIN evaluations AS e USING (evaluation_id)",
        )
        assert linked["tool"] == "Bash"
