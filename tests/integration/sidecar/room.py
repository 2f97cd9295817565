"""A running sidecar with the keys of many hosts, and ways to look at its ledger and its bus."""

from collections.abc import Iterator
from typing import Any, TypeVar

import anyio

from pmcl.bus import Connection, Credentials, StreamState, stream_state
from pmcl.contracts import EVENTS, Event, Tool, decode
from pmcl.hosts import HostConfig, Proposal
from pmcl.ops.cell import Cell
from pmcl.ops.settings import Settings
from pmcl.store import Reader
from tests.unit.workers.desk import AUTHORITY, NOTES, Row

T = TypeVar("T")

WITHIN_S = 10.0
_NOT_BY_TIME = """NOT (subject LIKE '%.approval-expired' OR subject LIKE '%.lease-ended'
    AND json_extract(CAST(body AS TEXT), '$.reason') = 'expired')"""


class Room:
    """Shared by all tests of the module; each takes hosts that no other has used."""

    def __init__(
        self,
        cell: Cell,
        settings: Settings,
        reader: Reader,
        admin: Connection,
        credentials: Iterator[Credentials],
    ) -> None:
        self.cell = cell
        self.settings = settings
        self.reader = reader
        self.admin = admin
        self._credentials = credentials

    def credentials(self) -> Credentials:
        """The key of a host that nobody has used."""
        return next(self._credentials)

    def config(self, credentials: Credentials | None = None, **changes: Any) -> HostConfig:
        fields: dict[str, Any] = {
            "credentials": credentials or self.credentials(),
            "authority": AUTHORITY,
            "state_dir": self.settings.state_dir / "hosts",
            "close_ms": 200,
        }
        return HostConfig(**(fields | changes))

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        found = await self.reader.all(sql, **params)
        return [{name: row[name] for name in row.keys()} for row in found]  # noqa: SIM118

    async def counts(self, scope: str | None = None) -> dict[str, int]:
        """How many rows each table has, of all scopes or one; a journal row's is its subject's.

        What time brings about of leases that other tests left behind does not count.
        """
        tables = await self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {row["name"]: await self._count(row["name"], scope) for row in tables}

    async def _count(self, table: str, scope: str | None) -> int:
        columns = [row["name"] for row in await self.rows(f"PRAGMA table_info({table})")]
        where = ""
        if scope is not None and "scope" in columns:
            where = "WHERE scope = :scope"
        elif scope is not None and "subject" in columns:
            where = "WHERE subject LIKE '%.' || :scope || '.%'"
        elif scope is not None:
            return 0
        if table == "journal":
            where = f"{where or 'WHERE true'} AND {_NOT_BY_TIME}"
        params = {"scope": scope} if scope is not None else {}
        (row,) = await self.rows(f"SELECT count(*) AS n FROM {table} {where}", **params)
        return int(row["n"])

    async def events(self, scope: str, *kinds: type[Event]) -> list[Any]:
        rows = await self.rows(
            "SELECT body FROM journal WHERE subject LIKE '%.' || :scope || '.%' ORDER BY sequence",
            scope=scope,
        )
        decoded = [decode(row["body"], *EVENTS) for row in rows]
        return [event for event in decoded if not kinds or isinstance(event, kinds)]

    async def event(self, scope: str, kind: type[Event], count: int = 1) -> Any:
        """The last of so many events of a kind, once they are there."""
        with anyio.fail_after(WITHIN_S):
            while len(found := await self.events(scope, kind)) < count:  # noqa: ASYNC110 - a file
                await anyio.sleep(0.005)
        assert len(found) == count
        return found[-1]

    async def stream(self, name: str) -> StreamState:
        state = await stream_state(self.admin, name)
        assert state is not None
        return state


def proposal(tool: str = "read_file", **changes: Any) -> Proposal:
    fields: dict[str, Any] = {
        "goal": "keep the notes in order",
        "tool": Tool(server="files", name=tool, definition_hash="d" * 64),
        "arguments": {"path": NOTES.value},
        "resources": (NOTES,),
    }
    return Proposal(**(fields | changes))


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """The tables that have more or fewer rows than before."""
    return {name: after[name] - count for name, count in before.items() if after[name] != count}
