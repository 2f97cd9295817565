"""Ledgers that a rebuild or a restore has set aside lose whatever was ever erased, or are told."""

from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import structlog

from pmcl.contracts import LedgerError
from pmcl.ledger import erasures, ledger_config, payloads
from pmcl.store import Reader, Transaction, Writer, open_reader, open_writer

__all__ = ["clean_asides", "empty_log", "uncleaned_asides"]

log = structlog.get_logger()

_RETRY_S: Final = 0.2
_READ_ROWS: Final = 100


async def clean_asides(ledger: Path, reader: Reader) -> None:
    """What was erased in the ledger, ever, is in none of those set aside that could be opened.

    Args:
        ledger: beside which they lie.
        reader: of the ledger.
    """
    for path in await anyio.to_thread.run_sync(_asides, ledger):
        try:
            await _clean(path, reader)
        except LedgerError as error:
            log.error("erasure.not_cleaned", path=str(path), error=type(error).__name__)


async def uncleaned_asides(ledger: Path) -> list[Path]:
    """Return those that still have something that was erased, or cannot be looked at."""
    found = []
    async with open_reader(ledger) as reader:
        for path in await anyio.to_thread.run_sync(_asides, ledger):
            try:
                if await _has_erased(path, reader):
                    found.append(path)
            except LedgerError:
                found.append(path)
    return found


async def empty_log(writer: Writer) -> None:
    """The write-ahead log is empty; readers of other processes are waited for."""
    while not await writer.truncate():  # noqa: ASYNC110
        await anyio.sleep(_RETRY_S)


async def _clean(path: Path, reader: Reader) -> None:
    async with open_writer(ledger_config(path)) as writer:
        after = 0
        async with open_reader(path) as aside:
            while rows := await erasures.kept(aside, after, _READ_ROWS):
                names = [(row["scope"], row["id"]) for row in rows]
                gone = await erasures.gone(reader, names)
                await writer.run(partial(_remove, gone))
                after = rows[-1]["place"]
        await writer.run(payloads.optimize_words)
        await empty_log(writer)


async def _has_erased(path: Path, reader: Reader) -> bool:
    after = 0
    async with open_reader(path) as aside:
        while rows := await erasures.kept(aside, after, _READ_ROWS):
            if await erasures.gone(reader, [(row["scope"], row["id"]) for row in rows]):
                return True
            after = rows[-1]["place"]
    return False


def _remove(gone: list[tuple[str, str]], tx: Transaction) -> int:
    return erasures.remove(tx, gone)


def _asides(ledger: Path) -> list[Path]:
    return sorted(ledger.parent.glob(f"{ledger.stem}.*{ledger.suffix}"))
