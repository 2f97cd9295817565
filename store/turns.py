"""Processes that share a file work on it one after the other: transactions, checkpoints, the end.

SQLite keeps writers apart by itself, but before 3.51.3 one of them may start the write-ahead log
anew just as another copies from it, and a commit is then lost. Source: sqlite.org/wal.html, "The
WAL-reset bug".
"""

import fcntl
import os
import time
from types import TracebackType
from typing import Final

from pmcl.store.config import StoreConfig
from pmcl.store.errors import StoreUnavailableError

__all__ = ["Turns"]

_PAUSE_S: Final = 0.0002
_PAUSE_MAX_S: Final = 0.005


class Turns:
    """The block is this process's turn, if the file is shared; blocks may be inside of blocks.

    The lock is no SQLite file: to close one of those would drop SQLite's own locks on it.
    """

    def __init__(self, config: StoreConfig) -> None:
        self._config = config
        self._depth = 0
        self._descriptor: int | None = None

    def __enter__(self) -> None:
        """Wait for the turn.

        Raises:
            StoreUnavailableError: others have had it for `busy_timeout_ms`.
        """
        if self._depth == 0 and self._config.shared:
            self._take()
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the next one have its turn."""
        self._depth -= 1
        if self._depth == 0 and self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Forget the lock; a later block opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def _take(self) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
        ends_s = time.monotonic() + self._config.busy_timeout_ms / 1000
        pause_s = _PAUSE_S
        while not self._is_ours(self._descriptor):
            if time.monotonic() >= ends_s:
                reason = f"locked by another process for {self._config.busy_timeout_ms} ms"
                raise StoreUnavailableError(self._config.path, reason)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    def _open(self) -> int:
        path = self._config.path
        try:
            flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
            return os.open(path.with_name(f"{path.name}.turn"), flags, 0o600)
        except OSError as error:
            raise StoreUnavailableError(path, str(error)) from error

    def _is_ours(self, descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
