import time
from typing import Any

import anyio
import msgspec
import pytest

from pmcl.contracts import (
    AuditReceipt,
    CallIdConflictError,
    CheckpointRequest,
    CompleteTurn,
    ContractError,
    DisableLease,
    HostError,
    Observation,
    Outcome,
    Receipt,
    StaleGenerationError,
    Tool,
    Void,
    arguments_commitment,
    decode,
    headers,
    proposal_hash,
)
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, delivery
from pmcl.outbox import HostFile, PendingMessage
from tests.integration.hosts.sidecar import Sidecar, error_of, evaluation_of, until
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio

TOOL = Tool(server="files", name="write_file", definition_hash="0" * 64)
READ = Tool(server="files", name="read_file", definition_hash="0" * 64)


def writing(**changes: object) -> Proposal:
    fields = {"goal": "keep a note", "tool": TOOL, "arguments": {"path": "/tmp/a", "text": "b"}}
    return Proposal(**fields | changes)  # type: ignore[arg-type]


def reading(**changes: object) -> Proposal:
    return writing(tool=READ, effect="inspect_local", **changes)


async def outcomes(sidecar: Sidecar) -> list[Outcome | AuditReceipt]:
    kinds: tuple[type[Any], ...] = (Outcome, AuditReceipt)
    return [
        decode(message.data, *kinds)
        for message in await sidecar.stored()
        if ".outcome." in message.subject
    ]


async def test_a_result_is_sent_by_whoever_recorded_it_without_a_look_into_the_file(
    config: HostConfig, sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(file: HostFile, **_: object) -> list[PendingMessage]:
        return []

    monkeypatch.setattr(delivery, "_RECEIPT_S", 3_600.0)  # with one, all is looked for
    async with Host.connect(msgspec.structs.replace(config, sweep_ms=3_600_000)) as host:
        for count in (1, 2, 3):
            proposal = writing()
            async with host.dispatch(await host.check(proposal), proposal):
                pass
            assert len(await outcomes(sidecar)) == count
            monkeypatch.setattr(HostFile, "pending", nothing)


async def test_passed_verdict_runs_once_and_its_outcome_is_stored(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        assert verdict.status == "passed"
        async with host.dispatch(verdict, proposal) as run:
            run.succeeded(Receipt(kind="file", digest="1" * 64))
        (outcome,) = await outcomes(sidecar)
        assert isinstance(outcome, Outcome)
        assert (outcome.status, outcome.evaluation_id) == ("succeeded", verdict.claim_id)
        assert outcome.receipt == Receipt(kind="file", digest="1" * 64)
        with pytest.raises(DispatchRefusedError, match="claimed"):
            await host.dispatch(verdict, proposal).__aenter__()
    assert len(await outcomes(sidecar)) == 1


async def test_request_is_redacted_committed_and_carries_the_watermark(
    config: HostConfig, sidecar: Sidecar
) -> None:
    secret = "sk-ant-api03-" + "A1b2C3d4" * 8
    async with Host.connect(config) as host:
        await host.observe(source="sensor", summary="first")
        await host.observe(source="sensor", summary="second")
        raw = {"path": "/tmp/a", "password": "hunter2hunter2", "text": secret}
        await host.check(writing(arguments=raw))
    (request,) = sidecar.requests(CheckpointRequest)
    (message,) = [message for message, asked in sidecar.asked if asked is request]
    assert message.headers[headers.NUMBER] == "2"
    assert 0 < int(message.headers[headers.BUDGET_MS]) <= config.deadline_ms
    assert b"hunter2" not in message.data
    assert secret.encode() not in message.data
    assert request.arguments["path"] == "/tmp/a"
    salt = (b"%032d" % 1).hex()
    assert request.arguments_commitment == arguments_commitment(salt, raw)
    assert request.proposal_hash == proposal_hash("s", "a", request)


async def test_observations_are_numbered_and_their_ids_are_stable(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        one = await host.observe(source="x", summary="a", key="k")
        two = await host.observe(source="x", summary="a", key="k")
        many = await host.observe_many([{"source": "x", "summary": str(n)} for n in range(130)])
        assert (await host.observe_many([])) == []
    stored = await sidecar.stored()
    assert one == two
    assert len(set(many)) == 130
    assert [int(m.headers[headers.NUMBER]) for m in stored] == list(range(1, 133))
    assert len({m.headers[headers.MSG_ID] for m in stored}) == 132
    decoded = [decode(message.data, Observation) for message in stored]
    assert [each.evidence_id for each in decoded] == [one, two, *many]
    assert {each.trust for each in decoded} == {"tool_output"}


async def test_malformed_observation_is_refused_before_it_is_numbered(
    config: HostConfig, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        with pytest.raises(ContractError, match="confidence"):
            await host.observe(source="x", summary="a", confidence=2.0)
        await host.observe(source="x", summary="a")
    (message,) = await sidecar.stored()
    assert message.headers[headers.NUMBER] == "1"


async def test_changed_arguments_are_not_dispatched(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        proposal.arguments["text"] = "c"
        with pytest.raises(DispatchRefusedError, match="other_proposal"):
            await host.dispatch(verdict, proposal).__aenter__()


async def test_unused_verdict_is_closed_when_it_ends(config: HostConfig, sidecar: Sidecar) -> None:
    sidecar.answer = lambda request: evaluation_of(request, valid_for_ms=50)
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        closed = await until(lambda: outcomes(sidecar))
        assert [outcome.status for outcome in closed] == ["unused"]
        with pytest.raises(DispatchRefusedError):
            await host.dispatch(verdict, proposal).__aenter__()


async def test_unused_verdict_is_closed_with_the_host(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        await host.check(writing())
    assert [outcome.status for outcome in await outcomes(sidecar)] == ["unused"]


@pytest.mark.parametrize(
    ("error", "status", "mode"),
    [(KeyError("x"), "failed", "KeyError"), (SystemExit(1), "unknown", None)],
)
async def test_exception_decides_the_outcome(
    config: HostConfig, sidecar: Sidecar, error: BaseException, status: str, mode: str | None
) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        with pytest.raises(type(error)):
            async with host.dispatch(verdict, proposal):
                raise error
    (outcome,) = await outcomes(sidecar)
    assert (outcome.status, outcome.failure_mode) == (status, mode)


async def test_cancellation_is_recorded(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        with anyio.move_on_after(0.05):
            async with host.dispatch(verdict, proposal):
                await anyio.sleep_forever()
    assert [outcome.status for outcome in await outcomes(sidecar)] == ["cancelled"]


@pytest.mark.parametrize("code", ["busy", "evidence_pending", "ledger_unavailable"])
async def test_unjudged_call_is_held_unless_it_inspects(
    config: HostConfig, sidecar: Sidecar, code: str
) -> None:
    sidecar.answer = lambda _: error_of(code)
    async with Host.connect(config) as host:
        held = await host.check(writing())
        assert (held.status, held.reasons) == ("held", (f"degraded.{code}",))
        with pytest.raises(DispatchRefusedError, match="held"):
            await host.dispatch(held, writing()).__aenter__()
        proposal = reading()
        inspected = await host.check(proposal)
        assert inspected.status == "degraded"
        async with host.dispatch(inspected, proposal):
            pass
    (audit,) = await outcomes(sidecar)
    assert isinstance(audit, AuditReceipt)
    assert (audit.call_id, audit.cause, audit.status) == (proposal.call_id, code, "succeeded")


async def test_prohibited_inspection_is_held_without_a_judge(
    config: HostConfig, sidecar: Sidecar
) -> None:
    sidecar.answer = lambda _: error_of("busy")
    authority = msgspec.structs.replace(config.authority, tools={"files/read_file": "approve"})
    async with Host.connect(msgspec.structs.replace(config, authority=authority)) as host:
        assert (await host.check(reading())).status == "held"


async def test_refusal_is_raised(config: HostConfig, sidecar: Sidecar) -> None:
    sidecar.answer = lambda _: error_of("call_id_conflict")
    async with Host.connect(config) as host:
        with pytest.raises(CallIdConflictError):
            await host.check(writing())


async def test_reply_about_another_call_is_ignored(config: HostConfig, sidecar: Sidecar) -> None:
    def answer(request: CheckpointRequest) -> object:
        if len(sidecar.requests(CheckpointRequest)) == 1:
            return evaluation_of(request, proposal_hash="f" * 64)
        return evaluation_of(request, checkpoint_status="held", reasons=("plan.unmitigated",))

    sidecar.answer = answer  # type: ignore[assignment]
    async with Host.connect(config) as host:
        verdict = await host.check(writing())
        assert verdict.reasons == ("plan.unmitigated",)
        sidecar.answer = lambda request: evaluation_of(request, generation=9)
        assert (await host.check(writing())).reasons == ("degraded.timeout",)


async def test_late_reply_answers_nothing_else(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        sidecar.answer = lambda _: None
        began = time.monotonic()
        assert (await host.check(writing())).reasons == ("degraded.timeout",)
        assert time.monotonic() - began < 2 * config.deadline_ms / 1000
        late = [message for message, asked in sidecar.asked if isinstance(asked, CheckpointRequest)]
        sidecar.answer = evaluation_of
        await sidecar.connection.publish(late[0].reply, b'{"schema":"pmcl/error/1"}')
        assert (await host.check(writing())).status == "passed"


async def test_no_responders_is_told_at_once(config: HostConfig, nats_server: NatsServer) -> None:
    config = msgspec.structs.replace(config, deadline_ms=400)
    async with Host.connect(config) as host:
        verdict = await host.check(writing())
        assert verdict.status == "held"
        assert verdict.reasons[0] in ("degraded.no_responders", "degraded.timeout")
        with pytest.raises(HostError):
            await host.observe(source="x", summary="y")


async def test_rows_stay_until_receipted(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        async with host.dispatch(await host.check(proposal), proposal):
            pass
        file = host._session.file
        assert len(await file.pending(after=0, sent_before_ms=2**50, limit=9)) == 1
        sidecar.through = 1
        await host.check(writing())

        async def is_empty() -> bool:
            return not await file.pending(after=0, sent_before_ms=2**50, limit=9)

        await until(is_empty)


async def test_fenced_host_says_so_for_ever(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        sidecar.answer = lambda _: error_of("stale_generation")
        with pytest.raises(StaleGenerationError):
            await host.check(writing())
        with pytest.raises(StaleGenerationError):
            await host.check(writing())
        with pytest.raises(DispatchRefusedError, match="fenced"):
            await host.dispatch(verdict, proposal).__aenter__()


async def test_ended_lease_is_begun_anew_and_old_verdicts_are_void(
    config: HostConfig, sidecar: Sidecar
) -> None:
    sidecar.heartbeat_ms = 50
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        sidecar.generation = 2
        sidecar.lease_answer = error_of("lease_ended")

        async def is_renewed() -> bool:
            return host.generation == 2

        await until(is_renewed)
        sidecar.lease_answer = None
        with pytest.raises(DispatchRefusedError, match="fenced"):
            await host.dispatch(verdict, proposal).__aenter__()
        assert (await host.check(writing())).status == "passed"


async def test_complete_and_disable(config: HostConfig, sidecar: Sidecar) -> None:
    async with Host.connect(config) as host:
        await host.complete("turn-1")
        await host.disable()
        with pytest.raises(HostError, match="disabled"):
            await host.check(writing())
    assert [asked.turn_id for asked in sidecar.requests(CompleteTurn)] == ["turn-1"]
    assert len(sidecar.requests(DisableLease)) == 1


async def test_body_error_leaves_the_block_bare(config: HostConfig, sidecar: Sidecar) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Host.connect(config):
            raise ZeroDivisionError


async def test_lost_observation_is_closed_by_a_void(
    config: HostConfig, sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Host.connect(msgspec.structs.replace(config, observe_ms=300)) as host:
        await host.observe(source="x", summary="a")
        monkeypatch.setattr("pmcl.hosts.observing.store_each", _store_nothing)
        with pytest.raises(HostError, match="1 observations not stored"):
            await host.observe(source="x", summary="b")
        monkeypatch.undo()

        async def is_closed() -> bool:
            return len(await sidecar.stored()) == 2

        await until(is_closed)
    stored = await sidecar.stored()
    assert stored[1].headers[headers.NUMBER] == "2"
    assert decode(stored[1].data, Void) == Void()
    assert stored[1].subject == "pmcl.v1.observation.s.a"


async def _store_nothing(*_: object) -> list[int]:
    return []
