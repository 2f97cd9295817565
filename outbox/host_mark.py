"""What each check must know of the host's file, without a transaction: shared by all its processes.

Whoever changes the file writes it inside the transaction, so writers never mix. Its watermark is
never behind a committed one: at most it is ahead of a commit that fails, and a check then waits in
vain. What it held before the file was opened counts for nothing.
"""

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmcl.contracts import limits

__all__ = ["HostMark", "open_mark"]

_fields = struct.Struct("=3q")


class HostMark:
    """The highest acknowledged number, and what the file holds, as every process sees them."""

    def __init__(self, shared: mmap.mmap) -> None:
        self._shared = shared

    def write(self, acknowledged: int, rows: int, size_bytes: int) -> None:
        """Show the file's state to all processes; call it inside the transaction."""
        _fields.pack_into(self._shared, 0, acknowledged, rows, size_bytes)

    @property
    def acknowledged(self) -> int:
        """The highest number that the bus has acknowledged to any process, 0 for none."""
        return int(_fields.unpack_from(self._shared)[0])

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits for a receipt and no claim is open."""
        return bool(_fields.unpack_from(self._shared)[1] == 0)

    def is_full(self, outstanding: int) -> bool:
        """Return whether nothing but audit receipts may be added.

        Args:
            outstanding: what is not in the file and may still become rows.
        """
        _, rows, size_bytes = _fields.unpack_from(self._shared)
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
        if os.fstat(descriptor).st_size < _fields.size:
            # Written and not only made longer: a map of a hole kills the process on a full disk.
            os.pwrite(descriptor, bytes(_fields.size), 0)
        with mmap.mmap(descriptor, _fields.size) as shared:
            yield HostMark(shared)
    finally:
        os.close(descriptor)
