"""No part of a block outlives the server that was killed while it wrote the block anew.

To overwrite a message the server writes the whole block beside the old one, syncs it and renames
it. Killed meanwhile it leaves the new one under another name for ever, with all the messages that
the block has and that are erased later. Until the rename the old one is whole, and no start reads
the other. What a purge or a removed stream leaves is removed by the server's own start. Measured.
"""

from pathlib import Path
from typing import Final

import structlog

from pmcl.bus.errors import ServerError

__all__ = ["remove_leftovers"]

log = structlog.get_logger()

_UNFINISHED: Final = "*.tmp"


def remove_leftovers(store: Path) -> None:
    """The store holds no file that a server did not finish; none may run on it.

    Raises:
        ServerError: one could not be removed.
    """
    for path in sorted(store.rglob(_UNFINISHED)):
        if not path.is_file():
            continue
        try:
            path.unlink()
        except OSError as error:
            raise ServerError(f"{path} could not be removed: {error.strerror}") from error
        log.info("server.leftover_removed", path=str(path))
