"""A ledger that goes back to an older copy under load loses nothing that LOG or INTAKE has."""

import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pmcl.bus import LOG, stream_state
from tests.acceptance.facts import count, log_is_the_journal, rows, until
from tests.acceptance.load import Load, loading
from tests.acceptance.world import World

pytestmark = pytest.mark.anyio

ROW = "SELECT sequence, subject, body, hash FROM journal WHERE sequence <= :last ORDER BY sequence"


def copy_of(ledger: Path, name: str) -> Path:
    """A copy of the ledger while the sidecar writes it."""
    path = ledger.with_name(name)
    with closing(sqlite3.connect(ledger)) as database:
        database.execute("VACUUM INTO ?", (str(path),))
    return path


def put_back(ledger: Path, copy: Path) -> None:
    for suffix in ("-wal", "-shm"):
        ledger.with_name(ledger.name + suffix).unlink(missing_ok=True)
    shutil.copyfile(copy, ledger)


@pytest.mark.long
async def test_an_older_copy_under_load_takes_all_of_log_and_intake(world: World) -> None:
    async with loading(world.host()) as load:
        async with world.sidecar() as sidecar, world.admin() as admin:
            await load.grows(acked=500, used=10)
            older = copy_of(world.ledger, "older.sqlite")
            await load.grows(acked=1000, used=20)
            sidecar.send(signal.SIGKILL)
            await sidecar.ends()
            state = await stream_state(admin, LOG)
        assert state is not None
        newest = copy_of(world.ledger, "newest.sqlite")
        put_back(world.ledger, older)
        async with world.sidecar(), world.admin() as admin:
            await load.grows(acked=500, used=10)
            load.stopped = True
            await until(lambda: recorded(world, load), within_s=40)
            await log_is_the_journal(world.ledger, admin)

    told = {"last": state.last}
    assert await count(older, "journal") < state.last
    assert [tuple(row) for row in await rows(world.ledger, ROW, **told)] == [
        tuple(row) for row in await rows(newest, ROW, **told)
    ]
    await expect_payloads(world)
    await expect_outcomes(world, load, newest, state.last)


async def recorded(world: World, load: Load) -> bool:
    """Return whether all that was acknowledged is evidence, each once."""
    found = [row["evidence_id"] for row in await rows(world.ledger, "SELECT * FROM evidence")]
    assert len(found) == len(set(found))
    waiting = await count(world.ledger, "inbox_beyond")
    return set(load.acked) <= set(found) and not waiting


async def expect_payloads(world: World) -> None:
    """INTAKE holds every observation, so no evidence is without its payload."""
    lacking = await rows(
        world.ledger,
        "SELECT 1 FROM evidence AS e WHERE NOT EXISTS"
        " (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evidence_id)",
    )
    assert lacking == []


async def expect_outcomes(world: World, load: Load, newest: Path, last: int) -> None:
    """What was used is closed once; only verdicts that LOG never got are not known any more."""
    lost = await rows(
        newest,
        "SELECT json_extract(body, '$.evaluation_id') AS id FROM journal"
        " WHERE sequence > :last AND subject LIKE '%.evaluated'",
        last=last,
    )

    async def closed() -> bool:
        outcomes = await rows(
            world.ledger, "SELECT evaluation_id AS id FROM outcomes WHERE corrected_by IS NULL"
        )
        ids = [row["id"] for row in outcomes]
        assert len(ids) == len(set(ids))
        return set(load.used) - set(ids) <= {row["id"] for row in lost}

    await until(closed)
    assert await count(world.ledger, "listed_outcomes") == 0
