"""What the sidecar decides is watched as it becomes true."""

from contextlib import aclosing
from typing import Any

import anyio
import pytest

from pmcl.bus import Message
from pmcl.contracts import ContractError
from pmcl.hosts import Host
from pmcl.ops.console import console
from pmcl.ops.watch import Seen, _Inlet, _line, print_watched, watch
from tests.integration.sidecar.room import WITHIN_S, Room, proposal

pytestmark = pytest.mark.anyio


async def _act(room: Room, config: Any, done: anyio.Event) -> None:
    """Hold and pass again and again: a watcher sees only what comes after it subscribed."""
    async with Host.connect(config) as host:
        while not done.is_set():
            held = await host.check(proposal("write_file"))
            assert held.status == "held"
            passed = proposal()
            async with host.dispatch(await host.check(passed), passed):
                pass
            await anyio.sleep(0.01)


async def _watched(room: Room, wanted: set[str], **options: Any) -> dict[str, Seen]:
    """The first event of each name, once all that are wanted were seen."""
    config, other = room.config(), room.config()
    found: dict[str, Seen] = {}
    done = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_act, room, config, done)
        tasks.start_soon(_act, room, other, done)
        scope = config.credentials.scope
        with anyio.fail_after(WITHIN_S):
            async with aclosing(watch(room.settings, scope=scope, **options)) as events:
                async for seen in events:
                    assert seen.event["scope"] == scope
                    found.setdefault(seen.name, seen)
                    if wanted <= found.keys():
                        break
        done.set()
    return found


async def test_verdicts_and_outcomes_of_one_scope_are_seen(room: Room) -> None:
    found = await _watched(room, {"evaluated", "outcome-linked"})
    assert set(found) <= {"evaluated", "hold-placed", "outcome-linked"}
    evaluated = found["evaluated"]
    assert evaluated.sequence > 0
    assert "agent" in _line(evaluated)
    assert evaluated.event["status"] in _line(evaluated)
    assert evaluated.event["evaluation_id"] in _line(evaluated)
    assert "succeeded" in _line(found["outcome-linked"])
    assert found["outcome-linked"].event["outcome"]["evaluation_id"] in _line(
        found["outcome-linked"]
    )


async def test_all_shows_leases_too(room: Room) -> None:
    config = room.config()
    done = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def beginning() -> None:
            while not done.is_set():
                async with Host.connect(config):
                    await anyio.sleep(0.01)

        tasks.start_soon(beginning)
        scope, names = config.credentials.scope, set()
        with anyio.fail_after(WITHIN_S):
            async with aclosing(watch(room.settings, scope=scope, all_=True)) as events:
                async for seen in events:
                    names.add(seen.name)
                    break
        done.set()
    assert names <= {"lease-began", "lease-renewed"}


async def test_lines_are_printed_until_it_is_stopped(room: Room) -> None:
    config = room.config()
    done = anyio.Event()
    with console.capture() as printed:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_act, room, config, done)
            with anyio.move_on_after(1):
                await print_watched(room.settings, as_json=False, scope=config.credentials.scope)
            done.set()
    assert "evaluated" in printed.get()


async def test_a_scope_that_is_none_is_refused(room: Room) -> None:
    with pytest.raises(ContractError, match="scope"):
        await anext(watch(room.settings, scope="*"))


async def test_a_slow_reader_is_told_what_it_missed() -> None:
    inlet = _Inlet()
    with inlet.send, inlet.receive:
        for number in range(1030):
            inlet.take(Message(subject=f"s.{number}", data=b""))
        for _ in range(1024):
            assert inlet.receive.receive_nowait()[1] == 0
        inlet.take(Message(subject="s.last", data=b""))
        assert inlet.receive.receive_nowait()[1] == 6
