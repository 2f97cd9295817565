"""The blocking client, before a scripted sidecar in the loop of the test."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, assert_type

import anyio.to_thread
import msgspec
import pytest

from pmcl.contracts import (
    CheckpointRequest,
    CompleteTurn,
    ContractError,
    DisableLease,
    HostError,
)
from pmcl.hosts import DispatchRefusedError, HeldError, Host, HostConfig, SyncHost
from tests.integration.hosts.sidecar import Sidecar, evaluation_of
from tests.integration.hosts.test_host import outcomes, reading, writing
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

WAIT_S = 10
T = TypeVar("T")


async def blocking(function: Callable[[], T]) -> T:
    """Run it beside the loop, in which the sidecar answers."""
    return await anyio.to_thread.run_sync(function)


async def test_verbs_work_without_a_loop(config: HostConfig, sidecar: Sidecar) -> None:
    def program() -> None:
        with SyncHost.connect(config) as host:
            assert host.generation == 1
            assert host.is_connected
            one = host.observe(source="x", summary="a", key="k")
            assert [one] == host.observe_many([{"source": "x", "summary": "a", "key": "k"}])
            proposal = writing()
            verdict = host.check(proposal)
            with host.dispatch(verdict, proposal) as run:
                run.failed("disk_full")
            with pytest.raises(DispatchRefusedError, match="claimed"):
                host.dispatch(verdict, proposal).__enter__()
            host.complete("turn-1")
            host.disable()
            with pytest.raises(HostError, match="disabled"):
                host.check(writing())

    await blocking(program)
    (outcome,) = await outcomes(sidecar)
    assert (outcome.status, outcome.failure_mode) == ("failed", "disk_full")
    assert [each.turn_id for each in sidecar.requests(CompleteTurn)] == ["turn-1"]
    assert len(sidecar.requests(DisableLease)) == 1


async def test_guarded_function_runs_in_its_callers_thread(
    config: HostConfig, sidecar: Sidecar
) -> None:
    def program() -> tuple[int, int]:
        with SyncHost.connect(config) as host:

            @host.guarded(server="files", effect="mutation")
            def write_file(path: str) -> int:
                """Write a file."""
                return threading.get_ident()

            with host.turn() as turn:
                turn.said("Write the file")
                assert turn.goal == "Write the file"
                return assert_type(write_file("/tmp/a"), int), threading.get_ident()

    ran, called = await blocking(program)
    assert ran == called
    (request,) = sidecar.requests(CheckpointRequest)
    assert (request.goal, request.arguments) == ("Write the file", {"path": "/tmp/a"})
    assert len(sidecar.requests(CompleteTurn)) == 1
    (outcome,) = await outcomes(sidecar)
    assert outcome.status == "succeeded"


async def test_held_function_does_not_run(config: HostConfig, sidecar: Sidecar) -> None:
    sidecar.answer = lambda request: evaluation_of(
        request, checkpoint_status="held", reasons=("plan.unmitigated",)
    )

    def program() -> None:
        with SyncHost.connect(config) as host:

            @host.guarded(effect="mutation")
            def write_file(path: str) -> None:
                pytest.fail("ran")

            with pytest.raises(HeldError, match=r"plan\.unmitigated"), host.turn("write"):
                write_file("/tmp/a")

    await blocking(program)
    assert sidecar.requests(CompleteTurn) == []
    assert await outcomes(sidecar) == []


async def test_coroutine_function_is_refused(config: HostConfig, sidecar: Sidecar) -> None:
    async def read_note() -> None: ...

    def program() -> None:
        with (
            SyncHost.connect(config) as host,
            pytest.raises(HostError, match="is a coroutine function"),
        ):
            host.guarded()(read_note)

    await blocking(program)


async def test_error_of_a_function_is_recorded_and_the_host_goes_on(
    config: HostConfig, sidecar: Sidecar
) -> None:
    def program() -> None:
        with SyncHost.connect(config) as host:

            @host.guarded()
            def read_note(kind: type[BaseException]) -> None:
                raise kind

            @host.guarded()
            def raising(name: str) -> None:
                raise {"lookup": LookupError, "exit": SystemExit}[name]

            with pytest.raises(ContractError):
                read_note(LookupError)
            with pytest.raises(LookupError):
                raising("lookup")
            with pytest.raises(SystemExit):
                raising("exit")
            assert host.check(writing()).status == "passed"

    await blocking(program)
    assert [each.status for each in await outcomes(sidecar)][:2] == ["failed", "unknown"]


async def test_threads_share_one_host(config: HostConfig, sidecar: Sidecar) -> None:
    config = msgspec.structs.replace(config, deadline_ms=5_000)

    def program() -> list[str]:
        with SyncHost.connect(config) as host, ThreadPoolExecutor(8) as pool:

            @host.guarded()
            def read_note(name: str) -> str:
                return name

            def turn(n: int) -> str:
                with host.turn(f"goal {n}"):
                    return read_note(str(n))

            return list(pool.map(turn, range(24)))

    assert await blocking(program) == [str(n) for n in range(24)]
    asked = {(each.arguments["name"], each.goal) for each in sidecar.requests(CheckpointRequest)}
    assert asked == {(str(n), f"goal {n}") for n in range(24)}
    assert [each.status for each in await outcomes(sidecar)] == ["succeeded"] * 24


async def test_tool_that_still_runs_at_the_end_has_an_unknown_outcome(
    config: HostConfig, sidecar: Sidecar
) -> None:
    running, closed = threading.Event(), threading.Event()

    def program() -> None:
        with ThreadPoolExecutor(1) as pool:
            with SyncHost.connect(config) as host:

                @host.guarded()
                def read_note() -> str:
                    running.set()
                    assert closed.wait(WAIT_S)
                    return "too late"

                reading = pool.submit(read_note)
                assert running.wait(WAIT_S)
            closed.set()
            with pytest.raises(HostError, match="was closed"):
                reading.result(WAIT_S)
            with pytest.raises(HostError, match="cannot be called"):
                host.check(writing())

    await blocking(program)
    assert [each.status for each in await outcomes(sidecar)] == ["unknown"]


async def test_host_closes_while_the_bus_is_away(
    config: HostConfig, sidecar: Sidecar, nats_server: NatsServer
) -> None:
    def program() -> None:
        with SyncHost.connect(config) as host:
            nats_server.pause()
            # What is under way when the server stops may still be answered.
            assert any(host.check(reading()).status == "degraded" for _ in range(20))

    try:
        with anyio.fail_after(30):
            await blocking(program)
    finally:
        nats_server.resume()


async def test_blocking_and_asynchronous_clients_are_siblings(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:

        def program() -> int | None:
            with SyncHost.connect(config) as blocking_host:
                return blocking_host.generation

        assert await blocking(program) == host.generation
