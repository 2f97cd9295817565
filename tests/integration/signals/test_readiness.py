"""Readiness follows each part of a running sidecar, down and up again."""

import os
import signal
import sqlite3
from contextlib import closing

import pytest

from pmcl.bus import DURABLES, INTAKE, LOG
from pmcl.bus.jetstream import call
from pmcl.ops.doctor import examine
from pmcl.ops.status import read_status, show_status
from pmcl.store import StatementError
from pmcl.workers import checkpoint
from tests.integration.signals.conftest import House

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than needed to see a part fall silent."""
    monkeypatch.setattr("pmcl.ops.signals.vitals.SILENCE_S", 2.0)
    monkeypatch.setattr("pmcl.ops.signals.vitals.STUCK_S", 1.0)


def tell_server(house: House, number: signal.Signals) -> None:
    server = house.cell._server
    assert server is not None
    if server.pid is not None:  # else it is just being started again
        os.kill(server.pid, number)


async def test_suspended_server(house: House) -> None:
    await house.becomes()
    tell_server(house, signal.SIGSTOP)
    await house.becomes("connection", "intake")
    assert (await house.wire.get("/v1/health")).status == 200
    tell_server(house, signal.SIGCONT)
    await house.becomes()


async def test_killed_server(house: House) -> None:
    tell_server(house, signal.SIGKILL)
    await house.falls("connection")
    await house.becomes()


async def test_consumer_that_cannot_be_made_again(house: House) -> None:
    async with house.cell.admin() as admin:
        await call(admin, f"STREAM.DELETE.{INTAKE}")
        blocking = {"name": "BLOCKS", "subjects": list(DURABLES.values()), "storage": "memory"}
        await call(admin, "STREAM.CREATE.BLOCKS", blocking)
        await house.becomes("intake")
        await call(admin, "STREAM.DELETE.BLOCKS")
        await house.becomes()


async def test_log_that_takes_no_row(house: House) -> None:
    async with house.cell.admin() as admin:
        config = (await call(admin, f"STREAM.INFO.{LOG}"))["config"]
        await house.wire.begin()
        await house.becomes()
        full = config | {"max_msgs": 1}
        await call(admin, f"STREAM.UPDATE.{LOG}", full)
        assert (await house.wire.post("/v1/turns", {"turn_id": "turn-1"})).status == 200
        await house.becomes("relay")
        await call(admin, f"STREAM.UPDATE.{LOG}", config)
        await house.becomes()


async def test_ledger_that_cannot_be_written(house: House) -> None:
    with closing(sqlite3.connect(house.settings.ledger_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await house.becomes("writer")
        other.execute("ROLLBACK")
        await house.becomes()


async def test_checks_that_all_end_in_a_defect(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise StatementError(house.settings.ledger_path, 'fts5: syntax error near "\'"')

    await house.wire.begin()
    with monkeypatch.context() as broken:
        broken.setattr(checkpoint, "_collect", refused)
        for number in range(3):
            verdict = await house.wire.check("write_file", f"/tmp/{number}")
            assert verdict["reasons"] == ["degraded.ledger_unavailable"]
    await house.becomes("requests")
    await house.becomes("requests")
    assert {"ready", "defects"} <= await wrong(house)
    show_status(await read_status(house.settings))
    told = capsys.readouterr().out
    assert "3 requests met a defect of the sidecar, the last a checkpoint (StatementError" in told
    assert "fts5" not in told
    await house.wire.check("write_file", "/tmp/3")
    await house.becomes()
    assert "ready" not in await wrong(house)
    assert "defects" in await wrong(house), "what was held for it stays told"


async def wrong(house: House) -> set[str]:
    """What the doctor finds to be wrong."""
    report = await examine(house.settings, house.settings.state_dir)
    return {finding["check"] for finding in report["findings"] if finding["state"] == "wrong"}
