"""What a host left in: refused, left out or redacted; no error, log or event shows it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs
from ulid_transform import ulid_now

from pmcl.bus import Message
from pmcl.contracts import (
    PLAN_TOOL,
    AuditReceipt,
    AuditRecorded,
    BeginLease,
    CheckpointRequest,
    CompleteTurn,
    ErrorReply,
    OutcomeLinked,
    Receipt,
    Refused,
    Resource,
    encode,
    headers,
)
from pmcl.workers import CommitSignal, RequestLimits, RequestLoop
from tests.unit.workers.desk import AUTHORITY, Desk, Ledger

pytestmark = pytest.mark.anyio

_SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def _begin(desk: Desk, **changes: Any) -> bytes:
    authority = msgspec.structs.replace(AUTHORITY, **changes)
    return encode(BeginLease(host_epoch=desk.epoch, authority=authority))


def _schema(desk: Desk) -> bytes:
    return b'{"schema":"%s"}' % _SECRET.encode()


def _plan(desk: Desk) -> bytes:
    tool = msgspec.structs.replace(PLAN_TOOL, name=_SECRET)
    return encode(msgspec.structs.replace(desk.request(kind="plan"), tool=tool))


def _misfit(desk: Desk, field: str) -> bytes:
    body = msgspec.to_builtins(desk.request())
    return msgspec.json.encode(body | {field: _SECRET})


_ASKED: dict[str, tuple[str, Callable[[Desk], bytes], dict[str, str]]] = {
    "schema": ("checkpoint.{}.tool", _schema, {}),
    "call id": ("checkpoint.{}.tool", lambda desk: encode(desk.request(call_id=_SECRET)), {}),
    "tool": ("checkpoint.{}.tool", lambda desk: encode(desk.request(_SECRET)), {}),
    "tool of a plan": ("checkpoint.{}.plan", _plan, {}),
    "kind": ("checkpoint.{}.tool", lambda desk: _misfit(desk, "kind"), {}),
    "lease id": ("checkpoint.{}.tool", lambda desk: _misfit(desk, "lease_id"), {}),
    "hash": ("checkpoint.{}.tool", lambda desk: _misfit(desk, "proposal_hash"), {}),
    "effect": ("checkpoint.{}.tool", lambda desk: _misfit(desk, "effect"), {}),
    "arguments": ("checkpoint.{}.tool", lambda desk: _misfit(desk, "arguments"), {}),
    "no JSON": ("checkpoint.{}.tool", lambda desk: _SECRET.encode(), {}),
    "two keys": (
        "checkpoint.{}.tool",
        lambda desk: b'{"%s":1,"%s":2}' % ((_SECRET.encode(),) * 2),
        {},
    ),
    "epoch": ("lease.{}.begin", _begin, {headers.EPOCH: _SECRET}),
    "number": ("lease.{}.begin", _begin, {headers.NUMBER: _SECRET}),
    "budget": ("lease.{}.begin", _begin, {headers.BUDGET_MS: _SECRET}),
    "tools": ("lease.{}.begin", lambda desk: _begin(desk, tools={_SECRET: "grant"}), {}),
    "roots": ("lease.{}.begin", lambda desk: _begin(desk, writable_roots=(f"/{_SECRET}",)), {}),
    "turn": (
        "lease.{}.complete",
        lambda desk: encode(
            CompleteTurn(
                lease_id=desk.lease.lease_id, generation=1, turn_id=_SECRET, responded=True
            )
        ),
        {},
    ),
}


@pytest.mark.parametrize(("subject", "body", "fields"), _ASKED.values(), ids=_ASKED.keys())
async def test_a_refused_request_shows_no_secret(
    ledger: Ledger,
    desk: Desk,
    subject: str,
    body: Callable[[Desk], bytes],
    fields: dict[str, str],
) -> None:
    before = await ledger.tables()
    workers = (desk.leases, desk.checkpoint)
    loop = RequestLoop(
        ledger.wire.connection, ledger.units, CommitSignal(), workers, RequestLimits()
    )
    message = Message(
        subject=f"pmcl.v1.{subject.format(f'{desk.scope}.{desk.host}')}",
        data=body(desk),
        headers={headers.EPOCH: desk.epoch, headers.NUMBER: "0"} | fields,
        reply="_R_.x.1",
    )
    with capture_logs() as logs:
        await loop._serve(message)
    ((_, reply),) = ledger.wire.published
    error = msgspec.json.decode(reply, type=ErrorReply)
    assert error.code in ("malformed", "secret_in_name", "unknown_schema")
    assert _SECRET not in reply.decode() + repr(logs)
    assert await ledger.tables() == before


@pytest.mark.parametrize("field", ["key", "source", "modality"])
async def test_an_observation_named_by_a_secret_is_refused_without_it(
    ledger: Ledger, desk: Desk, field: str
) -> None:
    with capture_logs() as logs:
        await desk.tell(desk.observer, desk.observation(**{field: _SECRET}))
    (refused,) = await ledger.events(Refused)
    assert (refused.code, refused.field) == ("secret_in_name", f"$.{field}")
    assert _SECRET not in repr(await ledger.tables()) + repr(logs)


async def test_an_outcome_that_names_a_secret_is_recorded_without_it(
    ledger: Ledger, desk: Desk
) -> None:
    evaluation = await desk.passed()
    receipt = Receipt(kind=_SECRET, digest="d" * 64)
    outcome = desk.outcome(evaluation, status="failed", failure_mode=_SECRET, receipt=receipt)
    await desk.report(outcome)
    (linked,) = await ledger.events(OutcomeLinked)
    assert (linked.outcome.failure_mode, linked.outcome.receipt) == ("other", None)
    assert (linked.outcome.status, linked.outcome.redacted) == ("failed", True)
    assert _SECRET not in repr(await ledger.tables())


async def test_an_audit_receipt_loses_its_mode_and_may_not_name_its_call_by_a_secret(
    ledger: Ledger, desk: Desk
) -> None:
    receipt = AuditReceipt(
        audit_id=ulid_now(),
        call_id="call-1",
        proposal_hash="d" * 64,
        cause="timeout",
        finished_at=1,
        status="failed",
        failure_mode=_SECRET,
    )
    await desk.report(receipt)
    await desk.report(msgspec.structs.replace(receipt, audit_id=ulid_now(), call_id=_SECRET))
    (recorded,) = await ledger.events(AuditRecorded)
    assert recorded.receipt.failure_mode == "other"
    (refused,) = await ledger.events(Refused)
    assert (refused.code, refused.field) == ("secret_in_name", "$.call_id")
    assert _SECRET not in repr(await ledger.tables())


async def test_what_may_be_redacted_is_redacted_once_more(ledger: Ledger, desk: Desk) -> None:
    resource = Resource(kind="other", value=f"queue {_SECRET}", argument=_SECRET)
    request: CheckpointRequest = desk.request(
        goal=f"use {_SECRET}",
        arguments={_SECRET: [_SECRET], "headers": {"Authorization": f"Basic {_SECRET}"}},
        resources=(resource,),
        rejected_alternatives=(f"not {_SECRET}",),
    )
    await desk.check(request)
    await desk.observe(summary=_SECRET, provenance=_SECRET, detail=_SECRET, resources=(resource,))
    assert _SECRET not in repr(await ledger.tables())
