"""A small disk of its own, that a test fills and makes room on again."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["Disk", "small_disk"]

_CHUNK_BYTES = 64 * 1024


class Disk:
    """A mounted file system; what fills it is a file of somebody else's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._foreign = path / "somebody-elses"

    @property
    def free_bytes(self) -> int:
        return shutil.disk_usage(self.path).free

    def fill(self) -> None:
        """Not a byte is left; whoever writes at the same time may get the last ones."""
        descriptor = os.open(self._foreign, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            while os.write(descriptor, bytes(_CHUNK_BYTES)):
                pass
        except OSError:
            return
        finally:
            os.close(descriptor)

    def make_room(self) -> None:
        self._foreign.unlink()


@contextmanager
def small_disk(path: Path, size_mib: int) -> Iterator[Disk]:
    """Yield a new disk, mounted on a folder of nothing."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = f"size={size_mib}m,mode=700"
    mount = ["mount", "-t", "tmpfs", "-o", options, "pmcl-test", str(path)]
    try:
        ran = subprocess.run(mount, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command to make a small disk with")
    if ran.returncode != 0:
        pytest.skip(f"a small disk can be mounted by root alone: {ran.stderr.strip()}")
    try:
        yield Disk(path)
    finally:
        # Lazily: a process that is just being killed may still have a file open.
        subprocess.run(["umount", "--lazy", str(path)], check=True)
