"""A ledger takes another's place in steps, and whoever comes next goes on where they were cut off.

It is decided once the new ledger waits under a name with the time that the old one will bear. Until
then the old one is untouched, and from then on no step can be taken twice.
"""

from pathlib import Path
from typing import Final

import structlog

from pmcl.contracts import LedgerError
from pmcl.ops.record.files import copy_private, digest_of, set_aside, stamp, sync_folder
from pmcl.ops.record.verify_backup import KEY, LEDGER

__all__ = ["finish_replacing", "is_cut_off", "replace_ledger"]

log = structlog.get_logger()

_WAITING: Final = "waiting"


def replace_ledger(folder: Path, new: Path, key: Path | None = None) -> list[Path]:
    """Return where what was replaced lies now; if it is cut off, whoever comes next goes on.

    Args:
        folder: the state folder, held by this process.
        new: a whole ledger in it, which nobody has open.
        key: the new ledger's key, which is copied; without it the one that is there stays.

    Raises:
        LedgerError: the time is one at which something was set aside; nothing was touched.
    """
    now = stamp()
    if any(folder.glob(f"*.{now}.*")):
        raise LedgerError(f"{folder}: something was set aside at {now} already; try again")
    if key is not None:
        copy_private(key, _waiting(folder, now, KEY))
    new.rename(_waiting(folder, now, LEDGER))
    sync_folder(folder)
    return _finish(folder, now)


def finish_replacing(folder: Path) -> None:
    """Whatever was decided is done: the ledger that waited is in its place, with its key."""
    for waiting in folder.glob(f"{_WAITING}.*.{LEDGER}"):
        now = waiting.name.removeprefix(f"{_WAITING}.").removesuffix(f".{LEDGER}")
        kept = _finish(folder, now)
        log.warning("ledger.replaced", kept=[str(path) for path in kept])
    for path in [*folder.glob(f"{_WAITING}.*"), *folder.glob(f".{_WAITING}.*")]:
        path.unlink()  # a key whose ledger never came to wait


def is_cut_off(folder: Path) -> bool:
    """Return whether a ledger waits to be put in its place."""
    return any(folder.glob(f"{_WAITING}.*.{LEDGER}"))


def _waiting(folder: Path, now: str, name: str) -> Path:
    return folder / f"{_WAITING}.{now}.{name}"


def _finish(folder: Path, now: str) -> list[Path]:
    kept = [set_aside(folder / LEDGER, now), _take_key(folder, now)]
    _waiting(folder, now, LEDGER).rename(folder / LEDGER)
    sync_folder(folder)
    return [path for path in kept if path is not None]


def _take_key(folder: Path, now: str) -> Path | None:
    """Return where the key lies that was replaced by another, if one was."""
    key, waiting = folder / KEY, _waiting(folder, now, KEY)
    if not waiting.exists():
        return None
    kept = None
    if not key.exists() or digest_of(key) != digest_of(waiting):
        kept = set_aside(key, now)
    waiting.replace(key)
    sync_folder(folder)
    return kept
