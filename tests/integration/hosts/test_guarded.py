"""Guarded functions and turns, before a scripted sidecar that tells what it was asked."""

import threading
from pathlib import Path
from typing import Any, assert_type

import anyio
import msgspec
import pytest

from pmcl.contracts import (
    CheckpointRequest,
    CompleteTurn,
    ContractError,
    HostError,
    Observation,
    Outcome,
    Premortem,
    Tool,
    decode,
    definition_hash,
    limits,
    sha256,
)
from pmcl.hosts import (
    DispatchRefusedError,
    HeldError,
    Host,
    HostConfig,
    ObservationLostError,
    Proposal,
    stating,
)
from pmcl.hosts.adapter import OutputTooLargeError
from pmcl.outbox import HostFileFullError
from tests.integration.hosts.sidecar import Sidecar, evaluation_of, until
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


async def stored(sidecar: Sidecar, kind: type[Any]) -> list[Any]:
    leaf = f".{kind.__name__.lower()}."
    return [decode(each.data, kind) for each in await sidecar.stored() if leaf in each.subject]


def held(request: CheckpointRequest) -> Any:
    return evaluation_of(
        request,
        checkpoint_status="held",
        reasons=("plan.unmitigated",),
        revision_request="Look at the file first.",
    )


def reading() -> Proposal:
    tool = Tool(server="files", name="read_file", definition_hash="0" * 64)
    return Proposal(goal="Read it", tool=tool, arguments={"path": "/srv/a"})


async def test_call_is_proposed_from_the_signature(
    config: HostConfig, sidecar: Sidecar, tmp_path: Path
) -> None:
    async with Host.connect(config) as host:

        @host.guarded(server="files", effect="mutation", reversibility="irreversible")
        async def write_file(path: str, content: str = "empty") -> int:
            """Write a text file."""
            return len(content)

        async with host.turn("keep a note"):
            assert await write_file(str(tmp_path / "a")) == 5
    (request,) = sidecar.requests(CheckpointRequest)
    assert (request.tool.server, request.tool.name) == ("files", "write_file")
    assert request.definition.description == "Write a text file."
    assert request.definition.parameters["required"] == ["path"]
    assert request.tool.definition_hash == definition_hash(request.definition)
    assert request.arguments == {"path": str(tmp_path / "a"), "content": "empty"}
    assert [resource.value for resource in request.resources] == [str((tmp_path / "a").resolve())]
    assert (request.effect, request.reversibility) == ("mutation", "irreversible")
    assert request.goal == "keep a note"


async def test_value_is_untrusted_evidence_and_its_receipt_is_in_the_outcome(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:

        @host.guarded()
        async def read_note() -> dict[str, int]:
            return {"a": 1}

        assert assert_type(await read_note(), dict[str, int]) == {"a": 1}
    (outcome,) = await stored(sidecar, Outcome)
    (seen,) = await stored(sidecar, Observation)
    assert (seen.trust, seen.detail, seen.source) == ("tool_output", '{"a":1}', "python/read_note")
    assert outcome.status == "succeeded"
    assert outcome.receipt.digest == sha256(b'{"a":1}')


async def test_plain_function_runs_beside_the_event_loop(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:

        @host.guarded()
        def read_note(name: str) -> tuple[str, int]:
            return name, threading.get_ident()

        name, thread = assert_type(await read_note(name="n"), tuple[str, int])
    assert name == "n"
    assert thread != threading.get_ident()


async def test_what_can_be_awaited_is_awaited_before_it_is_recorded(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async def read_note() -> str:
        return "a"

    async with Host.connect(config) as host:
        assert await host.guarded(name="read_note")(lambda: read_note())() == "a"
    (seen,) = await stored(sidecar, Observation)
    assert seen.detail == "a"


async def test_held_call_does_not_run_and_says_what_would_lift_it(
    config: HostConfig, sidecar: Sidecar
) -> None:
    sidecar.answer = held
    async with Host.connect(config) as host:

        @host.guarded(server="files", effect="mutation")
        async def write_file(path: str) -> None:
            pytest.fail("ran")

        with pytest.raises(HeldError) as caught:
            await write_file("/tmp/a")
    assert caught.value.reasons == ("plan.unmitigated",)
    assert caught.value.revision_request == "Look at the file first."
    assert caught.value.verdict is not None
    assert "plan.unmitigated" in str(caught.value)
    assert "Look at the file first." in str(caught.value)
    assert await stored(sidecar, Outcome) == []


async def test_call_that_cannot_be_asked_about_does_not_run(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:

        @host.guarded()
        async def take(value: Any) -> None:
            pytest.fail("ran")

        with pytest.raises(HeldError, match="was not run") as caught:
            await take(float("nan"))
        assert (caught.value.verdict, caught.value.reasons) == (None, ())
        assert caught.value.revision_request is None
        with pytest.raises(HeldError):
            await take({1: "a", "1": "b"})
        with pytest.raises(ContractError, match="plain data"):
            await take(object())


async def test_error_of_the_function_is_a_recorded_failure(
    config: HostConfig, sidecar: Sidecar
) -> None:
    raised = FileNotFoundError("no such note")
    async with Host.connect(config) as host:

        @host.guarded()
        async def read_note() -> None:
            raise raised

        with pytest.raises(FileNotFoundError) as caught:
            await read_note()
    assert caught.value is raised
    (outcome,) = await stored(sidecar, Outcome)
    (seen,) = await stored(sidecar, Observation)
    assert (outcome.status, outcome.failure_mode) == ("failed", "FileNotFoundError")
    assert seen.detail == "FileNotFoundError: no such note"


async def test_error_that_cannot_be_recorded_is_kept_from_the_caller_and_is_a_failure(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:

        @host.guarded()
        async def read_note() -> None:
            raise LookupError("a" * 1_000_000)

        with pytest.raises(OutputTooLargeError):
            await read_note()
    (outcome,) = await stored(sidecar, Outcome)
    assert (outcome.status, outcome.failure_mode) == ("failed", "LookupError")


async def test_result_is_recorded_once_with_the_last_that_the_call_brought(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async def outcomes() -> list[Outcome]:
        return await stored(sidecar, Outcome)

    async with Host.connect(config) as host:
        proposal = reading()
        block = host.dispatch(await host.check(proposal), proposal)
        async with block as run:
            run.failed("tool_error")
            await host.observe_many([{"source": "s", "summary": "a"}], ends=block)
            (outcome,) = await until(outcomes)
            run.unknown()  # too late
        messages = [each.subject.split(".")[2] for each in await sidecar.stored()]
    assert messages == ["observation", "outcome"]
    assert await outcomes() == [outcome]
    assert (outcome.status, outcome.failure_mode) == ("failed", "tool_error")


async def test_result_stands_when_what_the_call_brought_is_lost(
    config: HostConfig, sidecar: Sidecar, nats_server: NatsServer
) -> None:
    async with Host.connect(msgspec.structs.replace(config, observe_ms=200)) as host:
        proposal = reading()
        block = host.dispatch(await host.check(proposal), proposal)
        async with block as run:
            run.succeeded()
            nats_server.pause()
            with pytest.raises(ObservationLostError):
                await host.observe_many([{"source": "s", "summary": "a"}], ends=block)
            nats_server.resume()
    (outcome,) = await stored(sidecar, Outcome)
    assert outcome.status == "succeeded"


async def test_result_waits_for_the_end_where_the_file_takes_nothing_beside_it(
    config: HostConfig, sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Host.connect(config) as host:
        proposal = reading()
        block = host.dispatch(await host.check(proposal), proposal)
        async with block as run:
            run.succeeded()
            monkeypatch.setattr(limits, "HOST_OUTBOX_MAX_ROWS", 1)
            with pytest.raises(HostFileFullError):
                await host.observe_many([{"source": "s", "summary": "a"}], ends=block)
            monkeypatch.undo()
    (outcome,) = await stored(sidecar, Outcome)
    assert outcome.status == "succeeded"


async def test_cancelled_call_is_neither_success_nor_failure(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        with anyio.CancelScope() as scope:

            @host.guarded()
            async def read_note() -> None:
                scope.cancel()
                await anyio.sleep_forever()

            await read_note()
    (outcome,) = await stored(sidecar, Outcome)
    assert outcome.status == "cancelled"


async def test_arguments_that_change_during_the_check_do_not_run(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        notes = ["a"]

        def answer(request: CheckpointRequest) -> Any:
            notes.append("b")
            return evaluation_of(request)

        sidecar.answer = answer

        @host.guarded()
        async def write_notes(notes: list[str]) -> None:
            pytest.fail("ran")

        with pytest.raises(DispatchRefusedError, match="other_proposal"):
            await write_notes(notes)
    (outcome,) = await stored(sidecar, Outcome)
    assert outcome.status == "unused"


@pytest.mark.parametrize(
    ("value", "error"), [(iter(()), HostError), ("a" * 1_000_000, OutputTooLargeError)]
)
async def test_value_that_cannot_be_recorded_is_kept_from_the_caller(
    config: HostConfig, sidecar: Sidecar, value: Any, error: type[HostError]
) -> None:
    async with Host.connect(config) as host:

        @host.guarded()
        async def read_note() -> Any:
            return value

        with pytest.raises(error):
            await read_note()
    (outcome,) = await stored(sidecar, Outcome)
    assert (outcome.status, outcome.receipt) == ("succeeded", None)


async def test_turn_is_completed_only_without_an_error(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        async with host.turn("one") as turn:
            pass
        with pytest.raises(LookupError):
            async with host.turn("two"):
                raise LookupError
        with anyio.CancelScope() as scope:
            async with host.turn("three"):
                scope.cancel()
                await anyio.lowlevel.checkpoint()
    completed = sidecar.requests(CompleteTurn)
    assert [each.turn_id for each in completed] == [turn.turn_id]


async def test_users_words_are_evidence_and_the_goal_of_a_turn_without_one(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:

        @host.guarded()
        async def read_note() -> None: ...

        async with host.turn() as turn:
            await turn.said("Read my note")
            await turn.said("and be quick")
            await read_note()
        async with host.turn("another") as turn:
            await turn.said("Read it again")
            await read_note()
            with stating(goal="innermost"):
                await read_note()
    words = [each for each in await stored(sidecar, Observation) if each.trust == "user"]
    assert [each.detail for each in words] == ["Read my note", "and be quick", "Read it again"]
    goals = [each.goal for each in sidecar.requests(CheckpointRequest)]
    assert goals == ["Read my note", "another", "innermost"]


async def test_turns_side_by_side_keep_their_goals(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        both = anyio.Event()

        @host.guarded()
        async def read_note(name: str) -> None: ...

        async def turn(name: str) -> None:
            async with host.turn() as turn:
                await turn.said(f"Read {name}")
                if name == "b":
                    both.set()
                await both.wait()
                await read_note(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn, "a")
            tasks.start_soon(turn, "b")
    asked = {each.arguments["name"]: each.goal for each in sidecar.requests(CheckpointRequest)}
    assert asked == {"a": "Read a", "b": "Read b"}


async def test_what_is_stated_holds_inside_its_block(config: HostConfig, sidecar: Sidecar) -> None:
    premortem = Premortem(failure_mode="overwrite", likelihood=0.1, mitigation="none")
    async with Host.connect(config) as host:

        @host.guarded()
        async def read_note() -> None: ...

        with stating(premortem=premortem, expected_outcome="read"):
            with stating(expected_outcome="read twice"):
                await read_note()
            await read_note()
        await read_note()
    asked = sidecar.requests(CheckpointRequest)
    assert [each.expected_outcome for each in asked] == ["read twice", "read", None]
    assert [each.premortem for each in asked] == [premortem, premortem, None]
