"""One text in every place that content may come to: erased, it is in none of them."""

import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import closing

import anyio.to_thread
import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.bus import DEADLETTERS, INTAKE, Connection, stored_message
from pmcl.contracts import (
    DeadLetter,
    Justification,
    Outcome,
    PlanStep,
    Premortem,
    Receipt,
    Tool,
    encode,
    sha256,
)
from pmcl.hosts import Host, Proposal
from pmcl.hosts.clock import wall_ms
from pmcl.hosts.outstanding import claim_of
from pmcl.ops.cell import Cell
from pmcl.ops.record.audit import audit_record
from pmcl.ops.record.backup import make_backup
from pmcl.ops.record.rebuild import rebuild_ledger
from pmcl.outbox import open_host_file
from tests.acceptance.facts import until
from tests.acceptance.world import about, deleting, reading
from tests.integration.record.content import files_with, open_files_with, words, words_left
from tests.integration.record.office import WITHIN_S, Office
from tests.integration.record.test_erasing import erase
from tests.integration.reflection.mind import proposals
from tests.stub_model import StubModel, open_stub_model

pytestmark = pytest.mark.anyio

TEXT = f"{words('everywhere')} Grüße „{words('quoted', 3)}“"
DETAIL = f"{TEXT}\n" * 200
STREAMS = "state/nats/jetstream/jetstream/CORE/streams"
PLACES = {
    "state/ledger.sqlite",
    "state/ledger.sqlite-wal",
    f"{STREAMS}/{INTAKE}/msgs/1.blk",
    f"{STREAMS}/{DEADLETTERS}/msgs/1.blk",
}


@pytest.fixture
def office(office: Office, monkeypatch: pytest.MonkeyPatch) -> Office:
    """An office whose processes have their temporary files below its own folder."""
    temporary = office.directory / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return office


@pytest.fixture
async def model() -> AsyncIterator[StubModel]:
    """A model that repeats what it read, in a way that is kept and in ways that are refused."""
    async with open_stub_model() as stub:
        stub.content = proposals(
            ("memory", TEXT, "e1"),
            ("memory", f"I feel {TEXT}", "e1"),
            ("recommendation", TEXT, "e1"),
            ("working_state", TEXT, "e1"),
        )
        yield stub


async def check_all(host: Host, seen: str) -> None:
    """Every text that a checkpoint takes is the one that is looked for."""
    step = PlanStep(
        tool=Tool(server="files", name="read_file", definition_hash="d" * 64),
        arguments={"path": "/work/n0", "note": TEXT},
        resources=(about("/work/n0"),),
    )
    premortem = Premortem(
        failure_mode="data_loss", likelihood=0.2, mitigation=TEXT, evidence_ids=(seen,)
    )
    why = Justification(necessity=TEXT, lower_risk_alternatives=(TEXT,), residual_risks=(TEXT,))
    call = msgspec.structs.replace(
        deleting("/work/n0", goal=TEXT, premortem=premortem, justification=why),
        arguments={"path": "/work/n0", "note": TEXT, TEXT[:20]: [TEXT]},
        expected_outcome=TEXT,
        rejected_alternatives=(TEXT,),
        evidence_ids=(seen,),
    )
    for asked in (
        call,
        Proposal.plan(TEXT, [step], expected_outcome=TEXT, evidence_ids=(seen,)),
        Proposal.recommendation(TEXT, TEXT, evidence_ids=(seen,)),
    ):
        assert (await host.check(asked)).evaluation is not None
    await host.context(TEXT)


async def report_all(office: Office, host: Host) -> None:
    """A call fails with the text, one succeeds with its receipt; two results are parked."""
    proposal = reading("/work/n0", goal=TEXT)
    verdict = await host.check(proposal)
    with pytest.raises(ValueError, match="Grüße"):
        async with host.dispatch(verdict, proposal):
            raise ValueError(TEXT)
    proposal = reading("/work/n0", goal=TEXT)
    async with host.dispatch(await host.check(proposal), proposal) as dispatched:
        dispatched.succeeded(Receipt(kind="file", digest=sha256(DETAIL.encode())))
    await office.until("SELECT 1 WHERE (SELECT count(*) FROM outcomes) >= 2")
    proposal = reading("/work/n0", goal=TEXT)
    verdict = await host.check(proposal)
    host._session.outstanding.remove(verdict)
    async with open_host_file(office.directory / "hosts" / "s.a.sqlite") as file:
        await file.claim(claim_of(verdict))
        result = Outcome(
            outcome_id=ulid_now(), evaluation_id=verdict.claim_id,
            proposal_hash=verdict.proposal_hash, status="succeeded", finished_at=wall_ms(),
        )  # fmt: skip
        await file.park([(await file.finish(result)).number])


async def bury(cell: Cell, admin: Connection) -> None:
    """The first message of INTAKE, the observation, is a dead letter, too."""
    stored = await stored_message(admin, INTAKE, 1)
    assert stored is not None
    letter = DeadLetter(
        subject=stored.subject, headers={}, payload=stored.data, reason="ValueError", attempts=5
    )
    async with cell.connect("worker") as worker:
        await worker.request("pmcl.v1.deadletter.observe", encode(letter), timeout_s=WITHIN_S)


async def scan(office: Office, cell: Cell | None = None) -> dict[str, list[str]]:
    """Where the text is: in all files of the office, and in those that its processes have open."""
    found = await anyio.to_thread.run_sync(files_with, office.directory, TEXT)
    if cell is not None:
        assert cell._server is not None
        pids = [os.getpid(), cell._server.pid or 0]
        held = await anyio.to_thread.run_sync(open_files_with, pids, TEXT)
        inside = f"{office.directory}/"
        found |= {name.removeprefix(inside): held[name] for name in held if inside in name}
    return found


async def spread(office: Office, cell: Cell) -> None:
    """The text came to every place, and nothing of that is still under way."""
    async with office.host() as host:
        evidence_id = await host.observe(
            source="read_file", summary=TEXT, detail=DETAIL, resources=(about("/work/n0"),)
        )
        await check_all(host, evidence_id)
        await report_all(office, host)
        await host.complete("turn-1")
        await office.until("SELECT 1 FROM reflections WHERE result = 'proposed'")
        (cycle,) = await office.rows("SELECT admitted, rejected FROM reflections")
        assert (cycle["admitted"], cycle["rejected"]) == (3, 1)
    async with cell.admin() as admin:
        await bury(cell, admin)
    with closing(sqlite3.connect(office.ledger)) as database:  # some in the file, more in the log
        database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


async def test_a_text_that_came_to_every_place_is_in_none_but_the_backups_told(
    office: Office, model: StubModel
) -> None:
    office.settings = msgspec.structs.replace(office.settings, model_url=model.url)
    state = office.settings.state_dir
    async with office.sidecar() as cell:
        await spread(office, cell)
        made = await make_backup(office.settings, office.directory / "backup")
        before = await scan(office, cell)
        assert set(before) >= {*PLACES, "backup/ledger.sqlite"}
        assert [name for name in before if "/LOG/" in name or name.startswith("hosts/")] == []
        assert words_left(state, TEXT) != set()

        asked = await erase(office, "s", "a")

        assert [backup.place for backup in asked.backups] == [made["place"]]
        assert set(await scan(office, cell)) == {"backup/ledger.sqlite"}
        assert words_left(state, TEXT) == set()
    assert set(await scan(office)) == {"backup/ledger.sqlite"}
    assert words_left(state, TEXT) == set()
    report = await audit_record(office.settings)
    assert report["sound"], report
    assert report["payloads"]["checked"] == report["payloads"]["absent"] == 0
    assert await office.rows("SELECT 1 FROM items WHERE state = 'live'") == []
    assert await office.rows("SELECT 1 FROM outcomes WHERE verified = 1") == []
    assert (await rebuild_ledger(office.settings))["same"]
    # What stays on purpose: the digest that a host reported as its receipt.
    assert files_with(state, sha256(DETAIL.encode())) != {}


async def test_what_a_model_had_read_before_the_erasure_is_not_kept_after_it(
    office: Office, model: StubModel
) -> None:
    office.settings = msgspec.structs.replace(office.settings, model_url=model.url)
    model.content = proposals(("memory", TEXT, "e1"), ("memory", f"I feel {TEXT}", "e2"))
    model.open.clear()

    async def asked() -> bool:
        return model.asked != []

    async with office.sidecar(), office.host() as host:
        gone = await host.observe(source="read_file", summary=TEXT)
        await host.observe(source="ls", summary=words("beside"))  # the newer one is e1
        await host.complete("turn-1")
        await office.until("SELECT 1 FROM reflections")
        await until(asked)

        await erase(office, "s", None, gone)
        model.open.set()
        await office.until("SELECT 1 FROM reflections WHERE ended_at IS NOT NULL")

        rows = await office.rows("SELECT result, reason FROM reflections")
        assert rows == [{"result": "skipped", "reason": "evidence_erased"}]
        assert await scan(office) == {}
        assert words_left(office.settings.state_dir, TEXT) == set()
