"""A half-made copy of the ledger is of no use once its command was killed, and it has content.

While one is made nobody else uses the state folder. So whoever comes next may take away what is
there: the next such command, or the next start, before which nothing can be erased.
"""

from pathlib import Path
from typing import Final

__all__ = ["REBUILT", "RESTORED", "remove_unfinished"]

REBUILT: Final = "ledger.rebuilt.sqlite"
RESTORED: Final = "ledger.restored.sqlite"


def remove_unfinished(folder: Path) -> None:
    """No copy that a restore or a rebuild did not put in its place is left in the folder."""
    for name in (REBUILT, RESTORED):
        for path in [*folder.glob(f"{name}*"), folder / f".{name}.new"]:
            path.unlink(missing_ok=True)
