"""`pmcl rebuild`: events are folded into an empty ledger, which is held against the old one.

Inputs are never folded. A payload comes from the old ledger where an envelope commits to it. The
new file replaces the old one only where that was asked for, and the old one is kept beside it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.bus import LOG, Connection, stream_state
from pmcl.ledger import FoldError, fold, ledger_config, payloads
from pmcl.ops.console import console
from pmcl.ops.progress import progress
from pmcl.ops.reach import check_file, is_there, reach_log
from pmcl.ops.record.compare import COMPARED, TableReport, compare_ledgers
from pmcl.ops.record.folding import fold_rows
from pmcl.ops.record.replacing import replace_ledger
from pmcl.ops.record.unfinished import REBUILT, remove_unfinished, take_up_replacing
from pmcl.ops.settings import Settings
from pmcl.outbox import begin_fold, journal
from pmcl.outbox.journal import JournalRow
from pmcl.store import Row, Transaction, Writer, open_reader, open_writer

__all__ = ["rebuild_ledger", "show_rebuild"]

_UNIT_ROWS: Final = 200


async def rebuild_ledger(
    settings: Settings, source: Path | None = None, *, replace: bool = False, quiet: bool = True
) -> dict[str, Any]:
    """Return how a ledger made of events alone compares with the one that is there.

    Args:
        settings: name the ledger and its server.
        source: a ledger whose journal is folded; without it LOG is, and behind LOG's end what the
            ledger has not relayed yet.
        replace: the new ledger takes the old one's place; the next start takes from INTAKE what
            payloads it lacks.
        quiet: show no progress.

    Returns:
        `{"rows", "tables": [{"table", "rows", "old", "new", "first"}], "same", "payloads":
        {"copied", "unavailable"}, "kept": path of the old one when it was replaced}`.

    Raises:
        StateDirInUseError: a sidecar runs.
        FoldError: the events are not whole; nothing was replaced.
        LedgerError, BusError: something cannot be read.
    """
    if source is not None:
        check_file(source)
    async with reach_log(settings, alone=True) as connection, _new_file(settings) as new:
        async with open_writer(ledger_config(new)) as writer:
            if source is None:
                rows = await _fold_log(connection, writer, settings.ledger_path, quiet=quiet)
            else:
                rows = await _fold_journal(writer, source, 0, quiet=quiet)
            origins = [source or settings.ledger_path, settings.ledger_path]
            copied = await _copy_payloads(writer, list(dict.fromkeys(origins)))
            unavailable = await writer.run(payloads.count_lacking)
        tables = await _compare(settings.ledger_path, new, quiet=quiet)
        kept = replace_ledger(settings.state_dir, new) if replace else []
    return {
        "rows": rows,
        "tables": [msgspec.to_builtins(table) for table in tables],
        "same": all(table.same for table in tables),
        "payloads": {"copied": copied, "unavailable": unavailable},
        "kept": str(kept[0]) if kept else None,
    }


@asynccontextmanager
async def _new_file(settings: Settings) -> AsyncIterator[Path]:
    """Yield where the new ledger is made; what is still there afterwards is removed."""
    path = settings.ledger_path.with_name(REBUILT)
    take_up_replacing(path.parent)
    try:
        yield path
    finally:
        remove_unfinished(path.parent)


async def _fold_log(connection: Connection, writer: Writer, old: Path, *, quiet: bool) -> int:
    """Return how many rows were folded: LOG's, then those that the old ledger has not relayed."""
    state = await stream_state(connection, LOG)
    last = 0 if state is None else state.last
    with progress("fold", last, quiet=quiet) as advance:
        await fold_rows(connection, writer, 0, last, advance)
    if not is_there(old):
        return last
    try:
        return await _fold_journal(writer, old, last, quiet=True)
    except FoldError as error:  # then it is another history, and comparing will say so
        if error.sequence != last + 1:
            raise
        return last


async def _fold_journal(writer: Writer, source: Path, after: int, *, quiet: bool) -> int:
    """Return the last row; the journal of `source` is folded behind `after`."""
    async with open_reader(source) as reader:
        head = await journal.last(reader)
        with progress("fold", max(0, head.sequence - after), quiet=quiet) as advance:
            while rows := await journal.read(reader, after, max_rows=_UNIT_ROWS):
                await writer.run(partial(_fold, rows))
                after = rows[-1].sequence
                advance(len(rows))
    return after


def _fold(rows: list[JournalRow], tx: Transaction) -> None:
    begin_fold(tx, 0)
    for row in rows:
        fold(tx, row)


async def _copy_payloads(writer: Writer, origins: list[Path]) -> int:
    """Return how many payloads were kept, of the first origin that has each."""
    copied = 0
    for origin in origins:
        if not is_there(origin):
            continue
        async with open_reader(origin) as reader:
            after = 0
            while rows := await payloads.kept_after(reader, after, _UNIT_ROWS):
                copied += await writer.run(partial(_copy, rows))
                after = rows[-1]["payload"]
    return copied


def _copy(rows: list[Row], tx: Transaction) -> int:
    return sum(payloads.copy_kept(tx, row) for row in rows)


async def _compare(old: Path, new: Path, *, quiet: bool) -> list[TableReport]:
    if not is_there(old):
        return []
    with progress("compare", len(COMPARED), quiet=quiet) as advance:
        return await compare_ledgers(old, new, advance)


def show_rebuild(report: dict[str, Any]) -> None:
    """Print a report for people."""
    console.print(f"folded    {report['rows']} rows")
    kept = report["payloads"]
    console.print(f"payloads  {kept['copied']} from the ledger, {kept['unavailable']} unavailable")
    if not report["tables"]:
        console.print("compared  nothing: there was no ledger")
    for table in report["tables"]:
        if table["old"] == table["new"]:
            continue
        first = table["first"]
        columns = ", ".join(first["columns"])
        console.print(f"differs   {table['table']}, row {first['row']}: {columns}", soft_wrap=True)
    if report["tables"] and report["same"]:
        rows = sum(table["rows"] for table in report["tables"])
        console.print(f"compared  {len(report['tables'])} tables, {rows} rows: the same")
    if report["kept"] is not None:
        console.print(f"replaced  the old ledger is {report['kept']}", soft_wrap=True)
