"""`pmcl erase` and `erasures`: the running sidecar is asked to erase, and watched while it does."""

from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from pmcl.contracts import Backup, EraseContent, Erasure, convert
from pmcl.ledger import erasures
from pmcl.ledger.erasures import ErasureRow
from pmcl.ops.asking import ask_sidecar, operator_label
from pmcl.ops.console import console
from pmcl.ops.progress import progress
from pmcl.ops.reach import check_ledger
from pmcl.ops.record.asides import uncleaned_asides
from pmcl.ops.record.broken_off import broken_off
from pmcl.ops.record.holding import backups_holding
from pmcl.ops.settings import Settings
from pmcl.store import open_reader

__all__ = [
    "ContentLeft",
    "as_json",
    "ask_erasure",
    "find_left",
    "list_erasures",
    "show_erasure",
    "show_erasures",
    "wait_erasure",
]

_LOOK_S: Final = 0.1


class ContentLeft(msgspec.Struct, frozen=True, kw_only=True):
    """Where content that is erased stays.

    Attributes:
        backups: those that may hold it, of all that the ledger knows.
        asides: ledgers that were set aside and could not be cleaned; none before it is done.
        broken_off: folders of backups that it does not know.
    """

    backups: tuple[Backup, ...]
    asides: tuple[Path, ...]
    broken_off: tuple[Path, ...]


async def ask_erasure(
    settings: Settings,
    scope: str,
    host: str | None,
    evidence_ids: tuple[str, ...],
    *,
    dry_run: bool,
) -> Erasure:
    """Return the erasure that has begun, or what one would be about.

    Raises:
        RefusedError: a name does not fit, or evidence is not known.
        NotRunningError: no sidecar runs.
    """
    asked = EraseContent(
        scope=scope,
        host=host,
        evidence_ids=evidence_ids,
        dry_run=dry_run,
        label=operator_label(),
    )
    question = convert(msgspec.to_builtins(asked), EraseContent)
    return await ask_sidecar(settings, "erase", question, Erasure)


async def find_left(
    settings: Settings,
    erasure: Erasure,
    scope: str,
    host: str | None,
    evidence_ids: tuple[str, ...],
) -> ContentLeft:
    """Return where content of the erasure stays, whether it is done or not."""
    holding = await backups_holding(erasure.backups, scope, host, evidence_ids)
    unknown = await anyio.to_thread.run_sync(broken_off, settings.state_dir)
    asides = [] if erasure.erasure_id is None else await uncleaned_asides(settings.ledger_path)
    return ContentLeft(backups=tuple(holding), asides=tuple(asides), broken_off=tuple(unknown))


async def wait_erasure(settings: Settings, erasure: Erasure, *, quiet: bool = True) -> ErasureRow:
    """Return the erasure when it has ended; to stop waiting does not stop it."""
    assert erasure.erasure_id is not None
    total = erasure.observations + (erasure.evaluations or 0)
    async with open_reader(settings.ledger_path) as reader:
        with progress("erase", total, quiet=quiet) as advance:
            shown = 0
            while True:
                row = await erasures.find(reader, erasure.erasure_id)
                assert row is not None
                advance(row.payloads - shown)
                shown = row.payloads
                if row.ended_at is not None:
                    return row
                await anyio.sleep(_LOOK_S)


async def list_erasures(settings: Settings) -> list[ErasureRow]:
    """Return the erasures of this ledger, newest first."""
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        return await erasures.listed(reader)


def show_erasure(asked: Erasure, done: ErasureRow | None, left: ContentLeft) -> None:
    """Print what was erased, or would be, and where content still is."""
    if done is None:
        also = "what names them" if asked.evaluations is None else asked.evaluations
        console.print(f"would go  {asked.observations} observations, evaluations: {also}")
        console.print("Nothing was changed: --yes erases.")
    else:
        console.print(f"erasure   {done.erasure_id}")
        console.print(f"gone      {done.payloads} payloads, {done.messages} messages")
    for backup in left.backups:
        console.print(f"still in  {backup.place} ({backup.backup_id})", soft_wrap=True)
    for path in left.asides:
        told = f"still in  {path}: it was set aside and cannot be cleaned. Remove it."
        console.print(told, soft_wrap=True)
    for path in left.broken_off:
        told = f"may be in {path}: a backup that was broken off. Make it again, or remove it."
        console.print(told, soft_wrap=True)
    if left.backups:
        console.print(
            "Remove these backups, or make new ones and then remove these. One that is restored "
            "loses the content again as soon as it has LOG's rest, but its folder keeps it.",
            soft_wrap=True,
        )


def show_erasures(found: list[ErasureRow]) -> None:
    """Print a list for people."""
    if not found:
        console.print("Nothing was ever erased.")
    for row in found:
        whose = row.scope if row.host is None else f"{row.scope}/{row.host}"
        single = f", {len(row.evidence_ids)} observations" if row.evidence_ids else ""
        state = "open" if row.ended_at is None else f"done, {row.messages} messages"
        console.print(
            f"{row.erasure_id}  {whose}{single}  {row.payloads} payloads  {state}", soft_wrap=True
        )


def as_json(asked: Erasure, done: ErasureRow | None, left: ContentLeft) -> dict[str, Any]:
    """Return what `--json` prints."""
    row = None if done is None else msgspec.to_builtins(done)
    return {
        **msgspec.to_builtins(asked),
        "erasure": row,
        "holding": [backup.backup_id for backup in left.backups],
        "not_cleaned": [str(path) for path in left.asides],
        "broken_off": [str(path) for path in left.broken_off],
    }
