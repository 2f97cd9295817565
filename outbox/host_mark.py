"""What each check must know of the host's file, without a transaction: shared by all its processes.

Whoever changes the file writes it inside the transaction; an acknowledgement may be told here
before the file has it, under the mark's own lock. Its watermark is never behind a committed one:
at most it is ahead of a commit that fails, and a check then waits in vain. What it held of another
file, or of numbers that this one has not given, counts for nothing.
"""

import fcntl
import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pmcl.contracts import limits
from pmcl.store import Row, StoreUnavailableError

__all__ = ["HostMark", "open_mark"]

_fields = struct.Struct("=5q")
_EPOCH_CHARS: Final = 7
"""The last of a ULID are random, and so many fit into a number."""
_PAUSE_S: Final = 0.0002
_LOCKED_S: Final = 1.0
"""Everybody holds the lock for microseconds, unless they are stopped just then."""


class HostMark:
    """The highest acknowledged number, and what the file holds, as every process sees them."""

    def __init__(self, shared: mmap.mmap, descriptor: int, host_file: Path) -> None:
        self._shared = shared
        self._descriptor = descriptor
        self._host_file = host_file
        self._here = threading.Lock()

    def write(self, state: Row, voids: int) -> None:
        """Show the file's state to all processes; call it inside the transaction.

        Args:
            state: the file's one row.
            voids: how many reservations the transaction has closed by voids.

        Raises:
            StoreUnavailableError: another process has had the lock for a second.
        """
        ends_s = time.monotonic() + _LOCKED_S
        while not self._try_write(state, voids):
            if time.monotonic() >= ends_s:
                raise StoreUnavailableError(self._host_file, "its mark is locked")
            time.sleep(_PAUSE_S)

    def _try_write(self, state: Row, voids: int) -> bool:
        with self._alone() as is_alone:
            if is_alone:
                epoch = int.from_bytes(state["host_epoch"][-_EPOCH_CHARS:].encode())
                told, _, _, told_epoch, closed = _fields.unpack_from(self._shared)
                ahead = min(told, state["next_number"] - 1) if told_epoch == epoch else 0
                acknowledged = max(state["acknowledged"], ahead)
                rows = state["outbox_rows"] + state["open_claims"]
                fields = (acknowledged, rows, state["outbox_bytes"], epoch, closed + voids)
                _fields.pack_into(self._shared, 0, *fields)
            return is_alone

    def acknowledge(self, number: int) -> bool:
        """Have the watermark be at least `number`; False when somebody is at the mark just now."""
        with self._alone() as is_alone:
            if is_alone:
                told, *others = _fields.unpack_from(self._shared)
                _fields.pack_into(self._shared, 0, max(told, number), *others)
            return is_alone

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Yield whether nobody else, here or in another process, changes the mark; never waits."""
        if not self._here.acquire(blocking=False):
            yield False
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._here.release()
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self._here.release()

    @property
    def acknowledged(self) -> int:
        """The highest number that the bus has acknowledged to any process, 0 for none."""
        return int(_fields.unpack_from(self._shared)[0])

    @property
    def voids(self) -> int:
        """How many reservations were closed by voids, whoever closed them."""
        return int(_fields.unpack_from(self._shared)[4])

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits for a receipt and no claim is open."""
        return bool(_fields.unpack_from(self._shared)[1] == 0)

    def is_full(self, outstanding: int) -> bool:
        """Return whether nothing but audit receipts may be added.

        Args:
            outstanding: what is not in the file and may still become rows.
        """
        _, rows, size_bytes, _, _ = _fields.unpack_from(self._shared)
        return bool(
            rows + outstanding >= limits.HOST_OUTBOX_MAX_ROWS
            or size_bytes >= limits.HOST_OUTBOX_MAX_BYTES
        )


@contextmanager
def open_mark(host_file: Path) -> Iterator[HostMark]:
    """Yield the mark beside the host file."""
    path = host_file.with_name(f"{host_file.name}.mark")
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        size_bytes = os.fstat(descriptor).st_size
        if size_bytes < _fields.size:
            # Written and not only made longer: a map of a hole kills the process on a full disk.
            os.pwrite(descriptor, bytes(_fields.size - size_bytes), size_bytes)
        with mmap.mmap(descriptor, _fields.size) as shared:
            yield HostMark(shared, descriptor, host_file)
    finally:
        os.close(descriptor)
