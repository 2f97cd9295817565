"""An owner is one live client of a host file, and its lock is free only when it is gone.

Each owner holds an flock on a file of its own for its whole life; the kernel frees it at any death.
A file that is missing counts as free, so that removing it is safe at every moment.
"""

import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
from anyio import to_thread
from ulid_transform import ulid_now

from pmcl.contracts import HostError

__all__ = ["has_siblings", "is_gone", "opening", "own"]

_TRIES = 8
_OPENING_TIMEOUT_S = 5.0


def _path(host_file: Path, owner: str) -> Path:
    return host_file.with_name(f"{host_file.name}.{owner}.owner")


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _take(host_file: Path) -> tuple[str, int]:
    """Return a new owner and its locked descriptor."""
    for _ in range(_TRIES):
        owner = ulid_now()
        path = _path(host_file, owner)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        # A sibling that looks between creation and lock takes the file for a dead owner's.
        if _lock(descriptor) and _still_there(descriptor, path):
            return owner, descriptor
        os.close(descriptor)
    raise HostError(f"no owner lock beside {host_file} after {_TRIES} tries")


@contextmanager
def own(host_file: Path) -> Iterator[str]:
    """Hold the lock of a new owner, and yield its id, until the block or the process ends."""
    owner, descriptor = _take(host_file)
    try:
        yield owner
    finally:
        _path(host_file, owner).unlink(missing_ok=True)
        os.close(descriptor)


def is_gone(host_file: Path, owner: str) -> bool:
    """Return whether the owner is dead; its file is then removed. Never blocks."""
    path = _path(host_file, owner)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        gone = _lock(descriptor)
        if gone:
            path.unlink(missing_ok=True)
        return gone
    finally:
        os.close(descriptor)


def has_siblings(host_file: Path, owner: str) -> bool:
    """Return whether another owner lives; files of those that are dead are removed."""
    others = (
        path.name.removeprefix(f"{host_file.name}.").removesuffix(".owner")
        for path in host_file.parent.glob(f"{host_file.name}.*.owner")
    )
    return any(other != owner and not is_gone(host_file, other) for other in others)


@asynccontextmanager
async def opening(host_file: Path) -> AsyncIterator[None]:
    """Be the only process that opens, and perhaps creates, the host file.

    Raises:
        HostError: another one has been at it for 5 s.
    """
    path = host_file.with_name(f"{host_file.name}.opening")
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        with anyio.move_on_after(_OPENING_TIMEOUT_S) as scope:
            await to_thread.run_sync(fcntl.flock, descriptor, fcntl.LOCK_EX, abandon_on_cancel=True)
        if scope.cancelled_caught:
            raise HostError(f"{host_file} is being opened elsewhere for {_OPENING_TIMEOUT_S} s")
        yield
    finally:
        os.close(descriptor)
