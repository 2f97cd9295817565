"""The state directory: private, used by one sidecar at a time, with the ledger's own key."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmcl.contracts import PmclError
from pmcl.judgement import spellings_of
from pmcl.ledger import KEY_BYTES, LedgerKey

__all__ = [
    "LedgerKeyMissingError",
    "StateDirInUseError",
    "ledger_key",
    "running_pid",
    "state_folders",
    "use_state_dir",
]


class StateDirInUseError(PmclError):
    """Another sidecar runs on this state directory."""

    def __init__(self, path: Path, pid: int | None) -> None:
        self.path = path
        self.pid = pid
        super().__init__(f"{path} is in use by process {pid}: stop it, or choose another state_dir")


class LedgerKeyMissingError(PmclError):
    """The ledger has rows and its key is gone; under another key no hold would be found again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is missing, but the ledger has rows: put it back from a backup")


@contextmanager
def use_state_dir(path: Path) -> Iterator[None]:
    """Hold the directory for this process; it is made if it is missing.

    Raises:
        StateDirInUseError: another process holds it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _lock_file(path).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StateDirInUseError(path, _pid(path)) from error
        try:
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), str(os.getpid()).encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, file.name) from error
        yield


def running_pid(path: Path) -> int | None:
    """Return the process that holds the directory, if one does."""
    try:
        with _lock_file(path).open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return _pid(path)
    return None


def state_folders(path: Path) -> tuple[str, ...]:
    """Return the directory in each way that a command may spell it, links resolved as well."""
    return spellings_of((str(path.absolute()), str(path.resolve())), os.path.expanduser("~"))


def _lock_file(path: Path) -> Path:
    return path / "sidecar.lock"


def _pid(path: Path) -> int | None:
    text = _lock_file(path).read_text()
    return int(text) if text.isdigit() else None


def ledger_key(path: Path, *, make: bool = True) -> LedgerKey:
    """Return the key of the directory's ledger, mode 0600; made at the first use, if it may be.

    Raises:
        LedgerKeyMissingError: it is not there and must not be made.
    """
    file = path / "ledger.key"
    if file.exists():
        return LedgerKey(file.read_bytes())
    if not make:
        raise LedgerKeyMissingError(file)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return LedgerKey(file.read_bytes())
    with os.fdopen(descriptor, "wb") as opened:
        secret = secrets.token_bytes(KEY_BYTES)
        opened.write(secret)
        opened.flush()
        os.fsync(opened.fileno())
    return LedgerKey(secret)
