from typing import Any

import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    EvidenceRecorded,
    NumberClosed,
    Refused,
    Resource,
    Void,
    encode,
    headers,
)
from tests.unit.workers.desk import NOTES, Desk, Ledger, without

pytestmark = pytest.mark.anyio

_INBOX = ("inbox_watermarks", "inbox_beyond", "journal", "unread_observations")
_SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


async def _through(ledger: Ledger) -> int:
    rows = await ledger.rows("SELECT coalesce(max(through), 0) AS t FROM inbox_watermarks")
    return int(rows[0]["t"])


async def test_an_observation_becomes_one_envelope_and_one_payload(
    ledger: Ledger, desk: Desk
) -> None:
    evidence_id = await desk.observe(summary="seen", detail="the text", resources=(NOTES,))
    (recorded,) = await ledger.events(EvidenceRecorded)
    assert (recorded.evidence_id, recorded.at_ms) == (evidence_id, ledger.clock.now_ms)
    assert recorded.cause.epoch == desk.epoch
    assert recorded.cause.number == 1
    assert recorded.resource_keys == (ledger.key.resource("team", NOTES),)
    (payload,) = await ledger.rows("SELECT * FROM payloads")
    assert (payload["id"], len(payload["content"])) == (evidence_id, recorded.size_bytes)
    assert b"the text" in payload["content"]
    assert await _through(ledger) == 1


async def test_the_journal_holds_no_content_and_no_bare_hash(ledger: Ledger, desk: Desk) -> None:
    await desk.observe(summary="a unique phrase", detail="the text", resources=(NOTES,))
    await desk.observe(summary="a unique phrase", detail="the text", resources=(NOTES,))
    bodies = b"".join(body for _, body in await ledger.journal())
    for content in (b"unique phrase", b"the text", b"notes.txt"):
        assert content not in bodies
    first, second = await ledger.events(EvidenceRecorded)
    assert first.commitment != second.commitment


async def test_a_secret_that_the_host_left_in_is_stored_nowhere(ledger: Ledger, desk: Desk) -> None:
    await desk.observe(summary=f"the key is {_SECRET}", detail=f"KEY={_SECRET}")
    assert _SECRET not in repr(await ledger.tables())


async def test_the_same_message_again_changes_nothing(ledger: Ledger, desk: Desk) -> None:
    await desk.observe()
    before = await ledger.tables()
    handler, message = desk.sent[-1]
    assert await desk.deliver(handler, message) == b"+ACK"
    assert await ledger.tables() == before


async def test_the_same_key_and_content_again_closes_only_its_number(
    ledger: Ledger, desk: Desk
) -> None:
    first = await desk.observe(key="once")
    before = without(await ledger.tables(), *_INBOX)
    ledger.clock.now_ms += 1_000
    await desk.observe(key="once", evidence_id=first)
    await desk.observe(key="once")  # another process gave it another id
    assert without(await ledger.tables(), *_INBOX) == before
    closed = await ledger.events(NumberClosed)
    assert [(event.reason, event.cause.number) for event in closed] == [
        ("repeat", 2),
        ("repeat", 3),
    ]
    assert await _through(ledger) == 3


_BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "same key, other content": ({"key": "k", "summary": "other"}, "conflict", "$.key"),
    "same evidence id, other key": ({"key": "l"}, "conflict", "$.evidence_id"),
    "generation to come": ({"generation": 2}, "stale_generation", "$.generation"),
    "generation zero": ({"generation": 0}, "stale_generation", "$.generation"),
    "label not allowed": ({"trust": "operator"}, "trust_not_allowed", "$.trust"),
    "unknown evidence": ({"evidence_ids": (ulid_now(),)}, "unknown_evidence", "$.evidence_ids"),
}


@pytest.mark.parametrize(("changes", "code", "field"), _BAD.values(), ids=_BAD.keys())
async def test_a_bad_observation_leaves_a_mark_and_a_refusal_only(
    ledger: Ledger, desk: Desk, changes: dict[str, Any], code: str, field: str
) -> None:
    taken = await desk.observe(key="k", summary="the first")
    before = await ledger.tables()
    if changes.get("key") == "l":
        changes = {**changes, "evidence_id": taken}
    await desk.observe(**changes)
    after = await ledger.tables()
    assert without(after, *_INBOX) == without(before, *_INBOX)
    assert len(after["journal"]) == len(before["journal"]) + 1
    (refused,) = await ledger.events(Refused)
    assert (refused.code, refused.field) == (code, field)
    assert (refused.cause.epoch, refused.cause.number) == (desk.epoch, 2)
    assert refused.limit
    assert await _through(ledger) == 2
    handler, message = desk.sent[-1]
    await desk.deliver(handler, message)
    assert await ledger.tables() == after


async def test_an_observation_before_any_lease_is_refused(ledger: Ledger) -> None:
    await Desk(ledger).observe()
    (refused,) = await ledger.events()
    assert refused.code == "no_lease"


async def test_an_older_generation_is_recorded_as_what_it_is(ledger: Ledger, desk: Desk) -> None:
    await desk.begin(host_epoch=ulid_now())
    await desk.observe(generation=1)
    (recorded,) = await ledger.events(EvidenceRecorded)
    assert recorded.generation == 1


async def test_a_void_closes_its_number(ledger: Ledger, desk: Desk) -> None:
    await desk.observe()
    assert await desk.tell(desk.observer, Void()) == b"+ACK"
    await desk.observe()
    (closed,) = await ledger.events(NumberClosed)
    assert (closed.reason, closed.cause.number) == ("void", 2)
    assert await _through(ledger) == 3
    assert len(await ledger.events(EvidenceRecorded)) == 2


@pytest.mark.parametrize("void_first", [True, False])
async def test_of_a_void_and_its_observation_the_first_counts(
    ledger: Ledger, desk: Desk, *, void_first: bool
) -> None:
    bodies = [encode(Void()), encode(desk.observation())]
    for body in bodies if void_first else reversed(bodies):
        await desk.tell(desk.observer, body)
        desk.number -= 1
    assert len(await ledger.events(EvidenceRecorded)) == (0 if void_first else 1)
    assert len(await ledger.events()) == 2
    assert await _through(ledger) == 1


async def test_evidence_of_another_scope_cannot_be_cited(ledger: Ledger, desk: Desk) -> None:
    foreign = Desk(ledger, scope="elsewhere")
    await foreign.begin()
    seen = await foreign.observe()
    await desk.observe(evidence_ids=(seen,))
    (refused,) = await ledger.events(Refused)
    assert refused.code == "unknown_evidence"


async def test_keys_and_evidence_ids_of_two_hosts_do_not_meet(ledger: Ledger, desk: Desk) -> None:
    other = Desk(ledger, host="other")
    await other.begin()
    taken = await desk.observe(key="k", summary="mine")
    await other.observe(key="k", summary="yours")
    await other.observe(evidence_id=taken)  # an id is unique in the scope
    assert len(await ledger.events(EvidenceRecorded)) == 2
    (refused,) = await ledger.events(Refused)
    assert (refused.host, refused.field) == ("other", "$.evidence_id")


async def test_two_spellings_of_a_resource_have_one_key(ledger: Ledger, desk: Desk) -> None:
    again = Resource(kind="path", value="/project//./notes.txt")
    await desk.observe(resources=(NOTES, again))
    (recorded,) = await ledger.events(EvidenceRecorded)
    assert len(recorded.resource_keys) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {headers.EPOCH: ""},
        {headers.EPOCH: "not-a-ulid"},
        {headers.NUMBER: ""},
        {headers.NUMBER: "0"},
        {headers.NUMBER: "-1"},
        {headers.NUMBER: "1e3"},
        {headers.NUMBER: "²"},
        {headers.NUMBER: "9" * 30},
    ],
    ids=str,
)
async def test_a_message_without_a_number_is_refused_once(
    ledger: Ledger, desk: Desk, fields: dict[str, str]
) -> None:
    before = without(await ledger.tables(), *_INBOX)
    assert await desk.tell(desk.observer, desk.observation(), **fields) == b"+ACK"
    handler, message = desk.sent[-1]
    await desk.deliver(handler, message)
    assert without(await ledger.tables(), *_INBOX) == before
    (refused,) = await ledger.events(Refused)
    assert (refused.code, refused.field) == ("malformed", next(iter(fields)))
    assert await _through(ledger) == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed"),
        (b"{", "malformed"),
        (b"[]", "unknown_schema"),
        (b'{"schema":"pmcl/observation/2"}', "unknown_schema"),
        (b'{"schema":"pmcl/outcome/1"}', "unknown_schema"),
        (b'{"schema":"pmcl/observation/1"}', "malformed"),
        (b'{"schema":"pmcl/void/1","a":NaN}', "malformed"),
        (b'{"schema":"pmcl/void/1","schema":"pmcl/void/1"}', "malformed"),
        (b'"' + b"x" * 300_000 + b'"', "too_large"),
        (b"\xff\xfe", "malformed"),
        (b"[" * 100_000, "malformed"),
    ],
    ids=lambda value: value[:40].decode(errors="replace") if isinstance(value, bytes) else value,
)
async def test_bytes_that_are_no_observation_are_refused(
    ledger: Ledger, desk: Desk, body: bytes, code: str
) -> None:
    before = without(await ledger.tables(), *_INBOX)
    assert await desk.tell(desk.observer, body) == b"+ACK"
    assert without(await ledger.tables(), *_INBOX) == before
    (refused,) = await ledger.events(Refused)
    assert refused.code == code
    assert await _through(ledger) == 1
