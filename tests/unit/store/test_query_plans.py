"""No named query of any package reads a whole table, but for those that say why."""

import sqlite3
from pathlib import Path

import pytest

import pmcl.store
from pmcl.store import Queries

FOLDERS = Path(pmcl.store.__file__).parents[1]
_PATHS = sorted({*FOLDERS.glob("*/*.sql"), *FOLDERS.glob("*/*/*.sql")})
FILES = {f"{path.parent.name}/{path.stem}": path for path in _PATHS}
# A file of its own, and who else reads it; all others share the ledger's.
HOST_FILE = "outbox/host_file"
HOST_FILES = {HOST_FILE, "ops/outbox", "program/house"}

SCANS = {
    ("outbox/journal", "head"): "reads one row, from the end of the key",
    ("outbox/inbox", "seen"): "the 256 numbers that its own subquery found by key",
    ("ledger/evaluations", "pending"): "the 16 ids that its own subquery found by key",
    ("outbox/host_file", "late_reservations"): "as many rows as calls are on their way",
    ("outbox/host_file", "owners"): "as many rows as calls are on their way",
    ("ledger/evidence", "supports"): "the ids that it was given, each found by key",
    ("ledger/items", "contradict"): "the ids that it was given",
    ("ledger/recalling", "holding"): "the index of words itself, for one word",
    ("ledger/recalling", "numbered"): "the numbers that it was given, each found by key",
    ("ledger/resting", "rest"): "the ids that it was given",
    ("ledger/lessons", "cited"): "three runs that its own subquery found by key",
    ("ledger/lessons", "free_evidence"): "the 64 texts that its own subquery found by key",
    ("ledger/lessons", "unsupported_runs"): "the 128 runs that its own subqueries found by key",
    ("ledger/outcomes", "linkable"): "parked outcomes only: they leave as soon as they link",
    ("ops/holds", "reasons"): "asked by an operator who found none of a reason",
    ("ledger/approvals", "waiting"): "asked by an operator; a bounded number of each host",
    ("ledger/approvals", "orphaned"): "those that wait only: a bounded number of each host",
    ("ledger/backups", "newest"): "256 rows at most, from the end of the key",
    ("ledger/erasures", "first_open"): "those that go on: very few",
    ("ledger/erasures", "newest"): "256 rows at most, from the end of the key",
    ("ledger/erasures", "counts"): "asked by an operator who erases",
    ("ledger/erasures", "naming"): "the ids that it was given, and one payload after another",
    ("ledger/erasures", "keys_of"): "the ids that it was given, each found by key",
    ("ledger/erasures", "standing"): "the ids that it was given, each found by key",
    ("ledger/erasures", "gone"): "the names that it was given, each found by key",
    ("ledger/payloads", "lacking"): "asked by an operator, never while a verdict waits",
    ("ledger/payloads", "found"): "the ids that it was given, each found by key",
    ("ledger/payloads", "stray"): "asked by an operator, never while a verdict waits",
    ("ledger/leases", "live"): "asked by an operator; one of each host at most",
    ("ledger/reflections", "overdue"): "open cycles only, by their own index: one of each host",
    ("ledger/reflections", "ready"): "hosts with a job that waits only, by their own index",
    ("ledger/stops", "in_force"): "one row at most, from an index of its own",
    ("ledger/stops", "resume"): "one row at most, from an index of its own",
    ("ops/outbox", "unsent"): "a host's file; asked by an operator",
    ("ops/outbox", "parked"): "1,000 rows at most; asked by an operator",
    ("ops/outbox", "parked_rows"): "1,000 rows at most; asked by an operator",
    ("ops/outbox", "waiting_rows"): "256 rows at most, from the start of the key",
    ("outbox/host_file", "count_parked"): "1,000 rows at most; asked by an operator",
    ("ops/outbox", "claims"): "open claims only, by their own index",
    ("ops/lessons", "listed"): "asked by an operator, never while a verdict waits",
    ("ops/holds", "open"): "asked by an operator, never while a verdict waits",
    ("ops/evidence", "one"): "the scopes of leases, by their own index; asked by an operator",
    ("ops/unlinked", "unlinked"): "asked by an operator, never while a verdict waits",
    ("ops/reflections", "listed"): "256 rows at most, from the end of the key",
    ("ops/reflections", "hosts"): "one row of each host; asked by an operator",
    ("ops/status", "stopped"): "one row at most, from an index of its own",
    ("ops/status", "counts"): "asked by an operator, never while a verdict waits",
    ("ops/status", "standing"): "those that wait only, by their own index; and the stop in force",
    ("dashboard/needs", "waiting"): "what is open now, and what a damaged store has lost",
    ("dashboard/work", "turns"): "asked by an operator, never while a verdict waits",
    ("ops/calibration", "holds"): "asked by an operator, never while a verdict waits",
    ("ops/calibration", "known"): "asked by an operator, never while a verdict waits",
    ("ops/demo", "acts"): "a ledger of a few rows",
    ("ops/demo", "counts"): "a ledger of a few rows",
    ("ops/demo", "cycle"): "a ledger of a few rows",
    ("ops/demo", "recommended"): "a ledger of a few rows",
    ("signals/gauges", "open"): "what is open now only, by indexes of its own",
}


# A whole ledger is held against another one, by an operator who waits for it.
SCANS |= {
    ("record/compare", name): "compares whole tables"
    for name in Queries(FILES["record/compare"].read_text()).texts
}


class Unbound(dict[str, None]):
    """Any parameter, without a value: a plan does not depend on it."""

    def __missing__(self, name: str) -> None:
        return None


def database_of(file: str) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    for other, path in FILES.items():
        if (other in HOST_FILES) == (file in HOST_FILES):
            database.executescript(Queries(path.read_text()).schema)
    return database


def scans(database: sqlite3.Connection, text: str) -> list[str]:
    plan = database.execute(f"EXPLAIN QUERY PLAN {text}", Unbound()).fetchall()
    steps = [step for *_, step in plan]
    return [step for step in steps if step.startswith("SCAN") and "CONSTANT ROW" not in step]


def test_files_of_every_package_are_found() -> None:
    assert {"outbox/journal", "outbox/inbox", HOST_FILE} <= FILES.keys()
    assert any(file.startswith("ledger/") for file in FILES)


@pytest.mark.parametrize("file", FILES)
def test_queries_use_an_index(file: str) -> None:
    database = database_of(file)
    try:
        found = {
            name: scanned
            for name, text in Queries(FILES[file].read_text()).texts.items()
            if (scanned := scans(database, text)) and (file, name) not in SCANS
        }
    finally:
        database.close()
    assert found == {}


def test_a_scan_would_be_found() -> None:
    database = database_of("outbox/journal")
    try:
        assert scans(database, "SELECT 1 FROM journal WHERE hash = :hash")
    finally:
        database.close()


def test_tables_are_strict() -> None:
    for file in ("outbox/journal", HOST_FILE):
        database = database_of(file)
        try:
            tables = database.execute("PRAGMA table_list").fetchall()
        finally:
            database.close()
        loose = [name for _, name, kind, _, _, strict in tables if kind == "table" and not strict]
        assert [name for name in loose if not name.startswith("sqlite_")] == []
