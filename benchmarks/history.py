"""A ledger that has seen much already: rows copied from one that the sidecar itself recorded."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio.to_thread

from benchmarks.sidecar import Sidecar, connected_hosts, running, up
from pmcl.hosts import Host

__all__ = ["evidence_id", "with_history"]

_NUMBERS = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows)
"""
_EVIDENCE = f"""
INSERT INTO evidence (scope, evidence_id, host, key, generation, source, trust, domain, modality,
                      confidence, visibility, observed_at, evidence_ids, resource_keys, commitment,
                      size_bytes)
{_NUMBERS}
SELECT scope, printf('%026d', n), host, 'copy-' || n, generation, source, trust, domain, modality,
       confidence, visibility, observed_at, evidence_ids, resource_keys, commitment, size_bytes
FROM numbers, (SELECT * FROM evidence LIMIT 1)
"""
_PAYLOADS = f"""
INSERT INTO payloads (scope, id, salt, content, detail_digest, told, excerpt)
{_NUMBERS}
SELECT scope, printf('%026d', n), salt, content, printf('%064d', n), told, excerpt
FROM numbers, (SELECT * FROM payloads WHERE told IS NOT NULL LIMIT 1)
"""


def evidence_id(number: int) -> str:
    """Return the id of a copy, counted from 1."""
    return f"{number:026d}"


@asynccontextmanager
async def with_history(directory: Path, rows: int) -> AsyncIterator[Sidecar]:
    """Run a sidecar of one host that recorded `rows` observations before it was started."""
    async with running(directory, 1) as sidecar, connected_hosts(sidecar) as (host,):
        await _observe(host)
    await anyio.to_thread.run_sync(_copy, directory / "state/ledger.sqlite", rows)
    async with up(directory / "state"):  # its ports are kept
        yield sidecar


async def _observe(host: Host) -> None:
    await host.observe(
        source="files/read_file",
        summary="the section about fees was read",
        detail="Fees are due on the third of the month. " * 10,
    )


def _copy(ledger: Path, rows: int) -> None:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        database.execute(_EVIDENCE, {"rows": rows})
        database.execute(_PAYLOADS, {"rows": rows})
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        (found,) = database.execute("SELECT count(*) FROM evidence").fetchone()
    assert found == rows + 1, found
