"""The disks that a sidecar writes to, and the room that is left on each.

A ledger that cannot grow, a server that cannot store and a host's file that cannot be written hold
calls each in its own way, and each may lie on a disk of its own.
"""

import shutil
from pathlib import Path
from typing import Final

import msgspec

from pmcl.bus import ServerConfig
from pmcl.ops.settings import Settings

__all__ = ["FREE_MIN_BYTES", "Disk", "find_disks", "free_bytes", "shown_room"]

FREE_MIN_BYTES: Final = 1024**3
"""With less than this, room should be made before something stands still."""


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """One place that is written to, as `pmcl status --json` tells it.

    Attributes:
        place: `ledger`, `streams` (the embedded server's store) or `hosts` (their files).
        scarce: whether less is left than `FREE_MIN_BYTES`.
    """

    place: str
    path: str
    free_bytes: int
    scarce: bool


def free_bytes(settings: Settings) -> dict[str, int]:
    """Return what is left for each place that is there."""
    return {place: shutil.disk_usage(path).free for place, path in _places(settings).items()}


def find_disks(settings: Settings) -> list[Disk]:
    """Return every disk once, under the first place on it."""
    seen: set[int] = set()
    found: list[Disk] = []
    for place, path in _places(settings).items():
        device = path.stat().st_dev
        if device not in seen:
            seen.add(device)
            free = shutil.disk_usage(path).free
            found.append(
                Disk(
                    place=place,
                    path=str(path),
                    free_bytes=free,
                    scarce=free < FREE_MIN_BYTES,
                )
            )
    return found


def shown_room(disk: Disk) -> str:
    """Return the room on a disk in words, in MiB where it is scarce."""
    gib = disk.free_bytes / 1024**3
    free = f"{gib:.1f} GiB" if gib >= 1 else f"{disk.free_bytes / 1024**2:.1f} MiB"
    return f"{free} free below {disk.path}"


def _places(settings: Settings) -> dict[str, Path]:
    places = {"ledger": settings.ledger_path.parent}
    if settings.server_url is None:
        places["streams"] = ServerConfig(state_dir=settings.state_dir / "nats").store_dir
    places["hosts"] = settings.state_dir / "hosts"
    return {place: path for place, path in places.items() if path.is_dir()}
