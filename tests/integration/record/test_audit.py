"""What somebody changes in the record is found, and told by the first row that shows it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pmcl.bus import LOG, LogRow, append_batch, recreate_log
from pmcl.bus.jetstream import call
from pmcl.contracts import LedgerError
from pmcl.ops.console import console
from pmcl.ops.record.audit import audit_record, show_audit
from pmcl.ops.record.verified import keep_verified
from pmcl.ops.status import read_status, show_status
from pmcl.outbox.journal import read
from pmcl.store import open_reader
from tests.acceptance.processes import pmcl
from tests.acceptance.world import clean_environment
from tests.integration.record.office import Office

pytestmark = pytest.mark.anyio


async def test_an_untouched_record_is_sound_running_or_not(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        running = await audit_record(office.settings)
    stopped = await audit_record(office.settings)

    for report in (running, stopped):
        assert report["sound"], report
        assert report["faults"] == []
    rows = await office.rows("SELECT count(*) AS n, max(hash) FROM journal")
    assert stopped["journal"]["rows"] == stopped["log"]["rows"] == rows[0]["n"]
    assert stopped["log"]["waiting"] == 0
    (kept,) = await office.rows("SELECT count(*) AS n FROM payloads")
    assert stopped["payloads"] == {"checked": kept["n"], "erased": 0, "absent": 0}


def change_body(office: Office) -> None:
    body = "CAST(replace(CAST(body AS TEXT), '\"ls\"', '\"cp\"') AS BLOB)"
    office.tamper(f"UPDATE journal SET body = {body} WHERE sequence = 9")


def change_body_and_chain(office: Office) -> None:
    change_body(office)
    office.rewrite_chain()


def change_subject(office: Office) -> None:
    office.tamper("UPDATE journal SET subject = 'pmcl.v1.event.s.b.x' WHERE sequence = 9")


def change_body_and_its_hash(office: Office) -> None:
    change_body(office)
    office.tamper("UPDATE journal SET hash = (SELECT hash FROM journal WHERE sequence = 8)"
                  " WHERE sequence = 9")  # fmt: skip


def take_a_row_out(office: Office) -> None:
    office.tamper("DELETE FROM journal WHERE sequence = 9")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (change_body, {"journal": 9, "agreement": 9}),
        (change_body_and_chain, {"agreement": 9}),
        (change_subject, {"journal": 9, "agreement": 9}),
        (change_body_and_its_hash, {"journal": 9, "agreement": 9}),
        (take_a_row_out, {"agreement": 9, "journal": 10}),
    ],
)
async def test_a_changed_journal_breaks_where_it_was_changed(
    worked: Office, change: Callable[[Office], None], expected: dict[str, int]
) -> None:
    change(worked)

    report = await audit_record(worked.settings)

    assert not report["sound"]
    assert {fault["where"]: fault["sequence"] for fault in report["faults"]} == expected


async def test_a_journal_without_its_end_is_shorter_than_log(worked: Office) -> None:
    (last,) = await worked.rows("SELECT max(sequence) AS n FROM journal")
    worked.tamper("DELETE FROM journal WHERE sequence > ?", last["n"] - 3)

    report = await audit_record(worked.settings)

    (fault,) = report["faults"]
    assert (fault["where"], fault["sequence"]) == ("agreement", last["n"] - 2)


async def test_a_changed_payload_is_found_by_its_envelope(worked: Office, seen: list[str]) -> None:
    worked.tamper(
        "UPDATE payloads SET content = CAST(content || ' ' AS BLOB) WHERE id = ?", seen[3]
    )

    report = await audit_record(worked.settings)

    (fault,) = report["faults"]
    (row,) = await worked.rows(
        "SELECT sequence FROM journal WHERE instr(body, :id) AND subject LIKE '%recorded'",
        id=seen[3],
    )
    assert (fault["where"], fault["sequence"]) == ("payload", row["sequence"])
    assert seen[3] in fault["what"]


async def test_a_payload_of_nobody_is_found_and_a_lost_one_is_counted(
    worked: Office, seen: list[str]
) -> None:
    worked.tamper("DELETE FROM payloads WHERE id = ?", seen[3])
    lost = await audit_record(worked.settings)
    worked.tamper("UPDATE payloads SET id = 'nobody' WHERE id = ?", seen[4])
    stray = await audit_record(worked.settings)

    assert lost["sound"]
    assert lost["payloads"]["absent"] == 1
    assert [fault["where"] for fault in stray["faults"]] == ["payload"]


async def test_a_log_that_is_gone_is_told(worked: Office) -> None:
    async with worked.bus("admin") as (admin,):
        await call(admin, f"STREAM.DELETE.{LOG}")

    report = await audit_record(worked.settings)

    (fault,) = report["faults"]
    assert (fault["where"], fault["sequence"]) == ("log", 0)


async def test_a_changed_log_breaks_at_its_row_also_behind_a_purge(office: Office) -> None:
    async with office.sidecar():
        await office.work()
        head = (await audit_record(office.settings))["journal"]
    async with office.bus("admin", "relay") as (admin, relay):
        await recreate_log(admin, 6)
        async with open_reader(office.ledger) as reader:
            rows = [LogRow(row.subject, row.body, row.hash) for row in await read(reader, 5)]
        rows[7] = msgspec.structs.replace(rows[7], body=b"{}")
        await append_batch(relay, LOG, rows, 5, 5)

    report = await audit_record(office.settings)

    assert report["log"] == {"rows": head["rows"] - 5, "waiting": 0}
    found = {fault["where"]: fault["sequence"] for fault in report["faults"]}
    assert found == {"agreement": 13, "log": 13}


async def test_without_a_ledger_there_is_nothing_to_audit(office: Office) -> None:
    with pytest.raises(LedgerError, match="no ledger yet"):
        await audit_record(office.settings)


async def test_the_command_says_where_it_broke_and_exits_with_two(worked: Office) -> None:
    change_body(worked)
    command = ("audit", "verify", "--state-dir", str(worked.settings.state_dir))

    told = await pmcl(*command, environment=clean_environment())
    as_json = await pmcl(*command, "--json", environment=clean_environment())

    assert (told.code, as_json.code) == (2, 2), told.stderr
    assert "broken    journal, row 9:" in told.stdout
    (line,) = as_json.stdout.splitlines()
    report: dict[str, Any] = msgspec.json.decode(line)
    assert not report["sound"]
    with console.capture() as printed:
        show_audit(report)
    assert printed.get() == told.stdout


async def told(office: Office) -> str:
    with console.capture() as printed:
        show_status(await read_status(office.settings))
    (line,) = [line for line in printed.get().splitlines() if line.startswith("record ")]
    return line


async def test_the_status_says_when_the_record_was_verified(worked: Office) -> None:
    assert "never verified" in await told(worked)
    report = await audit_record(worked.settings)
    assert "never verified" in await told(worked), "an audit by itself leaves nothing"
    keep_verified(worked.settings, report)
    assert "sound, 0 rows since" in await told(worked)
    async with worked.sidecar():
        await worked.work()
    (last,) = await worked.rows("SELECT max(sequence) AS n FROM journal")
    since = last["n"] - report["journal"]["rows"]
    assert since > 0
    assert f"sound, {since} rows since" in await told(worked)


async def test_the_status_says_what_speaks_against_the_record(worked: Office) -> None:
    report = await audit_record(worked.settings)
    keep_verified(worked.settings, report)
    rows = report["journal"]["rows"]
    worked.tamper("DELETE FROM journal WHERE sequence = ?", rows)
    assert f"row {rows} is another than when it was verified" in await told(worked)
    keep_verified(worked.settings, await audit_record(worked.settings))
    assert "broken, found" in await told(worked)
    (worked.settings.state_dir / "verified.json").write_text("{")
    assert "never verified" in await told(worked)
