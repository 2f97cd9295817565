"""Everything one store needs to know, validated by its types and passed whole."""

from pathlib import Path

import msgspec

__all__ = ["StoreConfig"]


class StoreConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One SQLite file and how it is written.

    Attributes:
        path: the file; its directory must exist.
        schemas: SQL of a fresh file, run in this order in one transaction.
        application_id: tells our files from others (positive, 31 bits).
        version: of the schemas; a file of another version is refused.
        shared: other processes write the file as well; they take turns, one commit each.
        max_waiting: units that may wait for the writer; one more is refused at once.
        max_group: units that one commit may hold.
        busy_timeout_ms: how long another process's write is waited for.
    """

    path: Path
    schemas: tuple[str, ...]
    application_id: int
    version: int
    shared: bool = False
    max_waiting: int = 1024
    max_group: int = 256
    busy_timeout_ms: int = 5_000
