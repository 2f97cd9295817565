"""Parts that are gone: the host holds in time, nothing is lost, and each outcome counts once."""

import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from pmcl.contracts import limits
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, Verdict
from pmcl.store import Row
from tests.acceptance.facts import count, rows, until
from tests.acceptance.processes import Child, child
from tests.acceptance.world import World, deleting, reading

pytestmark = pytest.mark.anyio

DEADLINE_S = limits.CLIENT_DEADLINE_MS / 1000
MARGIN_S = 0.3


async def checked(host: Host, proposal: Proposal) -> Verdict:
    began = time.monotonic()
    verdict = await host.check(proposal)
    assert time.monotonic() - began < DEADLINE_S + MARGIN_S
    return verdict


async def outcomes(world: World, evaluation_id: str) -> list[Row]:
    return await rows(
        world.ledger,
        "SELECT * FROM outcomes WHERE evaluation_id = :id ORDER BY linked_at",
        id=evaluation_id,
    )


async def linked(world: World, evaluation_id: str) -> Row:
    """Return the one outcome of an evaluation, once it is there."""
    (row,) = await until(lambda: outcomes(world, evaluation_id))
    assert await count(world.ledger, "listed_outcomes") == 0
    assert row["corrected_by"] is None
    return row


async def passed(host: Host) -> bool:
    return (await host.check(reading("/work/again"))).status == "passed"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_server_that_is_away_degrades_in_time_and_gets_everything_once(
    world: World, how: signal.Signals
) -> None:
    async with world.sidecar(), Host.connect(world.host()) as host:
        proposal, late = reading("/work/1"), reading("/work/late")
        verdict = await host.check(proposal)
        pending = await host.check(late)
        async with host.dispatch(verdict, proposal) as run:
            world.server.kill() if how == signal.SIGKILL else world.server.pause()
            run.failed("file_missing")
        await expect_only_inspections(host)
        async with host.dispatch(pending, late):
            pass
        if how == signal.SIGKILL:
            await world.restart_server()
        else:
            world.server.resume()
        assert (await linked(world, verdict.claim_id))["failure_mode"] == "file_missing"
        assert (await linked(world, pending.claim_id))["status"] == "succeeded"
        await until(lambda: passed(host))

        async def is_audited_once() -> bool:
            return await count(world.ledger, "audits") == 1

        await until(is_audited_once)
        await expect_receipts(world, host)
        assert await count(world.ledger, "audits") == 1
        assert len(await outcomes(world, verdict.claim_id)) == 1


async def expect_only_inspections(host: Host) -> None:
    """Every effect but a local inspection is held, and a held one does not run."""
    for number in range(2):
        proposal = deleting(f"/work/{number}")
        held = await checked(host, proposal)
        assert held.status == "held"
        assert held.reasons[0] in ("degraded.timeout", "degraded.disconnected")
        with pytest.raises(DispatchRefusedError, match="held"):
            await host.dispatch(held, proposal).__aenter__()
    inspection = reading("/work/seen")
    verdict = await checked(host, inspection)
    assert verdict.status == "degraded"
    async with host.dispatch(verdict, inspection):
        pass


async def expect_receipts(world: World, host: Host) -> None:
    """The host's file holds nothing: the ledger has said that it has all of it."""

    async def is_empty() -> bool:
        return host._session.file.is_empty

    await until(is_empty)


async def test_sidecar_killed_between_reply_and_outcome(world: World) -> None:
    async with Host.connect(world.host()) as host:
        proposal = reading("/work/1")
        async with world.sidecar():
            verdict = await until(lambda: judged(host, proposal))
        async with host.dispatch(verdict, proposal):
            pass
        held = await checked(host, deleting("/work/2"))
        assert held.reasons[0] in ("degraded.no_responders", "degraded.timeout")
        async with world.sidecar():
            assert (await linked(world, verdict.claim_id))["status"] == "succeeded"
            await expect_receipts(world, host)


async def judged(host: Host, proposal: Proposal) -> Verdict | None:
    verdict = await host.check(proposal)
    return verdict if verdict.evaluation is not None else None


async def test_sidecar_killed_between_outcome_and_commit(world: World) -> None:
    async with Host.connect(world.host()) as host:
        proposal = reading("/work/1")
        async with world.sidecar() as sidecar:
            verdict = await until(lambda: judged(host, proposal))
            sidecar.send(signal.SIGSTOP)
            async with host.dispatch(verdict, proposal):
                pass
            assert not await outcomes(world, verdict.claim_id)
        async with world.sidecar():
            assert (await linked(world, verdict.claim_id))["status"] == "succeeded"
            await expect_receipts(world, host)


async def test_sidecar_killed_after_commit_gets_no_second_outcome(world: World) -> None:
    async with Host.connect(world.host()) as host:
        proposal = reading("/work/1")
        async with world.sidecar():
            verdict = await until(lambda: judged(host, proposal))
            async with host.dispatch(verdict, proposal):
                pass
            first = await linked(world, verdict.claim_id)
        async with world.sidecar():
            await expect_receipts(world, host)
            assert tuple(await linked(world, verdict.claim_id)) == tuple(first)


async def test_request_that_outlived_its_host_is_judged_once(world: World) -> None:
    """The sidecar stands still, the host gives up and asks again: one call, one evaluation."""
    async with world.sidecar() as sidecar, Host.connect(world.host()) as host:
        proposal = reading("/work/1")
        await until(lambda: passed(host))
        sidecar.send(signal.SIGSTOP)
        assert (await checked(host, proposal)).status == "degraded"
        sidecar.send(signal.SIGCONT)
        verdict = await until(lambda: judged(host, proposal))
        async with host.dispatch(verdict, proposal):
            pass
        assert (await linked(world, verdict.claim_id))["status"] == "succeeded"
        found = await rows(
            world.ledger,
            "SELECT evaluation_id FROM evaluations WHERE call_id = :call",
            call=proposal.call_id,
        )
        assert [row["evaluation_id"] for row in found] == [verdict.claim_id]


@asynccontextmanager
async def dispatching(world: World, config: HostConfig) -> AsyncIterator[tuple[Child, str]]:
    """A host process that stands inside a dispatch block, with its evaluation id."""
    path = world.directory / "config.json"
    path.write_bytes(msgspec.json.encode(config, enc_hook=str))
    script = Path(__file__).with_name("host_hanging.py")
    errors = world.directory / "hanging.err"
    async with child([sys.executable, str(script), str(path)], errors, world.environment) as host:
        with anyio.fail_after(20):
            line = await host.line()
        assert line is not None, host.errors
        yield host, line


async def test_host_killed_inside_a_dispatch_is_unknown_once(world: World) -> None:
    config = world.host()
    async with world.sidecar():
        async with dispatching(world, config) as (process, evaluation_id):
            process.send(signal.SIGKILL)
            await process.ends()
        assert not await outcomes(world, evaluation_id)
        for _ in range(2):
            async with Host.connect(config) as host:
                row = await linked(world, evaluation_id)
                assert (row["status"], row["reported_by"]) == ("unknown", "host")
                await expect_receipts(world, host)


async def test_living_sibling_closes_what_a_killed_one_left(world: World) -> None:
    config = world.host()
    async with world.sidecar(), Host.connect(config) as host:
        async with dispatching(world, config) as (process, evaluation_id):
            process.send(signal.SIGKILL)
            await process.ends()
        assert (await linked(world, evaluation_id))["status"] == "unknown"
        await expect_receipts(world, host)
