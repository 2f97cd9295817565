"""Ways round a verdict, each tried on the real sidecar: none leads anywhere."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    CheckpointRequest,
    PmclError,
    ResumeLease,
    Tool,
    arguments_commitment,
    encode,
    proposal_hash,
)
from pmcl.hosts import DispatchRefusedError, Host, Proposal, Verdict
from tests.integration.sidecar.plain import PlainHost
from tests.integration.sidecar.room import Room, proposal
from tests.unit.workers.desk import AUTHORITY, NOTES, PLANS, premortem

pytestmark = pytest.mark.anyio

READ = proposal(arguments={"path": NOTES.value, "token": "first-secret", "limit": 1})


def _arguments(**changes: Any) -> dict[str, Any]:
    return {**READ.arguments, **changes}


AFTERWARDS: dict[str, dict[str, Any]] = {
    "tool definition": {"tool": Tool(server="files", name="read_file", definition_hash="e" * 64)},
    "tool": {"tool": Tool(server="files", name="format_disk", definition_hash="d" * 64)},
    "server": {"tool": Tool(server="other", name="read_file", definition_hash="d" * 64)},
    "argument": {"arguments": _arguments(path=PLANS.value)},
    "secret": {"arguments": _arguments(token="other-secret")},
    "one argument more": {"arguments": _arguments(force=True)},
    "number as text": {"arguments": _arguments(limit="1")},
    "spaces in a value": {"arguments": _arguments(path=f"{NOTES.value} ")},
    "resource": {"resources": (PLANS,)},
    "no resource": {"resources": ()},
    "call id": {"call_id": "another-call"},
}


@pytest.mark.parametrize("changes", AFTERWARDS.values(), ids=AFTERWARDS.keys())
async def test_what_changed_after_the_verdict_is_not_dispatched(
    room: Room, changes: dict[str, Any]
) -> None:
    async with Host.connect(room.config()) as host:
        asked = msgspec.structs.replace(READ, call_id=ulid_now())
        verdict = await host.check(asked)
        assert verdict.status == "passed"
        await _refused(host, verdict, msgspec.structs.replace(asked, **changes), "other_proposal")
        async with host.dispatch(verdict, asked):
            pass  # the refusal has not used it up
        await _refused(host, verdict, asked, "claimed")


async def test_the_same_call_in_another_key_order_is_the_same_call(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        asked = msgspec.structs.replace(READ, call_id=ulid_now())
        verdict = await host.check(asked)
        turned = dict(reversed(asked.arguments.items()))
        async with host.dispatch(verdict, msgspec.structs.replace(asked, arguments=turned)):
            pass
        await _refused(host, verdict, asked, "claimed")


async def test_a_verdict_is_nothing_after_its_time(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Host.connect(room.config()) as host:
        asked = msgspec.structs.replace(READ, call_id=ulid_now())
        verdict = await host.check(asked)
        with monkeypatch.context() as later:
            later.setattr("pmcl.hosts.dispatch.now_s", lambda: verdict.ends_s)
            await _refused(host, verdict, asked, "expired")
        async with host.dispatch(verdict, asked):
            pass


async def test_a_verdict_of_an_older_generation_is_not_dispatched(room: Room) -> None:
    config = room.config()
    async with Host.connect(config) as host:
        asked = msgspec.structs.replace(READ, call_id=ulid_now())
        verdict = await host.check(asked)
        changed = msgspec.structs.replace(config.authority, writable_roots=())
        async with Host.connect(msgspec.structs.replace(config, authority=changed)):
            with suppress(PmclError):
                fenced = await host.check(msgspec.structs.replace(asked, call_id=ulid_now()))
                assert fenced.status != "passed"
        await _refused(host, verdict, asked, "fenced")


async def _refused(host: Host, verdict: Verdict, asked: Proposal, reason: str) -> None:
    with pytest.raises(DispatchRefusedError) as refused:
        async with host.dispatch(verdict, asked):
            pytest.fail("it ran")
    assert refused.value.reason == reason


# --- a hold, over the bare wire


def _spaced(request: CheckpointRequest) -> bytes:
    return json.dumps(msgspec.to_builtins(request), indent=3).encode()


def _turned(request: CheckpointRequest) -> bytes:
    def turn(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turn(value[key]) for key in reversed(value)}
        return value

    return json.dumps(turn(msgspec.to_builtins(request))).encode()


FORMS: dict[str, Callable[[CheckpointRequest], bytes]] = {
    "as it was": encode,
    "whitespace": _spaced,
    "key order": _turned,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
async def test_a_held_call_in_another_form_is_the_same_evaluation(
    plain: PlainHost, form: Callable[[CheckpointRequest], bytes]
) -> None:
    request = plain.request("write_file")
    first = await plain.check(request)
    assert first["reasons"] == ["plan.unmitigated"]
    again = await plain.check(form(request))
    assert again["evaluation_id"] == first["evaluation_id"]


async def _as_it_is(plain: PlainHost) -> None:
    return


async def _anew(plain: PlainHost) -> None:
    plain.epoch, plain.number = ulid_now(), 0
    await plain.begin(host_epoch=plain.epoch)


async def _resumed(plain: PlainHost) -> None:
    body = ResumeLease(host_epoch=plain.epoch, authority=AUTHORITY)
    reply = await plain.ask(plain.subject("lease", "resume"), body)
    await plain.begin()
    assert plain.lease.generation == reply["generation"]


REPLAYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "new call id": (_as_it_is, {}),
    "new lease": (_anew, {}),
    "resumed lease": (_resumed, {}),
    "other words": (_as_it_is, {"goal": "nothing to worry about"}),
    "another claim": (_as_it_is, {"effect": "inspect_local", "read_only": True}),
    "another spelling": (
        _as_it_is,
        {"resources": (msgspec.structs.replace(NOTES, value="/project/./notes.txt"),)},
    ),
    "through the shell": (
        _as_it_is,
        {"tool": Tool(server="shell", name="bash", definition_hash="d" * 64)},
    ),
    "another server's tool": (
        _as_it_is,
        {"tool": Tool(server="editor", name="edit", definition_hash="f" * 64)},
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(("turn", "changes"), REPLAYS.values(), ids=REPLAYS.keys())
async def test_a_hold_replayed_under_a_new_call_id_still_holds(
    plain: PlainHost,
    turn: Any,
    changes: dict[str, Any],
    form: Callable[[CheckpointRequest], bytes],
) -> None:
    assert (await plain.check(plain.request("write_file")))["checkpoint_status"] == "held"
    await turn(plain)
    irrelevant = plain.observation(resources=(PLANS,))
    await plain.tell("observation", irrelevant)
    request = msgspec.structs.replace(
        plain.request("write_file"), premortem=premortem(irrelevant.evidence_id), **changes
    )
    request = _hashed(plain, request)
    reply = await plain.check(form(request), _watermark(plain))
    assert reply["checkpoint_status"] == "held"
    assert "hold.prior" in reply["reasons"]


def _hashed(plain: PlainHost, request: CheckpointRequest) -> CheckpointRequest:
    request = msgspec.structs.replace(
        request, arguments_commitment=arguments_commitment(plain.lease.salt, request.arguments)
    )
    hashed = proposal_hash(plain.scope, plain.host, request)
    return msgspec.structs.replace(request, proposal_hash=hashed)


def _watermark(plain: PlainHost) -> dict[str, str]:
    return {"Pmcl-Epoch": plain.epoch, "Pmcl-Number": str(plain.number)}
