"""A ledger that was put back from an older copy takes what it lacks from LOG and INTAKE."""

from typing import Any

import pytest

from pmcl.bus import INTAKE
from pmcl.bus.jetstream import call
from pmcl.contracts import EVENTS, PayloadRetaken, decode
from pmcl.ledger import FoldError
from pmcl.ops.record.audit import audit_record
from pmcl.ops.state_dir import LedgerKeyMissingError
from pmcl.outbox import DivergedError
from tests.integration.record.office import Office

pytestmark = pytest.mark.anyio

# `ledger` has the epoch; a payload that was taken again has another salt and commitment.
_SAME = (
    "approvals",
    "audits",
    "evaluations",
    "held_resources",
    "holds",
    "inbox_beyond",
    "inbox_watermarks",
    "leases",
    "listed_outcomes",
    "outcome_counts",
    "outcomes",
    "parked_outcomes",
    "turns",
)


async def state(office: Office) -> dict[str, list[tuple[object, ...]]]:
    """Every table that must be the same, and what is the same of the others."""
    found = {}
    for table in _SAME:
        found[table] = [tuple(row.values()) for row in await office.rows(f"SELECT * FROM {table}")]
    evidence = await office.rows("SELECT * FROM evidence ORDER BY sequence")
    found["evidence"] = [tuple(row.values()) for row in evidence if row.pop("commitment")]
    kept = await office.rows(
        "SELECT p.id, p.content, p.detail_digest, p.told, p.excerpt FROM payloads AS p"
        " JOIN evidence AS e ON e.evidence_id = p.id ORDER BY p.payload"
    )
    found["payloads"] = [tuple(row.values()) for row in kept]
    return found


async def epoch(office: Office) -> str:
    (row,) = await office.rows("SELECT epoch FROM ledger")
    return str(row["epoch"])


async def retaken(office: Office) -> list[str]:
    rows = await office.rows("SELECT body FROM journal ORDER BY sequence")
    events = [decode(row["body"], *EVENTS) for row in rows]
    return [event.evidence_id for event in events if isinstance(event, PayloadRetaken)]


async def test_an_older_copy_becomes_what_the_newest_was(office: Office) -> None:
    async with office.sidecar():
        before = await office.work()
        older = office.copy()
        after = await office.work(600)
    newest, first_epoch = await state(office), await epoch(office)
    office.put_back(older)

    async with office.sidecar():
        pass

    assert await state(office) == newest
    assert await retaken(office) == after
    assert await epoch(office) != first_epoch
    report = await audit_record(office.settings)
    assert report["sound"], report
    # What was judged meanwhile is in no stream: its envelope is there, its content is not.
    lost = await office.rows(
        "SELECT e.evaluation_id FROM evaluations AS e WHERE NOT EXISTS"
        " (SELECT 1 FROM payloads AS p WHERE p.id = e.evaluation_id)"
    )
    assert report["payloads"]["absent"] == len(lost) == 3
    assert before


async def test_a_lost_ledger_is_folded_from_the_first_row(worked: Office, seen: list[str]) -> None:
    newest = await state(worked)
    worked.ledger.unlink()

    async with worked.sidecar():
        pass

    assert await state(worked) == newest
    assert await retaken(worked) == seen


async def test_what_follows_a_fold_goes_on_as_if_nothing_had_been(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        older = office.copy()
        await office.work()
    office.put_back(older)

    async with office.sidecar():
        seen = await office.work()
        count = await office.rows("SELECT count(DISTINCT evidence_id) AS n FROM evidence")
        report = await audit_record(office.settings)

    assert count == [{"n": 60}]
    assert report["sound"], report
    assert len(await retaken(office)) == 20
    assert set(seen) & set(await retaken(office)) == set()


async def test_a_fold_that_was_cut_is_ended_by_the_next_start(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        older = office.copy()
        after = await office.work(600)
    newest = await state(office)
    office.put_back(older)
    key = office.settings.state_dir / "ledger.key"
    key.rename(key.with_suffix(".away"))
    with pytest.raises(LedgerKeyMissingError, match=r"ledger\.key is missing"):
        async with office.sidecar():
            pytest.fail("it started without its key")
    assert await retaken(office) == []
    key.with_suffix(".away").rename(key)

    async with office.sidecar():
        pass

    assert await state(office) == newest
    assert await retaken(office) == after


async def test_what_intake_does_not_hold_any_more_stays_without_payload(office: Office) -> None:
    async with office.sidecar() as cell:
        await office.work()
        older = office.copy()
        after = await office.work(100)
        async with cell.admin() as admin:
            info = await call(admin, f"STREAM.INFO.{INTAKE}")
            await call(admin, f"STREAM.PURGE.{INTAKE}", {"seq": info["state"]["last_seq"] - 30})
    office.put_back(older)

    async with office.sidecar():
        pass

    taken = await retaken(office)
    assert 0 < len(taken) < len(after)
    assert taken == after[-len(taken) :]
    report = await audit_record(office.settings)
    assert report["sound"], report
    assert report["payloads"]["absent"] == 3 + len(after) - len(taken)


async def test_a_message_that_was_erased_from_intake_gives_no_payload(office: Office) -> None:
    async with office.sidecar():
        older = office.copy()
        after = await office.work()
    office.put_back(older)
    async with office.bus("admin") as (admin,):
        info = await call(admin, f"STREAM.INFO.{INTAKE}")
        await call(admin, f"STREAM.MSG.DELETE.{INTAKE}", {"seq": info["state"]["first_seq"] + 4})

    async with office.sidecar():
        pass

    assert await retaken(office) == [*after[:4], *after[5:]]


async def test_what_neither_copy_nor_log_has_is_taken_from_intake(office: Office) -> None:
    async with office.sidecar():
        older = office.copy()
        await office.work()
        async with office.host() as host:
            seen = await host.observe_many([{"source": "ls", "summary": f"{n}"} for n in range(9)])
    (row,) = await office.rows("SELECT sequence FROM journal WHERE instr(body, :id)", id=seen[4])
    await office.log_ends_at(row["sequence"])
    office.put_back(older)

    async with office.sidecar():
        await office.until(f"SELECT 1 WHERE (SELECT count(*) FROM evidence) = {20 + len(seen)}")

    assert (await audit_record(office.settings))["sound"]
    found = await office.rows("SELECT evidence_id FROM evidence ORDER BY sequence DESC LIMIT 9")
    assert [row["evidence_id"] for row in reversed(found)] == seen


async def test_a_ledger_that_went_on_without_log_is_refused(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        older = office.copy()
        await office.work()
    office.put_back(older)
    (last,) = await office.rows("SELECT max(sequence) AS n FROM journal")
    office.tamper(
        "UPDATE journal SET subject = 'pmcl.v1.event.s.a.other' WHERE sequence = ?", last["n"] - 4
    )
    office.rewrite_chain()

    with pytest.raises(DivergedError) as caught:
        async with office.sidecar():
            pytest.fail("it started")

    assert caught.value.sequence == last["n"]
    assert caught.value.agree == last["n"] - 5
    assert await office.rows("SELECT max(sequence) AS n FROM journal") == [last]


async def test_a_log_with_a_hole_is_refused_at_the_hole(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        older = office.copy()
        await office.work()
    office.put_back(older)
    (last,) = await office.rows("SELECT max(sequence) AS n FROM journal")
    async with office.bus("admin") as (admin,):
        await call(admin, "STREAM.PURGE.LOG", {"seq": last["n"] + 4})

    with pytest.raises(FoldError, match="LOG lacks it") as caught:
        async with office.sidecar():
            pytest.fail("it started")

    assert caught.value.sequence == last["n"] + 1


async def test_the_payload_is_taken_from_the_message_that_was_recorded(office: Office) -> None:
    """A repeat has the same id and content, but is not what the envelope speaks of."""
    async with office.sidecar():
        await office.work()
        older = office.copy()
        async with office.host() as host:
            fields: Any = {"source": "ls", "summary": "an entry", "key": "once"}
            seen = await host.observe(**fields)
            await host.observe(**fields | {"observed_at": 1})
            await office.until("SELECT 1 FROM journal WHERE subject LIKE '%.number-closed'")
    office.put_back(older)

    async with office.sidecar():
        pass

    assert await retaken(office) == [seen]
