"""An operator's word, from the command to the host's verdict, over the real bus."""

import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec
import nats.errors
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    ApprovalDecidedError,
    ApprovalUsed,
    ContractError,
    GrantApproval,
    Premortem,
    UnknownApprovalError,
    encode,
)
from pmcl.hosts import DispatchRefusedError, Host, Proposal
from pmcl.ops.approvals import (
    beside_it,
    deny_approval,
    grant_approval,
    list_approvals,
    read_approval,
    show_approval,
    show_approvals,
)
from pmcl.ops.asking import NotRunningError, operator_label
from pmcl.ops.console import console
from pmcl.ops.settings import Settings
from tests.integration.sidecar.plain import PlainHost
from tests.integration.sidecar.room import WITHIN_S, Room, proposal
from tests.unit.workers.desk import NOTES

pytestmark = pytest.mark.anyio


async def renaming(host: Host, **changes: Any) -> Proposal:
    """A rename that is mitigated by evidence, so that only an operator's word is missing."""
    seen = await host.observe(source="ls", summary="the notes", resources=(NOTES,))
    shown = Premortem(
        failure_mode="wrong_target", likelihood=0.1, mitigation="looked", evidence_ids=(seen,)
    )
    return proposal("rename_file", premortem=shown, **changes)


def again(proposed: Proposal) -> Proposal:
    return msgspec.structs.replace(proposed, call_id=ulid_now())


async def test_a_granted_call_passes_once_and_runs(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        asked = await renaming(host)
        held = await host.check(asked)
        assert held.reasons == ("authority.approval_required",)
        assert held.approval_id is not None
        assert held.revision_request is not None
        assert held.approval_id in held.revision_request
        with pytest.raises(DispatchRefusedError, match="held"):
            async with host.dispatch(held, asked):
                pytest.fail("a held call ran")

        granted = await grant_approval(room.settings, held.approval_id, timedelta(minutes=1))
        assert granted.approver == f"operator/{operator_label()}"
        retry = again(asked)
        passed = await host.check(retry)
        assert passed.approval_id == held.approval_id
        async with host.dispatch(passed, retry):
            pass

        spent = await host.check(again(asked))
        assert spent.reasons == ("authority.approval_required",)
        assert spent.approval_id not in (None, held.approval_id)
        with pytest.raises(ApprovalDecidedError, match="used"):
            await grant_approval(room.settings, held.approval_id)


async def test_what_a_grant_does_not_lift_is_told(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        asked = await renaming(host)
        mitigated = await host.check(asked)
        bare = await host.check(again(msgspec.structs.replace(asked, premortem=None)))
    assert mitigated.approval_id is not None
    assert "plan.unmitigated" in bare.reasons
    found = await read_approval(room.settings, mitigated.approval_id)
    assert beside_it(found) == ""
    with console.capture() as printed:
        show_approval(msgspec.structs.replace(found, reasons=bare.reasons))
    assert "a grant does not lift plan.unmitigated; " in printed.get()
    assert f"pmcl judge {mitigated.approval_id}" in printed.get()


async def test_an_operator_sees_all_of_what_would_run(room: Room) -> None:
    text = "x" * 10_000 + "the end"
    async with Host.connect(room.config()) as host:
        arguments = {"path": NOTES.value, "text": text}
        asked = await renaming(host, goal="rename \u202e\x1b[2J", arguments=arguments)
        held = await host.check(asked)
    assert held.approval_id is not None
    listed = await list_approvals(room.settings)
    assert held.approval_id in [approval.approval_id for approval in listed.approvals]
    with console.capture() as printed:
        show_approvals(listed)
        show_approval(await read_approval(room.settings, held.approval_id))
    shown = "".join(printed.get().split())
    for expected in (held.approval_id, "files/rename_file", "pending", text.replace(" ", "")):
        assert expected in shown
    assert "\\u202e\\x1b[2J" in shown
    assert not {"\u202e", "\x1b"} & set(shown)


async def test_a_denied_call_stays_held(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        asked = await renaming(host)
        held = await host.check(asked)
        assert held.approval_id is not None
        await deny_approval(room.settings, held.approval_id)
        verdict = await host.check(again(asked))
        assert (verdict.status, verdict.reasons) == ("held", ("authority.approval_denied",))
        ended = await list_approvals(room.settings, ended=True)
        states = {approval.approval_id: approval.state for approval in ended.approvals}
        assert states[held.approval_id] == "denied"


async def test_of_two_processes_that_race_for_one_approval_one_passes(
    room: Room, tmp_path: Path
) -> None:
    config = room.config()
    async with Host.connect(config) as host:
        asked = await renaming(host)
        held = await host.check(asked)
        assert held.approval_id is not None
        await grant_approval(room.settings, held.approval_id)
        said = await _raced("asking_child.py", tmp_path, config, asked)
    assert sorted(said) == ["held authority.approval_required", "passed"]
    used = await room.event(config.credentials.scope, ApprovalUsed)
    assert used.approval_id == held.approval_id


async def test_of_two_processes_that_use_one_approved_verdict_one_runs_it(
    room: Room, tmp_path: Path
) -> None:
    config = room.config()
    async with Host.connect(config) as host:
        asked = await renaming(host)
        held = await host.check(asked)
        assert held.approval_id is not None
        await grant_approval(room.settings, held.approval_id)
        retry = again(asked)
        verdict = await host.check(retry)
        assert verdict.status == "passed"
        said = await _raced("../hosts/host_child.py", tmp_path, "try", config, retry, verdict)
    assert sorted(said) == ["claimed", "ran"]


async def test_an_approval_is_nothing_after_its_time(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        asked = await renaming(host)
        held = await host.check(asked)
        assert held.approval_id is not None
        granted = await grant_approval(room.settings, held.approval_id, timedelta(milliseconds=1))
        assert granted.expires_at is not None
        with anyio.fail_after(WITHIN_S):
            while time.time_ns() // 1_000_000 < granted.expires_at:
                await anyio.lowlevel.checkpoint()
        verdict = await host.check(again(asked))
        assert verdict.reasons == ("authority.approval_required",)
        assert verdict.approval_id != held.approval_id


async def test_a_host_is_no_operator(room: Room, plain: PlainHost) -> None:
    reply = await plain.check(plain.request("rename_file"))
    approval_id = reply["approval_id"]
    grant = encode(GrantApproval(approval_id=approval_id, label="root"))
    with pytest.raises((nats.errors.NoRespondersError, nats.errors.TimeoutError)):
        await plain.client.request("pmcl.v1.ops.approve", grant, timeout=0.2)
    for own in ("observation", "outcome"):
        await plain.client.publish(plain.subject(own), grant, reply="pmcl.v1.ops.approve")
    await plain.check(plain.request("read_file"))
    assert any("permissions violation" in error.lower() for error in plain.errors)
    found = await read_approval(room.settings, approval_id)
    assert (found.approval.state, found.approval.approver) == ("pending", None)


@pytest.mark.parametrize("expires", [timedelta(0), timedelta(hours=24, milliseconds=1)])
async def test_a_lifetime_that_does_not_fit_is_refused(room: Room, expires: timedelta) -> None:
    with pytest.raises(ContractError) as refused:
        await grant_approval(room.settings, ulid_now(), expires)
    assert refused.value.field == "$.lifetime_ms"


async def test_an_unknown_or_malformed_id_is_named(room: Room) -> None:
    with pytest.raises(UnknownApprovalError):
        await deny_approval(room.settings, ulid_now())
    with pytest.raises(ContractError, match="approval_id"):
        await read_approval(room.settings, "nonsense")


def test_without_a_sidecar_the_command_says_so_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotRunningError, match="pmcl up"):
        anyio.run(list_approvals, Settings(state_dir=tmp_path / "mistyped"))
    assert [*tmp_path.iterdir()] == []


async def test_a_grant_lasts_as_long_as_is_set(room: Room) -> None:
    settings = msgspec.structs.replace(room.settings, approval_ttl_ms=90_000)
    async with Host.connect(room.config()) as host:
        held = await host.check(await renaming(host))
        assert held.approval_id is not None
        granted = await grant_approval(settings, held.approval_id)
    assert granted.expires_at is not None
    assert granted.decided_at is not None
    assert granted.expires_at - granted.decided_at == 90_000


async def _raced(script: str, tmp_path: Path, *parts: Any) -> list[str]:
    """What two processes say that were let go at the same time."""
    arguments = []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            arguments.append(part)
            continue
        path = tmp_path / f"part{index}.json"
        path.write_bytes(msgspec.json.encode(part, enc_hook=str))
        arguments.append(str(path))
    children = [_child(script, arguments) for _ in range(2)]
    for child in children:
        assert await anyio.to_thread.run_sync(_line, child) == "ready"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [await anyio.to_thread.run_sync(_line, child) for child in children]
    for child in children:
        await anyio.to_thread.run_sync(child.communicate)
    return said


def _child(script: str, arguments: list[str]) -> "subprocess.Popen[str]":
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _line(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    return next(line.strip() for line in child.stdout if not line.startswith("20"))  # no log line
