"""Which run of the machine this is: what was written last in an earlier one may not be on disk."""

from pathlib import Path
from typing import Final

__all__ = ["boot_id"]

_LINUX: Final = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str | None:
    """Return the same text until the machine starts anew; `None` where the system does not tell.

    Source: random(4).
    """
    try:
        return _LINUX.read_text().strip()
    except OSError:
        return None
