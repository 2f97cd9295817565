"""What a killed restore or rebuild has left: a finished ledger is used, a half-made one has to go.

While one is made nobody else uses the state folder. So whoever comes next may put what was finished
in its place and take away the rest, which has content: the next such command, or the next start,
before which nothing can be erased.
"""

from pathlib import Path
from typing import Final

from pmcl.ops.record.replacing import finish_replacing

__all__ = ["REBUILT", "RESTORED", "remove_unfinished", "take_up_replacing"]

REBUILT: Final = "ledger.rebuilt.sqlite"
RESTORED: Final = "ledger.restored.sqlite"


def take_up_replacing(folder: Path) -> None:
    """A ledger that was to take the other's place is there, and no half-made one is left."""
    finish_replacing(folder)
    remove_unfinished(folder)


def remove_unfinished(folder: Path) -> None:
    """No copy that a restore or a rebuild did not put in its place is left in the folder."""
    for name in (REBUILT, RESTORED):
        for path in [*folder.glob(f"{name}*"), folder / f".{name}.new"]:
            path.unlink(missing_ok=True)
