"""Only `apply` writes domain tables: the journal alone gives them back, whole."""

from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    EVENTS,
    AuditReceipt,
    BeliefProposed,
    CompleteTurn,
    DisableLease,
    EraseContent,
    ExpectedReceipt,
    Heartbeat,
    Identity,
    IntentionProposed,
    LessonProposed,
    MemoryProposed,
    Receipt,
    RecommendationProposed,
    RecordBackup,
    Redrive,
    Redriven,
    Resume,
    ResumeLease,
    RetractItem,
    SelfModelProposed,
    SetIdentity,
    Stop,
    Subject,
    Void,
    WorkingStateProposed,
    sha256,
)
from pmcl.contracts.limits import RECOMMENDATION_TTL_MS
from pmcl.ledger import FoldError, apply, erasures, fold
from pmcl.outbox.journal import JournalRow
from pmcl.workers import (
    Incoming,
    RedriveWorker,
    ReflectorError,
    Retaker,
    end_erasure,
    erase_payloads,
)
from pmcl.workers.redriving import Letter, redrive_epoch
from tests.unit.workers.desk import (
    NOTES,
    PLANS,
    TTL_MS,
    Desk,
    Ledger,
    open_ledger,
    premortem,
    without,
)
from tests.unit.workers.test_reflect import PERIOD_MS, Room

pytestmark = pytest.mark.anyio

_NOT_DOMAIN = ("payloads", "journal", "ledger", "restored_from", "inbox_watermarks", "inbox_beyond")
_TEXT = "the notes, as they are now"
_SAID = "notes.txt is where the notes are kept"
_RECEIPT = Receipt(kind="file", digest=sha256(_TEXT.encode()))


async def _work(ledger: Ledger) -> list[Desk]:  # noqa: PLR0915 - a list of all that happens
    """Do everything that a ledger can record, in two scopes."""
    desks = [Desk(ledger), Desk(ledger, host="other"), Desk(ledger, scope="elsewhere")]
    for desk in desks:
        await desk.begin()
        await desk.begin()
        await _hold_and_lift(desk)
        await _outcomes(desk)
        await _learn(desk)
        await _approvals(desk)
        await desk.say("heartbeat", Heartbeat)
        await desk.say("complete", CompleteTurn, turn_id="turn-1", responded=True)
        ledger.clock.now_ms += 1_000
    await desks[0].begin(ResumeLease)
    await desks[1].say("disable", DisableLease)
    abandoned = await desks[2].passed()
    ledger.clock.now_ms += 2 * TTL_MS
    while await ledger.sweep():
        pass
    await desks[2].report(desks[2].outcome(abandoned))
    await desks[2].begin()
    await desks[2].check(desks[2].request())
    await _derive(desks[0])
    await _derive(desks[2])
    await _take_again(desks[0])
    for desk in desks:
        await _misbehave(desk)  # what was set aside holds most calls of its scope
    await _redrive(desks[0])
    made = RecordBackup(backup_id=ulid_now(), place="/backups/1", sequence=9, label="ann")
    for _ in range(2):
        backup = await desks[0].say_as_operator("backup", made)
        assert (backup.by, backup.place) == ("operator/ann", "/backups/1")
        await desks[0].say_as_operator("stop", Stop(label="ann"))
        await desks[1].begin()
        await desks[0].say_as_operator("resume", Resume(label="ann"))
    await _reflect(ledger, desks[0])
    await _erase(desks[2])
    return desks


async def _reflect(ledger: Ledger, desk: Desk) -> None:
    """Let cycles end in every way, and leave one open."""
    room = Room(ledger)
    await desk.begin()
    await room.work()
    await desk.observe()
    for number, error in enumerate((None, ReflectorError("down", discarded=False))):
        await desk.say("complete", CompleteTurn, turn_id=f"reflected-{number}", responded=True)
        room.reflector.error = error
        await desk.observe()
        await room.work()
    room.reflector.error = None
    ledger.clock.now_ms += PERIOD_MS
    await desk.begin()
    await room.work()
    assert {"proposed", "failed", "skipped"} <= {result for result, _ in await room.ends()}
    await desk.observe()
    await desk.say("complete", CompleteTurn, turn_id="claimed", responded=True)
    assert await room.worker.claim()


async def _hold_and_lift(desk: Desk) -> None:
    await desk.check(desk.request(resources=(NOTES, PLANS)))
    await desk.check(desk.request("format_disk"))
    seen = await desk.observe(resources=(NOTES, PLANS), confidence=0.25)
    await desk.check(desk.request(premortem=premortem(seen)))
    await desk.observe(evidence_ids=(seen,), domain="inner", visibility="shareable")
    await desk.check(desk.request(resources=(PLANS,)))


async def _outcomes(desk: Desk) -> None:
    expected = ExpectedReceipt(kind="file")
    first = await desk.passed(expected_receipt=expected)
    await desk.report(desk.outcome(first, receipt=_RECEIPT, duration_ms=3))
    await desk.observe(detail=_TEXT)
    second = await desk.passed(expected_receipt=expected)
    failed = desk.outcome(second, status="failed", failure_mode="disk_full", redacted=True)
    await desk.report(failed)
    await desk.report(failed)
    await desk.report(desk.outcome(second, receipt=_RECEIPT))
    await desk.report(desk.outcome(second, evaluation_id=ulid_now()))
    await desk.report(
        AuditReceipt(
            audit_id=ulid_now(),
            call_id="call-1",
            proposal_hash="e" * 64,
            cause="timeout",
            finished_at=desk.ledger.clock.now_ms,
            status="succeeded",
        )
    )


async def _learn(desk: Desk) -> None:
    """Let an action succeed four times, each time shown by evidence of its own."""
    for number in range(4):
        desk.ledger.clock.now_ms += 1
        text = f"the plans, version {number}"
        seen = await desk.observe(resources=(PLANS,))
        run = await desk.check(
            desk.request(
                "append_file",
                resources=(PLANS,),
                premortem=premortem(seen),
                expected_receipt=ExpectedReceipt(kind="file"),
            )
        )
        receipt = Receipt(kind="file", digest=sha256(text.encode()))
        await desk.report(desk.outcome(run, receipt=receipt))
        await desk.observe(detail=text)


async def _derive(desk: Desk) -> None:
    """Have proposals of each kind admitted, ended and rejected, and an identity configured."""
    seen = await desk.observe(detail=_TEXT)
    other = await desk.observe(summary="another look")
    belief = BeliefProposed(text=_SAID, about="notes.txt", evidence_ids=(seen,))
    first = await desk.reflect(
        belief,
        MemoryProposed(text=_SAID, evidence_ids=(seen, other)),
        LessonProposed(text=_SAID, evidence_ids=(seen,), fingerprint="f" * 64),
        IntentionProposed(text=_SAID, evidence_ids=(other,)),
        RecommendationProposed(text=_SAID, evidence_ids=(other,), simulated=True),
        WorkingStateProposed(text=_SAID, evidence_ids=(other,)),
        WorkingStateProposed(text=_SAID + ", still", evidence_ids=(other,)),
        SelfModelProposed(text=_SAID, evidence_ids=(other,), part="skills"),
        MemoryProposed(text=_SAID),
        belief,
    )
    assert (
        first.counts.admitted,
        first.counts.proposed,
        first.counts.rejected,
        first.counts.repeated,
    ) == (7, 1, 1, 1)
    stays = first.payloads[0].id
    again = await desk.reflect(
        BeliefProposed(text="not so", about="notes.txt", evidence_ids=(other,), replaces=stays),
        IntentionProposed(text="done", evidence_ids=(other,), resolves=first.payloads[3].id),
    )
    assert again.counts.admitted == 2
    contrary = BeliefProposed(
        text="or so",
        about="notes.txt",
        evidence_ids=(other,),
        counterevidence_ids=(seen,),
        contradicts=(again.payloads[0].id,),
    )
    assert (await desk.reflect(contrary)).counts.admitted == 1
    taken_back = RetractItem(item_id=first.payloads[1].id, label="ann")
    assert (await desk.say_as_operator("retract", taken_back)).changed
    desk.ledger.clock.now_ms += RECOMMENDATION_TTL_MS
    await desk.ledger.sweep()
    await desk.begin()
    identity = Identity(name="Aura", text=_SAID, ideal_self=("exact",))
    for version in (1, 1):
        asked = SetIdentity(of_scope=desk.scope, identity=identity, label="ann")
        assert (await desk.say_as_operator("identity", asked)).version == version


async def _redrive(desk: Desk) -> None:
    """Have an observation that died dealt with at an operator's word."""
    died = Incoming(
        subject=Subject("observation", desk.scope, desk.host),
        body=desk.observation(),
        epoch=redrive_epoch(desk.epoch),
        number=desk.number + 1,
    )
    worker = desk.observer.worker
    letter = Letter(worker, died, await worker.prepare(died))
    asked = Incoming(
        subject=Subject("ops", "", "", "redrive"), body=Redrive(sequence=1, label="ann")
    )
    redriving = RedriveWorker(cast("Any", None), [worker])  # the letter was read already
    reply = await desk.ledger.units.answer(redriving, asked, letter)
    assert reply == Redriven(result="done")


async def _take_again(desk: Desk) -> None:
    """Lose a payload, as a fold does, and take it from its message again."""
    await desk.observe(detail=_TEXT)
    _, message = desk.sent[-1]
    await desk.ledger.writer.run(
        lambda tx: tx.run(
            "DELETE FROM payloads WHERE payload = (SELECT max(payload) FROM payloads)"
        )
    )
    assert await Retaker(desk.ledger.key, desk.ledger.units).retake(message)


async def _erase(desk: Desk) -> None:
    """Have all content of the desk's scope go, and its first outcome lose what showed it."""
    units, scope = desk.ledger.units, desk.scope
    await desk.say_as_operator("erase", EraseContent(scope=scope, label="ann"))
    erasure = await desk.ledger.writer.run(erasures.first_open)
    assert erasure is not None
    rows = await desk.ledger.rows("SELECT id FROM payloads WHERE scope = :scope", scope=scope)
    ids = [row["id"] for row in rows]
    assert await units.tell(partial(erase_payloads, erasure, ids)) > len(ids)
    assert await units.tell(partial(erase_payloads, erasure, ids)) == 0
    await units.tell(partial(end_erasure, erasure, 3))


async def _approvals(desk: Desk) -> None:
    await desk.grant(await desk.asked())
    assert (await desk.asked()).checkpoint_status == "passed"
    await desk.grant(await desk.asked(), lifetime_ms=1)
    desk.ledger.clock.now_ms += 1
    await desk.deny(await desk.asked())
    await desk.asked(arguments={"path": NOTES.value, "text": "left waiting"})


async def _misbehave(desk: Desk) -> None:
    await desk.observe(key="once", summary="first")
    await desk.observe(key="once", summary="second")
    await desk.observe(key="once", summary="first")
    await desk.tell(desk.observer, b"{")
    await desk.tell(desk.observer, Void())
    await desk.tell(desk.observer, Void(lost=True))


async def test_every_event_has_an_apply_and_is_told_by_some_work(ledger: Ledger) -> None:
    await _work(ledger)
    told = {type(event) for event in await ledger.events()}
    assert told == set(EVENTS)


async def test_the_journal_alone_gives_every_domain_table_back(
    ledger: Ledger, tmp_path: Path
) -> None:
    await _work(ledger)
    events = await ledger.events()
    async with open_ledger(tmp_path / "folded.sqlite") as folded:

        def apply_all(tx: Any) -> None:
            for event in events:
                apply(tx, event)

        await folded.writer.run(apply_all)
        tables = without(await folded.tables(), *_NOT_DOMAIN)
    expected = without(await ledger.tables(), *_NOT_DOMAIN)
    assert tables.keys() == expected.keys()
    for name, rows in expected.items():
        assert rows, f"the work leaves {name} empty, so nothing is shown of it"
        assert tables[name] == rows, name


async def test_folding_gives_journal_and_inbox_back_as_well(ledger: Ledger, tmp_path: Path) -> None:
    desks = await _work(ledger)
    rows = await ledger.rows("SELECT * FROM journal ORDER BY sequence")
    async with open_ledger(tmp_path / "folded.sqlite") as folded:

        def fold_all(tx: Any) -> None:
            for row in rows:
                fold(tx, JournalRow(**row))

        await folded.writer.run(fold_all)
        tables = without(await folded.tables(), "payloads", "ledger")
        assert tables == without(await ledger.tables(), "payloads", "ledger")
        folded.clock.now_ms = ledger.clock.now_ms
        for desk in desks:  # what was done before stays done: nothing is journalled for it
            desk.ledger = folded
            for handler, message in desk.sent:
                again = folded.handler(handler.worker)
                assert await desk.deliver(again, message) == b"+ACK"
        assert without(await folded.tables(), "ledger") == {**tables, "payloads": []}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"body": b'{"schema":"pmcl/later/1"}'}, "no event of this version"),
        ({"subject": "pmcl.v1.event.team.other.lease-began"}, "subject"),
        ({"hash": "0" * 64}, "does not continue the chain"),
        ({"sequence": 7}, "does not continue the chain"),
    ],
)
async def test_a_row_that_does_not_fit_is_not_folded(
    ledger: Ledger, tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    await Desk(ledger).begin()
    (first, *_) = await ledger.rows("SELECT * FROM journal ORDER BY sequence")
    row = JournalRow(**(first | changes))
    async with open_ledger(tmp_path / "folded.sqlite") as folded:
        with pytest.raises(FoldError, match=reason) as caught:
            await folded.writer.run(lambda tx: fold(tx, row))
        assert caught.value.sequence == row.sequence
        assert not any((await folded.tables()).values())


async def test_feeding_every_message_again_changes_no_row(ledger: Ledger) -> None:
    desks = await _work(ledger)
    before = await ledger.tables()
    sent = [(desk, handler, message) for desk in desks for handler, message in desk.sent]
    for desk, handler, message in [*sent, *reversed(sent)]:
        assert await desk.deliver(handler, message) == b"+ACK"
    assert await ledger.tables() == before


async def test_events_say_which_message_they_close(ledger: Ledger) -> None:
    desks = await _work(ledger)
    caused = [event.cause for event in await ledger.events() if event.cause is not None]
    numbers = {(cause.epoch, cause.number) for cause in caused}
    for desk in desks:
        assert {n for epoch, n in numbers if epoch == desk.epoch} == set(range(1, desk.number + 1))


async def test_no_event_holds_content(ledger: Ledger) -> None:
    await _work(ledger)
    journal = await ledger.rows("SELECT body FROM journal")
    bodies = b"".join(row["body"] for row in journal)
    for content in (_TEXT, "notes.txt", "keep the notes", "the notes were read"):
        assert content.encode() not in bodies


async def test_an_event_that_is_read_back_is_the_one_that_was_written(ledger: Ledger) -> None:
    await _work(ledger)
    bodies = [body for _, body in await ledger.journal()]
    events = await ledger.events()
    assert [msgspec.json.encode(event, order="sorted") for event in events] == bodies
