"""Whatever a host's key is used for, the answer is typed and nothing else changes.

Refused requests leave every table as it was; refused stream messages leave a mark and an event.
"""

from typing import Any

import anyio
import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    DisableLease,
    EvidenceRecorded,
    Heartbeat,
    Observation,
    Outcome,
    OutcomeLinked,
    OutcomeParked,
    Refused,
    ResumeLease,
    encode,
    headers,
)
from tests.integration.sidecar.plain import PlainHost, open_plain, open_socket
from tests.integration.sidecar.room import Room, grown
from tests.unit.workers.desk import AUTHORITY

pytestmark = pytest.mark.anyio

_OF_A_CHECK = {"evaluations", "payloads", "evidence", "journal", "inbox_watermarks"}
_MARKS = ("inbox_beyond", "inbox_watermarks")
_SET_ASIDE = "unread_observations"


async def _works(host: PlainHost) -> None:
    """A host whose inspections still pass."""
    reply = await host.check(host.request())
    assert reply["checkpoint_status"] == "passed"


async def _refused(room: Room, host: PlainHost, reply: Any, code: str, field: str) -> None:
    assert reply["schema"] == "pmcl/error/1"
    assert (reply["code"], reply["field"]) == (code, field), reply
    assert reply["limit"]
    assert len(reply["value"]) <= 64


# --- requests

_GOOD = b'{"schema":"pmcl/heartbeat/1","lease_id":"%s","generation":1}'
_BODIES: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "malformed", "$"),
    "no JSON": (b"hello", "malformed", "$"),
    "cut": (_GOOD[:-1], "malformed", "$"),
    "not UTF-8": (b'{"schema":"pmcl/heartbeat/1","lease_id":"\xff"}', "malformed", "$"),
    "NaN": (_GOOD.replace(b"1}", b"NaN}"), "malformed", "$"),
    "Infinity": (_GOOD.replace(b"1}", b"Infinity}"), "malformed", "$"),
    "duplicate keys": (_GOOD.replace(b"}", b',"generation":1}'), "malformed", "$"),
    "duplicate keys inside": (_GOOD.replace(b"}", b',"x":{"a":1,"a":2}}'), "malformed", "$"),
    "an array": (b"[1]", "unknown_schema", "$.schema"),
    "no schema": (b"{}", "unknown_schema", "$.schema"),
    "another version": (_GOOD.replace(b"/1", b"/2"), "unknown_schema", "$.schema"),
    "another contract": (_GOOD.replace(b"heartbeat", b"begin-lease"), "unknown_schema", "$.schema"),
    "a schema that is no text": (b'{"schema":1}', "unknown_schema", "$.schema"),
    "a number for a text": (
        b'{"schema":"pmcl/heartbeat/1","lease_id":1,"generation":1}',
        "malformed",
        "$.lease_id",
    ),
    "a text for a number": (_GOOD.replace(b":1}", b':"1"}'), "malformed", "$.generation"),
    "a float for a number": (_GOOD.replace(b":1}", b":1.5}"), "malformed", "$.generation"),
    "a number too large": (
        _GOOD.replace(b":1}", b":9007199254740992}"),
        "malformed",
        "$.generation",
    ),
    "a negative number": (_GOOD.replace(b":1}", b":-1}"), "malformed", "$.generation"),
    "a missing field": (_GOOD.replace(b',"generation":1', b""), "malformed", "$"),
    "deep nesting": (b"[" * 20_000, "malformed", "$"),
    "300 KiB": (b'"' + b"x" * 300 * 1024 + b'"', "too_large", "$"),
}


@pytest.mark.parametrize(("body", "code", "field"), _BODIES.values(), ids=_BODIES.keys())
async def test_a_bad_request_is_refused_by_field_and_changes_no_row(
    room: Room, plain: PlainHost, neighbour: PlainHost, body: bytes, code: str, field: str
) -> None:
    before = await room.counts()
    body = body.replace(b"%s", plain.lease.lease_id.encode())
    reply = await plain.ask(plain.subject("lease", "heartbeat"), body)
    await _refused(room, plain, reply, code, field)
    assert grown(before, await room.counts()) == {}
    await _works(plain)
    await _works(neighbour)


_FIELDS: dict[str, tuple[dict[str, str], str, str]] = {
    "garbage epoch": ({headers.EPOCH: "x"}, "malformed", headers.EPOCH),
    "100 kB epoch": ({headers.EPOCH: "0" * 100_000}, "malformed", headers.EPOCH),
    "garbage number": ({headers.NUMBER: "many"}, "malformed", headers.NUMBER),
    "negative number": ({headers.NUMBER: "-1"}, "malformed", headers.NUMBER),
    "absurd number": ({headers.NUMBER: "9" * 5_000}, "malformed", headers.NUMBER),
    "number never sent": (
        {headers.NUMBER: "9" * 15, headers.BUDGET_MS: "1000"},
        "evidence_pending",
        headers.NUMBER,
    ),
    "garbage budget": ({headers.BUDGET_MS: "1e3"}, "malformed", headers.BUDGET_MS),
    "absurd budget": ({headers.BUDGET_MS: "9" * 5_000}, "malformed", headers.BUDGET_MS),
}


@pytest.mark.parametrize(("fields", "code", "field"), _FIELDS.values(), ids=_FIELDS.keys())
async def test_a_bad_header_is_refused_by_name_and_changes_no_row(
    room: Room, plain: PlainHost, fields: dict[str, str], code: str, field: str
) -> None:
    before = await room.counts()
    given = {headers.EPOCH: plain.epoch, headers.NUMBER: "0", **fields}
    reply = await plain.check(plain.request(), given)
    await _refused(room, plain, reply, code, field)
    assert grown(before, await room.counts()) == {}
    await _works(plain)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"Status": "404"},
        {"Status": "100", "Description": "Idle Heartbeat"},
        {"Status": "503"},
        {"Nats-Expected-Last-Sequence": "7"},
        {"Nats-Rollup": "all"},
        {"X-Large": "x" * 200_000},
        {headers.BUDGET_MS: "9" * 15},
    ],
    ids=lambda fields: ", ".join(fields) or "none",
)
async def test_a_header_that_is_not_ours_changes_no_answer(
    plain: PlainHost, neighbour: PlainHost, fields: dict[str, str]
) -> None:
    assert (await plain.check(plain.request(), fields))["checkpoint_status"] == "passed"
    await _works(neighbour)


async def test_a_stale_generation_changes_no_row(room: Room, plain: PlainHost) -> None:
    old = plain.lease
    await plain.begin(host_epoch=ulid_now())
    before = await room.counts()
    asked = plain.request(lease_id=old.lease_id, generation=1)
    await _refused(room, plain, await plain.check(asked), "stale_generation", "$.generation")
    for verb, kind in (("heartbeat", Heartbeat), ("disable", DisableLease)):
        body = kind(lease_id=old.lease_id, generation=1)
        reply = await plain.ask(plain.subject("lease", verb), body)
        await _refused(room, plain, reply, "stale_generation", "$.generation")
    assert grown(before, await room.counts()) == {}


async def test_a_replayed_request_gives_the_same_evaluation(room: Room, plain: PlainHost) -> None:
    for tool in ("read_file", "write_file"):
        body = encode(plain.request(tool))
        first = await plain.check(body)
        before = await room.counts()
        left_ms = first.pop("valid_for_ms")
        for _ in range(3):
            again = await plain.check(body)
            assert again.pop("valid_for_ms") <= left_ms
            assert again == first
        assert grown(before, await room.counts()) == {}


async def test_the_lease_of_another_host_is_of_no_use(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    before = await room.counts()
    stolen = neighbour.lease.lease_id
    reply = await plain.check(plain.request(lease_id=stolen))
    await _refused(room, plain, reply, "no_lease", "$.lease_id")
    for verb, kind in (("heartbeat", Heartbeat), ("disable", DisableLease)):
        body = kind(lease_id=stolen, generation=1)
        reply = await plain.ask(plain.subject("lease", verb), body)
        await _refused(room, plain, reply, "no_lease", "$.lease_id")
    assert grown(before, await room.counts()) == {}
    await _works(neighbour)


async def test_begin_with_the_epoch_of_another_host_is_a_lease_of_its_own(
    room: Room, neighbour: PlainHost
) -> None:
    async with open_plain(room.credentials()) as plain:
        lease = await plain.begin(host_epoch=neighbour.epoch)
        assert (lease.generation, lease.joined) == (1, False)
        assert lease.salt != neighbour.lease.salt
        body = ResumeLease(host_epoch=neighbour.epoch, authority=AUTHORITY)
        reply = await plain.ask(plain.subject("lease", "resume"), body)
        assert reply["generation"] == 2
    await _works(neighbour)


# --- stream messages

_STREAM: dict[str, tuple[bytes, dict[str, str], str, str]] = {
    "NaN": (b'{"schema":"pmcl/void/1","a":NaN}', {}, "malformed", "$"),
    "duplicate keys": (b'{"schema":"pmcl/void/1","a":1,"a":1}', {}, "malformed", "$"),
    "no JSON": (b"hello", {}, "malformed", "$"),
    "another version": (b'{"schema":"pmcl/void/9"}', {}, "unknown_schema", "$.schema"),
    "an outcome": (b'{"schema":"pmcl/outcome/1"}', {}, "unknown_schema", "$.schema"),
    "300 KiB": (b'"' + b"x" * 300 * 1024 + b'"', {}, "too_large", "$"),
    "no epoch": (b'{"schema":"pmcl/void/1"}', {headers.EPOCH: ""}, "malformed", headers.EPOCH),
    "no number": (b'{"schema":"pmcl/void/1"}', {headers.NUMBER: ""}, "malformed", headers.NUMBER),
    "number 0": (b'{"schema":"pmcl/void/1"}', {headers.NUMBER: "0"}, "malformed", headers.NUMBER),
    "absurd number": (
        b'{"schema":"pmcl/void/1"}',
        {headers.NUMBER: "9" * 5_000},
        "malformed",
        headers.NUMBER,
    ),
}


@pytest.mark.parametrize("kind", ["observation", "outcome"])
@pytest.mark.parametrize("case", _STREAM.values(), ids=_STREAM.keys())
async def test_a_bad_stream_message_leaves_a_mark_and_one_event(
    room: Room, plain: PlainHost, kind: str, case: tuple[bytes, dict[str, str], str, str]
) -> None:
    body, fields, code, field = case
    if kind == "outcome":
        body = body.replace(b"pmcl/outcome/1", b"pmcl/observation/1")
        body = body.replace(b"pmcl/void", b"pmcl/audit-receipt")
    before = await room.counts()
    assert "error" not in await plain.tell(kind, body, **fields)
    refused = await room.event(plain.scope, Refused)
    assert (refused.code, refused.field) == (code, field)
    rows = grown(before, await room.counts())
    marks = sum(rows.pop(name, 0) for name in _MARKS)
    assert rows.pop(_SET_ASIDE, 0) <= (1 if kind == "observation" else 0)
    assert (marks, rows) == (1, {"journal": 1})
    await _works(plain)


@pytest.mark.parametrize(
    "fields",
    [{"Status": "404"}, {"Status": "503"}, {"Status": "100"}, {"X-Large": "x" * 60_000}],
    ids=lambda fields: ascii(fields)[:20],
)
async def test_a_header_that_is_not_ours_hides_no_observation(
    room: Room, plain: PlainHost, fields: dict[str, str]
) -> None:
    observation = plain.observation()
    await plain.tell("observation", observation, **fields)
    recorded = await room.event(plain.scope, EvidenceRecorded)
    assert recorded.evidence_id == observation.evidence_id
    reply = await plain.check(
        plain.request(evidence_ids=(observation.evidence_id,)),
        {headers.EPOCH: plain.epoch, headers.NUMBER: "1"},
    )
    assert reply["evidence_ids"] == [observation.evidence_id]


async def test_headers_over_64_kib_are_not_stored(room: Room, plain: PlainHost) -> None:
    before, stored = await room.counts(), await room.stream("INTAKE")
    ack = await plain.tell("observation", plain.observation(), **{"X-Large": "x" * 70_000})
    assert ack["error"]["code"] == 400
    assert await room.stream("INTAKE") == stored
    assert grown(before, await room.counts()) == {}


async def test_a_message_that_is_stored_twice_counts_once(room: Room, plain: PlainHost) -> None:
    observation = plain.observation()
    for name in ("one", "other"):
        await plain.tell("observation", observation, **{headers.MSG_ID: name})
        plain.number -= 1
    plain.number += 1
    await plain.tell("observation", plain.observation())
    await room.event(plain.scope, EvidenceRecorded, 2)


async def test_the_largest_number_is_taken_and_harms_nobody(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    await plain.tell("observation", plain.observation(), **{headers.NUMBER: "9" * 15})
    await room.event(plain.scope, EvidenceRecorded)
    reply = await plain.check(plain.request())
    assert reply["received"]["through"] == 0
    assert reply["received"]["beyond"] == [10**15 - 1]
    await _works(neighbour)


async def test_an_outcome_of_another_hosts_evaluation_is_parked_under_its_own_name(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    evaluation = await neighbour.check(neighbour.request())
    outcome = Outcome(
        outcome_id=ulid_now(),
        evaluation_id=evaluation["evaluation_id"],
        proposal_hash=evaluation["proposal_hash"],
        status="failed",
        finished_at=1,
    )
    before = await room.counts(neighbour.scope)
    await plain.tell("outcome", outcome)
    await room.event(plain.scope, OutcomeParked)
    assert grown(before, await room.counts(neighbour.scope)) == {}
    true = msgspec.structs.replace(outcome, outcome_id=ulid_now(), status="succeeded")
    await neighbour.tell("outcome", true)
    linked = await room.event(neighbour.scope, OutcomeLinked)
    assert (linked.outcome.status, linked.corrects) == ("succeeded", None)


# --- what the server itself refuses, at the bare socket


async def _whole_is_unchanged(room: Room, before: dict[str, int], neighbour: PlainHost) -> None:
    assert grown(before, await room.counts()) == {}
    await _works(neighbour)


async def test_two_mebibytes_close_the_connection(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    before, stored = await room.counts(), await room.stream("INTAKE")
    async with open_socket(room.credentials()) as socket:
        assert not await socket.is_closed()
        subject = f"pmcl.v1.observation.{plain.scope}.{plain.host}".encode()
        await socket.send(b"PUB %s %d\r\n" % (subject, 2 * 1024**2))
        assert await socket.is_closed()
    credentials = room.credentials()
    async with open_socket(credentials) as socket:
        name = f"pmcl.v1.lease.{credentials.scope}.{credentials.host}.begin".encode()
        head = b"NATS/1.0\r\nPmcl-Epoch: " + b"0" * 1024**2 + b"\r\n\r\n"
        await socket.send(b"HPUB %s %d %d\r\n%s{}\r\n" % (name, len(head), len(head) + 2, head))
        assert await socket.is_closed()
    assert await room.stream("INTAKE") == stored
    await _whole_is_unchanged(room, before, neighbour)


_TOKENS = {
    "star": b"*",
    "greater": b">",
    "NUL": b"to\x00ol",
    "line separator": "\u2028".encode(),
    "upper case": b"TOOL",
    "dots": b"tool.tool",
    "not UTF-8": b"\xff\xfe",
    "too long": b"t" * 3_000,
}


@pytest.mark.parametrize("token", _TOKENS.values(), ids=_TOKENS.keys())
async def test_a_leaf_that_is_none_is_answered_or_refused(
    room: Room, neighbour: PlainHost, token: bytes
) -> None:
    credentials = room.credentials()
    before = await room.counts()
    name = f"{credentials.scope}.{credentials.host}".encode()
    async with open_socket(credentials) as socket:
        inbox = b"_INBOX.%s.x" % name
        await socket.send(b"SUB %s 1\r\n" % inbox)
        for kind in (b"lease", b"checkpoint"):
            await socket.send(b"PUB pmcl.v1.%s.%s.%s %s 2\r\n{}\r\n" % (kind, name, token, inbox))
        for kind in (b"observation", b"outcome", b"context"):
            await socket.send(b"PUB pmcl.v1.%s.%s.%s %s 2\r\n{}\r\n" % (kind, name, token, inbox))
            await socket.send(b"PUB pmcl.v1.%s.%s %s 2\r\n{}\r\n" % (kind, token, inbox))
        heard = await socket.heard()
    assert b"pmcl/error/1" in heard or b"-ERR" in heard or b"503" in heard or b"PONG" in heard
    await _whole_is_unchanged(room, before, neighbour)


_BLOCKS = {
    "status": b"NATS/1.0 404 Not Found\r\n\r\n",
    "heartbeat": b"NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 7\r\n\r\n",
    "status that is not UTF-8": b"NATS/1.0 \xff\xfe\xfd\r\n\r\n",
    "description that is not UTF-8": b"NATS/1.0 404 \xff\xfe\r\n\r\n",
    "version only": b"NATS/1.0",
    "version and half a line end": b"NATS/1.0\r",
    "another version": b"NATS/9.9\r\nPmcl-Epoch: x\r\n\r\n",
    "no version": b"\xff" * 40,
    "no colon": b"NATS/1.0\r\nPmcl-Epoch\r\n\r\n",
    "no end": b"NATS/1.0\r\nPmcl-Epoch: x",
    "no name": b"NATS/1.0\r\n: x\r\n\r\n",
    "not UTF-8": b"NATS/1.0\r\nPmcl-Epoch: \xff\xfe\r\n\r\n",
    "name that is not UTF-8": b"NATS/1.0\r\n\xff: x\r\n\r\n",
    "NUL": b"NATS/1.0\r\nPmcl-Epoch: \x00\r\n\r\n",
    "folded": b"NATS/1.0\r\nPmcl-Epoch: x\r\n y\r\n\r\n",
    "twice": b"NATS/1.0\r\nPmcl-Number: 1\r\nPmcl-Number: 2\r\n\r\n",
    "other case": b"NATS/1.0\r\npmcl-number: 1\r\n\r\n",
}


@pytest.mark.parametrize("kind", ["observation", "outcome", "lease", "checkpoint"])
@pytest.mark.parametrize("block", _BLOCKS.values(), ids=_BLOCKS.keys())
async def test_a_broken_header_block_costs_nobody_the_connection(
    room: Room, neighbour: PlainHost, kind: str, block: bytes
) -> None:
    credentials = room.credentials()
    leaf = {"lease": ".begin", "checkpoint": ".tool"}.get(kind, "")
    name = f"pmcl.v1.{kind}.{credentials.scope}.{credentials.host}{leaf}".encode()
    inbox = f"_INBOX.{credentials.scope}.{credentials.host}.x".encode()
    before = await room.counts(neighbour.scope)
    async with open_socket(credentials) as socket:
        await socket.send(b"SUB %s 1\r\n" % inbox)
        size = len(block)
        await socket.send(b"HPUB %s %s %d %d\r\n%s{}\r\n" % (name, inbox, size, size + 2, block))
        await socket.heard()
    with anyio.fail_after(1):
        await _works(neighbour)
        await neighbour.tell("observation", neighbour.observation())
        await room.event(neighbour.scope, EvidenceRecorded)
    assert set(grown(before, await room.counts(neighbour.scope))) <= _OF_A_CHECK
    assert {event.code for event in await room.events(credentials.scope)} <= {
        "malformed",
        "unknown_schema",
    }


@pytest.mark.parametrize(
    "line",
    [
        b"PUB pmcl.v1.observation.{n}\r\n.x 2\r\n{{}}\r\n",
        b"PUB pmcl.v1.observation.{n} x y 2\r\n{{}}\r\n",
        b"PUB pmcl.v1.lease.{n}.begin\x00 2\r\n{{}}\r\n",
        b"HPUB pmcl.v1.lease.{n}.begin 9999 2\r\n{{}}\r\n",
        b"PUB pmcl.v1.lease.{n}.begin -2\r\n{{}}\r\n",
    ],
    ids=["CRLF", "space", "NUL", "header longer than all", "negative size"],
)
async def test_a_broken_protocol_line_is_refused_by_the_server(
    room: Room, neighbour: PlainHost, line: bytes
) -> None:
    credentials = room.credentials()
    before, stored = await room.counts(), await room.stream("INTAKE")
    name = f"{credentials.scope}.{credentials.host}".encode()
    async with open_socket(credentials) as socket:
        await socket.send(line.replace(b"{n}", name).replace(b"{{}}", b"{}"))
        await socket.heard()
    assert await room.stream("INTAKE") == stored
    await _whole_is_unchanged(room, before, neighbour)


async def test_nobody_speaks_or_listens_under_another_name(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    """Whatever a host may not say comes back as a violation, and nothing is stored."""
    before, stored = await room.counts(), await room.stream("INTAKE")
    victim = f"{neighbour.scope}.{neighbour.host}"
    body = encode(neighbour.observation())
    said = [
        f"pmcl.v1.observation.{victim}",
        f"pmcl.v1.outcome.{victim}",
        f"pmcl.v1.lease.{victim}.disable",
        f"pmcl.v1.checkpoint.{victim}.tool",
        f"pmcl.v1.event.{victim}.evidence-recorded",
        f"pmcl.v1.stored.event.{victim}.evidence-recorded",
        f"_INBOX.{victim}.x",
        "_R_.x",
        "$JS.API.STREAM.DELETE.LOG",
        "$JS.API.STREAM.INFO.INTAKE",
        "$SYS.REQ.SERVER.PING",
        "pmcl.v1.deadletter.observe",
        "pmcl.v1.ops.stop",
    ]
    for subject in said:
        await plain.client.publish(subject, body, reply=f"_INBOX.{plain.scope}.{plain.host}.x")
    with anyio.fail_after(5):
        while len(plain.errors) < len(said):
            await plain.client.flush()
    assert all("permissions violation" in error.lower() for error in plain.errors)
    assert await room.stream("INTAKE") == stored
    await _whole_is_unchanged(room, before, neighbour)


def _forged(victim: str) -> list[str]:
    return [
        f"pmcl.v1.observation.{victim}",
        f"pmcl.v1.outcome.{victim}",
        f"pmcl.v1.lease.{victim}.disable",
        f"pmcl.v1.checkpoint.{victim}.tool",
        f"pmcl.v1.event.{victim}.evidence-recorded",
        f"pmcl.v1.stored.event.{victim}.x",
        "$JS.API.STREAM.DELETE.LOG",
        "$JS.API.STREAM.PURGE.INTAKE",
        "$JS.ACK.INTAKE.observe.1.1.1.1.1",
        "_R_.forged",
        "pmcl.v1.deadletter.observe",
    ]


async def _forge(plain: PlainHost, victim: str) -> None:
    """Ask with every forged reply; all are answered, or not, when this returns."""
    body = encode(Heartbeat(lease_id=plain.lease.lease_id, generation=1))
    for reply in _forged(victim):
        await plain.client.publish(plain.subject("lease", "heartbeat"), body, reply=reply)
    await _works(plain)


async def test_a_forged_reply_stores_nothing_under_another_name(
    room: Room, plain: PlainHost, neighbour: PlainHost
) -> None:
    before, stored = await room.counts(), await room.stream("INTAKE")
    letters = await room.stream("DEADLETTERS")
    await _forge(plain, f"{neighbour.scope}.{neighbour.host}")
    rows = grown(before, await room.counts())
    assert rows.pop("journal") >= 1
    assert rows.pop("payload_words") == rows["payloads"], "its rows are those of the payloads"
    assert rows == {"evaluations": 1, "payloads": 1}, "the sender's own check, and no more"
    assert len(await room.events(neighbour.scope)) == 1, "the neighbour's own begin"
    assert await room.stream("INTAKE") == stored
    assert await room.stream("DEADLETTERS") == letters
    assert (await room.stream("LOG")).messages > 0
    await _works(neighbour)


async def test_a_forged_reply_is_never_taken_for_an_event(
    plain: PlainHost, neighbour: PlainHost
) -> None:
    """Anybody can have an answer to himself sent there; only what LOG republished has a number."""
    victim = f"{neighbour.scope}.{neighbour.host}"
    told: set[str] = set()
    forged: set[str] = set()
    judged = anyio.Event()

    async def hear(message: Any) -> None:
        name = message.subject.rpartition(".")[2]
        (told if "Nats-Sequence" in (message.headers or {}) else forged).add(name)
        if name == "evaluated":
            judged.set()

    await neighbour.client.subscribe(f"pmcl.v1.stored.event.{victim}.>", cb=hear)
    await neighbour.client.flush()
    await _forge(plain, victim)
    await _works(neighbour)
    with anyio.fail_after(5):
        await judged.wait()
    assert told <= {"lease-began", "evaluated"}
    assert forged <= {"x"}


async def test_a_neighbour_works_on_through_all_of_it(room: Room, neighbour: PlainHost) -> None:
    """Everything above at once, from several hosts, while the neighbour asks and observes."""
    done = anyio.Event()
    asked = 0

    async def attack() -> None:
        async with open_plain(room.credentials()) as plain:
            await plain.begin()
            for body, _, _ in _BODIES.values():
                await plain.ask(plain.subject("lease", "heartbeat"), body)
                await plain.tell("observation", body)
            for fields, _, _ in _FIELDS.values():
                await plain.check(plain.request(), fields)

    async def attack_all() -> None:
        async with anyio.create_task_group() as attackers:
            for _ in range(4):
                attackers.start_soon(attack)
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attack_all)
        while not done.is_set():
            observation: Observation = neighbour.observation()
            await neighbour.tell("observation", observation)
            reply = await neighbour.check(
                neighbour.request(evidence_ids=(observation.evidence_id,)),
                {headers.EPOCH: neighbour.epoch, headers.NUMBER: str(neighbour.number)},
            )
            assert reply.get("checkpoint_status") == "passed", reply
            asked += 1
    assert asked > 0
    assert await room.events(neighbour.scope, Refused) == []
