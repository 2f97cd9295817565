"""What an operator erases is in no byte of any file; the record stays whole and says so."""

import sqlite3
from contextlib import closing
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec
import pytest

from pmcl.bus import (
    DEADLETTERS,
    INTAKE,
    Connection,
    StreamLimits,
    delete_message,
    stored_message,
    trim_intake,
)
from pmcl.bus.jetstream import call
from pmcl.contracts import (
    ContractError,
    DeadLetter,
    Erasure,
    ExpectedReceipt,
    Receipt,
    UnknownEvidenceError,
    encode,
    sha256,
)
from pmcl.hosts import Host
from pmcl.ops.asking import NotRunningError
from pmcl.ops.host_add import register_hosts
from pmcl.ops.record.audit import audit_record
from pmcl.ops.record.backup import make_backup
from pmcl.ops.record.broken_off import noting
from pmcl.ops.record.erase import ask_erasure, find_left, list_erasures, wait_erasure
from pmcl.ops.record.eraser import Eraser
from pmcl.ops.record.rebuild import rebuild_ledger
from pmcl.ops.record.restore import restore_backup
from tests.acceptance.facts import rows as rows_of
from tests.acceptance.processes import pmcl
from tests.acceptance.world import about, clean_environment, deleting
from tests.integration.record.content import files_with, words
from tests.integration.record.office import WITHIN_S, Office

pytestmark = pytest.mark.anyio

_SIZES = (1, 1, 4, 30, 200)  # words that a detail repeats: small cells and overflow pages


def text_of(name: str) -> str:
    return words(name)


async def observe(host: Host, *names: str) -> list[str]:
    """One observation a name, its words in summary and detail; small ones and large ones."""
    fields: list[Any] = [
        {
            "source": "read_file",
            "summary": text_of(name),
            "detail": f"{text_of(name)}. " * _SIZES[number % len(_SIZES)],
            "resources": (about(f"/work/{name}"),),
            "trust": "user" if number % 3 == 0 else "tool_output",
        }
        for number, name in enumerate(names)
    ]
    return await host.observe_many(fields)


async def files(office: Office, *names: str) -> dict[str, list[str]]:
    texts = [text_of(name) for name in names]
    return await anyio.to_thread.run_sync(files_with, office.settings.state_dir, *texts)


async def erase(office: Office, scope: str, host: str | None = None, *ids: str) -> Erasure:
    with anyio.fail_after(WITHIN_S):
        asked = await ask_erasure(office.settings, scope, host, ids, dry_run=False)
        row = await wait_erasure(office.settings, asked)
    assert row.ended_at is not None
    return asked


async def test_erased_observations_are_in_no_byte_and_all_others_stay(office: Office) -> None:
    names = [f"n{number}" for number in range(120)]
    gone = names[::7]
    async with office.sidecar():
        async with office.host() as host:
            ids = dict(zip(names, await observe(host, *names), strict=True))
            goal = words("goal")
            await host.check(deleting("/work/n7", ids["n7"], goal=goal))
        assert await files(office, *gone) != {}

        await erase(office, "s", None, *(ids[name] for name in gone))

        assert await files(office, *gone) == {}
        assert files_with(office.settings.state_dir, goal) == {}  # its evaluation names n7
    assert await files(office, *gone) == {}
    others = set(names) - set(gone)
    assert {text_of(name) for name in others} == {*(await files(office, *others))["ledger.sqlite"]}
    report = await audit_record(office.settings)
    assert report["sound"], report
    assert report["payloads"] == {"checked": 120 - len(gone), "erased": len(gone) + 1, "absent": 0}
    rows = await office.rows("SELECT evidence_id FROM evidence WHERE erased = 1")
    assert {row["evidence_id"] for row in rows} == {ids[name] for name in gone}
    assert (await rebuild_ledger(office.settings))["same"]


@pytest.mark.parametrize("of", ["host", "scope"])
async def test_a_host_or_a_scope_is_erased_and_its_neighbours_stay(office: Office, of: str) -> None:
    (b,) = register_hosts(office.settings, ["s"], "b")
    (t,) = register_hosts(office.settings, ["t"], "a")
    async with office.sidecar():
        for name, credentials in (("a", None), ("b", b), ("t", t)):
            async with office.host(credentials) as host:
                await observe(host, *(f"{name}{number}" for number in range(20)))
                await host.check(deleting("/work/x", goal=words(f"goal of {name}")))

        asked = await erase(office, "s", "a" if of == "host" else None)

        gone = [f"a{n}" for n in range(20)] + (
            [f"b{n}" for n in range(20)] if of == "scope" else []
        )
        assert (asked.observations, asked.evaluations) == (len(gone), len(gone) // 20)
        assert await files(office, *gone) == {}
        assert files_with(office.settings.state_dir, words("goal of a")) == {}
        assert "ledger.sqlite" in files_with(office.settings.state_dir, words("goal of t"))
        assert "ledger.sqlite" in await files(office, "t3")
        assert ("ledger.sqlite" in await files(office, "b3")) == (of == "host")
        async with office.host() as host:  # and it can go on
            await observe(host, "later")
            assert await files(office, "later") != {}
    assert (await audit_record(office.settings))["sound"]


async def test_a_repeat_and_a_refused_message_are_erased_as_well(office: Office) -> None:
    async with office.sidecar():
        async with office.host() as host:
            first: Any = {"source": "ls", "summary": text_of("one"), "key": "k"}
            evidence_id = await host.observe(**first)
            await host.observe(**first)
            with anyio.fail_after(WITHIN_S):
                await host.observe(**{**first, "summary": text_of("other")})
        await office.until("SELECT 1 FROM journal WHERE subject LIKE '%.refused'")

        await erase(office, "s", None, evidence_id)

        assert await files(office, "one", "other") == {}


async def bury_two(admin: Connection, worker: Connection) -> None:
    """DEADLETTERS holds the first two messages of INTAKE."""
    for sequence in (1, 2):
        stored = await stored_message(admin, INTAKE, sequence)
        assert stored is not None
        letter = DeadLetter(
            subject=stored.subject, headers={}, payload=stored.data,
            reason="ValueError", attempts=5,
        )  # fmt: skip
        subject = "pmcl.v1.deadletter.observe"
        await worker.request(subject, encode(letter), timeout_s=WITHIN_S)


async def test_a_dead_letter_is_erased(office: Office) -> None:
    async with office.sidecar() as cell:
        async with office.host() as host:
            (evidence_id,) = await observe(host, "n0")
            await observe(host, "n1")
        async with cell.admin() as admin, cell.connect("worker") as worker:
            await bury_two(admin, worker)

            await erase(office, "s", None, evidence_id)

            left = (await call(admin, f"STREAM.INFO.{DEADLETTERS}"))["state"]
            assert (left["messages"], left["first_seq"]) == (1, 2)
        assert await files(office, "n0") == {}
        assert await files(office, "n1") != {}


async def test_what_a_redriven_letter_leaves_in_its_file_is_erased(office: Office) -> None:
    async with office.sidecar() as cell:
        async with office.host() as host:
            (evidence_id,) = await observe(host, "n0")
            await observe(host, "n1")
        async with cell.admin() as admin, cell.connect("worker") as worker:
            await bury_two(admin, worker)
            await delete_message(admin, DEADLETTERS, 1, overwrite=False)  # as a redrive does
            assert any("DEADLETTERS" in name for name in await files(office, "n0"))

            await erase(office, "s", None, evidence_id)

            left = (await call(admin, f"STREAM.INFO.{DEADLETTERS}"))["state"]
            assert left["messages"] == 1
        assert await files(office, "n0") == {}
        assert any("DEADLETTERS" in name for name in await files(office, "n1"))


async def test_what_a_full_intake_gave_up_is_erased(office: Office) -> None:
    async with office.sidecar() as cell:
        async with office.host() as host:
            ids = await observe(host, "n0", "n1", "n2", "n3")
        async with cell.admin() as admin:
            with anyio.fail_after(WITHIN_S):
                while await trim_intake(admin, StreamLimits(intake_bytes=1)) == 0:
                    await anyio.lowlevel.checkpoint()
        assert any("INTAKE" in name for name in await files(office, "n0"))

        await erase(office, "s", None, ids[0])

        assert await files(office, "n0") == {}


async def test_an_erased_payload_that_is_still_there_is_a_fault(office: Office) -> None:
    async with office.sidecar():
        async with office.host() as host:
            (evidence_id,) = await observe(host, "n0")
        await office.until("SELECT 1 FROM payloads")
        copy = office.copy()
        await erase(office, "s")
    (row,) = await rows_of(copy, "SELECT * FROM payloads")
    office.tamper(
        "INSERT INTO payloads (payload, scope, id, salt, content) VALUES (?, ?, ?, ?, ?)",
        *(row[name] for name in ("payload", "scope", "id", "salt", "content")),
    )
    report = await audit_record(office.settings)

    (fault,) = report["faults"]
    assert (fault["where"], evidence_id in fault["what"]) == ("payload", True)


async def test_a_dry_run_counts_and_changes_nothing(office: Office) -> None:
    async with office.sidecar():
        async with office.host() as host:
            ids = await observe(host, "n0", "n1", "n2")
        before = await office.rows("SELECT count(*) AS n FROM journal")

        whole = await ask_erasure(office.settings, "s", None, (), dry_run=True)
        single = await ask_erasure(office.settings, "s", None, tuple(ids[:2]), dry_run=True)

        assert (whole.erasure_id, whole.observations, whole.evaluations) == (None, 3, 0)
        assert (single.observations, single.evaluations) == (2, None)
        assert await office.rows("SELECT count(*) AS n FROM journal") == before
        assert await list_erasures(office.settings) == []


async def test_what_is_not_known_is_refused(office: Office) -> None:
    async with office.sidecar():
        async with office.host() as host:
            await observe(host, "n0")
        with pytest.raises(ContractError, match=r"scope.*'other'.*a scope that"):
            await ask_erasure(office.settings, "other", None, (), dry_run=False)
        with pytest.raises(ContractError, match=r"host.*'nobody'.*a host of s"):
            await ask_erasure(office.settings, "s", "nobody", (), dry_run=False)
        assert await list_erasures(office.settings) == []
        with pytest.raises(UnknownEvidenceError):
            await ask_erasure(
                office.settings, "s", None, ("01ARZ3NDEKTSV4RRFFQ69G5FAV",), dry_run=False
            )
        with pytest.raises(ContractError, match="evidence_ids"):
            await ask_erasure(office.settings, "s", None, ("x",), dry_run=False)
        with pytest.raises(ContractError, match="host"):
            await ask_erasure(
                office.settings, "s", "a", ("01ARZ3NDEKTSV4RRFFQ69G5FAV",), dry_run=True
            )
    with pytest.raises(NotRunningError):
        await ask_erasure(office.settings, "s", None, (), dry_run=True)


async def test_an_erasure_goes_on_after_a_restart(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def idle(self: Eraser) -> None:
        await anyio.sleep_forever()

    with monkeypatch.context() as patched:
        patched.setattr(Eraser, "run", idle)
        async with office.sidecar():
            async with office.host() as host:
                await observe(host, "n0", "n1")
            asked = await ask_erasure(office.settings, "s", "a", (), dry_run=False)
    (row,) = await list_erasures(office.settings)
    assert (row.ended_at, row.payloads) == (None, 0)
    assert await files(office, "n0", "n1") != {}

    async with office.sidecar():
        with anyio.fail_after(WITHIN_S):
            done = await wait_erasure(office.settings, asked)
        assert (done.payloads, done.messages) == (2, 2)
        assert await files(office, "n0", "n1") == {}


async def test_what_rested_on_it_loses_its_support(office: Office) -> None:
    async with office.sidecar(), office.host() as host:
        shown: Any = {"source": "ls", "summary": "there", "resources": (about("/work/n0"),)}
        (seen,) = await host.observe_many([shown])
        proposal = deleting("/work/n0", seen, expected_receipt=ExpectedReceipt(kind="file"))
        verdict = await host.check(proposal)
        assert verdict.status == "passed"
        async with host.dispatch(verdict, proposal) as dispatched:
            dispatched.succeeded(Receipt(kind="file", digest=sha256(b"moved")))
        (receipt,) = await host.observe_many([{"source": "ls", "summary": "s", "detail": "moved"}])
        await office.until("SELECT 1 FROM outcomes WHERE verified = 1")

        await erase(office, "s", None, receipt, seen)

        assert await office.rows("SELECT verified FROM outcomes") == [{"verified": 0}]
        again = await host.check(deleting("/work/n0", seen))
        assert again.status == "held"
        assert again.evaluation is not None
        assert any("unavailable" in str(item) for item in again.evaluation.state_check.items)


async def test_older_copies_are_named_and_lose_it_when_they_come_back(office: Office) -> None:
    place = office.directory / "backup"
    async with office.sidecar():
        async with office.host() as host:
            await observe(host, "n0", "n1")
        await office.until("SELECT 1 WHERE (SELECT count(*) FROM evidence) = 2")
        made = await make_backup(office.settings, place)
        asked = await erase(office, "s", "a")
        assert [backup.backup_id for backup in asked.backups] == [made["backup_id"]]
    assert files_with(place, text_of("n0")) != {}
    await restore_backup(office.settings, place, replace=True)

    async with office.sidecar():
        assert await files(office, "n0", "n1") == {}
    assert await files(office, "n0", "n1") == {}
    assert (await audit_record(office.settings))["sound"]


async def test_ledgers_that_were_set_aside_are_cleaned(office: Office) -> None:
    async with office.sidecar(), office.host() as host:
        await observe(host, "n0")
    kept = (await rebuild_ledger(office.settings, replace=True))["kept"]
    assert kept in {str(office.settings.state_dir / name) for name in await files(office, "n0")}
    async with office.sidecar():
        await erase(office, "s")
        assert await files(office, "n0") == {}


async def test_only_backups_that_may_hold_it_are_named(office: Office) -> None:
    async def made(name: str) -> str:
        return str((await make_backup(office.settings, office.directory / name))["backup_id"])

    async def named(host: str | None, *ids: str) -> list[str]:
        asked = await ask_erasure(office.settings, "s", host, ids, dry_run=True)
        left = await find_left(office.settings, asked, "s", host, ids)
        return [backup.backup_id for backup in reversed(left.backups)]

    (b,) = register_hosts(office.settings, ["s"], "b")
    async with office.sidecar():
        async with office.host(b) as host:
            await observe(host, "n0")
        await office.until("SELECT 1 FROM payloads")
        first = await made("first")
        async with office.host() as host:
            (seen,) = await observe(host, "n1")
        await office.until("SELECT 1 WHERE (SELECT count(*) FROM payloads) = 2")
        second, third = await made("second"), await made("third")
        assert await named("a") == await named(None, seen) == [second, third]
        assert await named(None) == [first, second, third]

        await erase(office, "s", "a")
        after = await made("after")

        assert await named("a") == await named(None, seen) == [second, third]
        (office.directory / "first").rename(office.directory / "elsewhere")
        assert await named("a") == [first, second, third]  # it cannot be looked at
        (office.directory / "after").rename(office.directory / "first")
        assert await named("a") == [first, second, third, after]  # what is there is another one


async def test_a_backup_that_was_broken_off_is_told(office: Office) -> None:
    left = office.directory / f".monday.{'0' * 26}"
    with noting(office.settings.state_dir, office.directory / "monday"):
        left.mkdir()
    command = ("erase", "--scope", "s", "--state-dir", str(office.settings.state_dir))
    async with office.sidecar():
        async with office.host() as host:
            await observe(host, "n0")
        counted = await pmcl(*command, environment=clean_environment())
        erased = await pmcl(*command, "--yes", "--json", environment=clean_environment())

    assert f"may be in {left}: a backup that was broken off" in counted.stdout
    assert msgspec.json.decode(erased.stdout)["broken_off"] == [str(left)]


async def test_copies_that_a_killed_command_left_are_gone_with_the_next_start(
    office: Office,
) -> None:
    async with office.sidecar(), office.host() as host:
        await observe(host, "n0")
    folder = office.settings.state_dir
    names = (
        ".ledger.restored.sqlite.new", "ledger.restored.sqlite", "ledger.rebuilt.sqlite",
        "ledger.rebuilt.sqlite-wal", "ledger.20261203T010203004Z.sqlite",
    )  # fmt: skip
    for name in names:
        (folder / name).write_bytes(office.ledger.read_bytes())

    async with office.sidecar():
        held = await files(office, "n0")

    assert set(held) & set(names) == {"ledger.20261203T010203004Z.sqlite"}  # set aside on purpose


async def test_a_ledger_set_aside_that_cannot_be_cleaned_is_told(office: Office) -> None:
    async with office.sidecar(), office.host() as host:
        await observe(host, "n0")
    newer = office.ledger.with_name("ledger.20261203T010203004Z.sqlite")
    newer.write_bytes(office.copy().read_bytes())
    with closing(sqlite3.connect(newer)) as database:
        database.execute("PRAGMA user_version = 999")
    office.ledger.with_name("ledger.other.sqlite").write_text("no ledger")
    office.ledger.with_name("ledger.clean.sqlite").write_bytes(office.copy().read_bytes())
    command = ("erase", "--scope", "s", "--state-dir", str(office.settings.state_dir), "--yes")
    async with office.sidecar():
        erased = await pmcl(*command, environment=clean_environment())
        again = await pmcl(*command, "--json", environment=clean_environment())

    named = [str(newer), str(newer.with_name("ledger.other.sqlite"))]
    told = [line for line in erased.stdout.splitlines() if "cannot be cleaned" in line]
    assert [line.split()[2].rstrip(":") for line in told] == named
    assert msgspec.json.decode(again.stdout)["not_cleaned"] == named
    assert set(await files(office, "n0")) == {newer.name}


async def test_the_command_counts_first_and_then_erases(office: Office) -> None:
    command = ("erase", "--scope", "s", "--state-dir", str(office.settings.state_dir))
    async with office.sidecar():
        async with office.host() as host:
            await observe(host, "n0", "n1")
        counted = await pmcl(*command, environment=clean_environment())
        assert await files(office, "n0") != {}
        erased = await pmcl(*command, "--yes", "--json", environment=clean_environment())
        assert await files(office, "n0", "n1") == {}
    refused = await pmcl(*command, "--yes", environment=clean_environment())

    assert counted.code == 0, counted.stderr
    assert "would go  2 observations, evaluations: 0" in counted.stdout
    assert erased.code == 0, erased.stderr
    (line,) = erased.stdout.splitlines()
    assert msgspec.json.decode(line)["erasure"]["payloads"] == 2
    assert (refused.code, "no sidecar answers" in refused.stderr) == (1, True)
