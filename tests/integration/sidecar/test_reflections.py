"""A finished turn is reflected on by a running sidecar, and an operator sees what came of it."""

import pytest

from pmcl.contracts import LedgerError
from pmcl.hosts import Host
from pmcl.ops.console import console
from pmcl.ops.reflections import (
    list_reflections,
    read_reflection,
    show_cycle,
    show_reflections,
)
from pmcl.ops.settings import Settings
from tests.integration.hosts.sidecar import until
from tests.integration.sidecar.room import Room
from tests.unit.workers.desk import NOTES

pytestmark = pytest.mark.anyio


async def test_a_finished_turn_leaves_a_cycle_that_an_operator_sees(room: Room) -> None:
    config = room.config()
    scope = config.credentials.scope
    async with Host.connect(config) as host:
        await host.observe(source="ls", summary="the notes are there", resources=(NOTES,))
        await host.complete("turn-1")

        async def ended() -> bool:
            cycles = (await list_reflections(room.settings, scope=scope))["cycles"]
            return any(cycle.result is not None for cycle in cycles)

        await until(ended)
        found = await list_reflections(room.settings, scope=scope, host="agent")
    (cycle,) = found["cycles"]
    assert (cycle.trigger, cycle.turns, cycle.reflector) == ("turn", 1, "built-in")
    assert (cycle.result, cycle.reason) == ("noop", "nothing_new")
    (waiting,) = found["hosts"]
    assert (waiting.turns_waiting, waiting.idle_waiting, waiting.circuit) == (0, False, "closed")
    assert await read_reflection(room.settings, cycle.cycle_id) == cycle
    other = await list_reflections(room.settings, scope=scope, result="failed")
    assert (other["cycles"], other["more"]) == ([], False)
    with console.capture() as printed:
        show_reflections(found)
        show_cycle(cycle)
    shown = printed.get()
    assert cycle.cycle_id in shown
    assert "noop nothing_new" in shown


async def test_a_cycle_that_is_not_there_is_said_so(room: Room) -> None:
    with pytest.raises(LedgerError, match="cycle 'nothing' is not in this ledger"):
        await read_reflection(room.settings, "nothing")
    with pytest.raises(LedgerError, match="there is no ledger yet"):
        await list_reflections(Settings(state_dir=room.settings.state_dir / "elsewhere"))
