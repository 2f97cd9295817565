"""What events alone give is what the ledger holds; what differs is named, and nothing is lost."""

from typing import Any

import pytest

from pmcl.contracts import LedgerError
from pmcl.ledger import FoldError
from pmcl.ops.console import console
from pmcl.ops.record.audit import audit_record
from pmcl.ops.record.compare import COMPARED, NOT_COMPARED
from pmcl.ops.record.rebuild import rebuild_ledger, show_rebuild
from pmcl.ops.state_dir import StateDirInUseError
from tests.integration.record.office import Office

pytestmark = pytest.mark.anyio


def differing(report: dict[str, Any]) -> dict[str, Any]:
    return {
        table["table"]: table["first"]
        for table in report["tables"]
        if table["old"] != table["new"] or table["first"]
    }


def files(office: Office) -> set[str]:
    """All files of the state directory, but those that SQLite keeps beside an open one."""
    names = {path.name for path in office.settings.state_dir.iterdir()}
    return {name for name in names if not name.endswith(("-wal", "-shm"))}


async def test_every_table_is_compared_or_named_as_not(office: Office) -> None:
    async with office.sidecar():
        pass
    tables = await office.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    assert sorted((*COMPARED, *NOT_COMPARED)) == sorted(row["name"] for row in tables)


async def test_events_alone_give_the_ledger_back(office: Office) -> None:
    async with office.sidecar():
        await office.work(300)
    before = files(office)

    report = await rebuild_ledger(office.settings)

    assert report["same"]
    assert differing(report) == {}
    assert report["payloads"] == {"copied": 303, "unavailable": 0}
    assert report["kept"] is None
    assert files(office) == before
    assert [table["table"] for table in report["tables"]] == list(COMPARED)


async def test_the_first_difference_is_told_by_place_and_never_by_value(
    worked: Office, seen: list[str]
) -> None:
    worked.tamper("UPDATE evidence SET trust = 'user', source = 'cp' WHERE sequence = 7")
    worked.tamper("DELETE FROM outcomes WHERE rowid = 1")
    worked.tamper("UPDATE payloads SET content = x'00' WHERE id = ?", seen[3])

    report = await rebuild_ledger(worked.settings)

    found = differing(report)
    assert found["evidence"] == {"row": 7, "columns": ["source", "trust"]}
    assert found["outcomes"]["row"] in (1, 2)
    assert set(found) == {"evidence", "outcomes", "payloads"}
    assert report["payloads"] == {"copied": 22, "unavailable": 1}
    with console.capture() as printed:
        show_rebuild(report)
    assert "differs   evidence, row 7: source, trust" in printed.get()
    assert "cp" not in printed.get()


async def test_a_rebuilt_ledger_takes_the_old_ones_place_and_works(
    worked: Office, seen: list[str]
) -> None:
    worked.tamper("UPDATE evidence SET trust = 'user' WHERE sequence = 7")
    worked.tamper("DELETE FROM payloads WHERE id = ?", seen[3])

    report = await rebuild_ledger(worked.settings, replace=True)

    assert not report["same"]
    kept = worked.settings.state_dir / report["kept"]
    assert kept.exists()
    assert differing(await rebuild_ledger(worked.settings, kept)) == {}
    async with worked.sidecar():
        await worked.work()
    # What was lacking came from INTAKE, and what was changed by hand is as it was recorded.
    (row,) = await worked.rows("SELECT trust FROM evidence WHERE sequence = 7")
    assert row["trust"] == "tool_output"
    audit = await audit_record(worked.settings)
    assert audit["sound"]
    assert audit["payloads"]["absent"] == 0


async def test_rows_that_the_relay_had_not_sent_are_folded_as_well(office: Office) -> None:
    async with office.sidecar():
        older_log = await audit_record(office.settings)
        await office.work()
    await office.log_ends_at(older_log["journal"]["rows"] + 7)

    report = await rebuild_ledger(office.settings)

    assert report["same"]
    assert report["rows"] > older_log["journal"]["rows"] + 7


async def test_another_ledgers_journal_can_be_the_source(worked: Office) -> None:
    copy = worked.copy()
    worked.tamper("UPDATE journal SET body = x'7b7d' WHERE sequence = 9")

    report = await rebuild_ledger(worked.settings, copy)
    with pytest.raises(FoldError) as caught:
        await rebuild_ledger(worked.settings, worked.ledger)

    assert differing(report) == {"journal": {"row": 9, "columns": ["body"]}}
    assert caught.value.sequence == 9


async def test_a_lost_ledger_is_rebuilt_from_log_alone(worked: Office) -> None:
    worked.ledger.unlink()

    report = await rebuild_ledger(worked.settings, replace=True)

    assert report["tables"] == []
    assert report["payloads"] == {"copied": 0, "unavailable": 23}
    async with worked.sidecar():
        pass
    assert (await audit_record(worked.settings))["payloads"] == {
        "checked": 20,
        "erased": 0,
        "absent": 3,
    }


async def test_a_rebuild_beside_a_sidecar_is_refused(office: Office) -> None:
    async with office.sidecar():
        with pytest.raises(StateDirInUseError):
            await rebuild_ledger(office.settings)


async def test_a_source_that_is_not_there_is_named(office: Office) -> None:
    with pytest.raises(LedgerError, match="no such file"):
        await rebuild_ledger(office.settings, office.directory / "nowhere.sqlite")
