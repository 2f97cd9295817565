"""When the record was verified last, kept beside the ledger, and whether it went on from there.

It reminds whoever looks; it proves nothing, since who can change the ledger can change this. What
is cheap is compared at each look: that the row which was the last one then is still the same.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec

from pmcl.bus import write_private
from pmcl.ops.settings import Settings
from pmcl.store import Reader, load_queries

__all__ = ["Verified", "keep_verified", "read_verified"]

_queries = load_queries("pmcl.ops.record", "verified")
_FILE: Final = "verified.json"


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What `pmcl audit verify` found when it last went through.

    Attributes:
        at: milliseconds since the epoch.
        rows, head: how far the journal went, and the hash of that row.
        sound: that nothing broke.
        same: whether that row is the same now.
    """

    at: int
    rows: int
    head: str
    sound: bool
    same: bool = True


def keep_verified(settings: Settings, report: dict[str, Any]) -> None:
    """The next look at the status says when the record was verified, and what came of it."""
    held = report["journal"]
    verified = Verified(
        at=time.time_ns() // 1_000_000,
        rows=held["rows"],
        head=held["head"],
        sound=report["sound"],
    )
    with suppress(OSError):  # on a full disk an audit still says what it found
        write_private(settings.state_dir / _FILE, msgspec.json.encode(verified))


async def read_verified(settings: Settings, reader: Reader) -> Verified | None:
    """Return the last verification; `None` where there was none that can be read."""
    found = await anyio.to_thread.run_sync(_kept, settings.state_dir / _FILE)
    if found is None:
        return None
    row = await reader.one(_queries.hash_at, sequence=found.rows)
    same = found.rows == 0 or (row is not None and row["hash"] == found.head)
    return msgspec.structs.replace(found, same=same)


def _kept(path: Path) -> Verified | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Verified)
    except (OSError, msgspec.DecodeError):
        return None
