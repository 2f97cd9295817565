"""A sidecar that reflects, and criticises if it is told to, through a stub of a model."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from pmcl.hosts import Host, HostConfig
from pmcl.ops.cell import Cell, run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.reflections import CycleView, list_reflections
from pmcl.ops.settings import Settings
from pmcl.store import open_reader
from tests.integration.hosts.sidecar import until
from tests.stub_model import StubModel
from tests.unit.workers.desk import AUTHORITY, Row

__all__ = ["Mind", "proposals"]

_SCOPES = ("team", "elsewhere")


def proposals(*said: tuple[str, str, str]) -> str:
    """Return a model's answer of (kind, text, name of evidence)."""
    fields = [{"kind": kind, "text": text, "evidence": [name]} for kind, text, name in said]
    return msgspec.json.encode({"proposals": fields}).decode()


class Mind:
    """Hosts `team/agent` and `elsewhere/agent`; nothing runs but the model."""

    def __init__(self, directory: Path, model: StubModel) -> None:
        self.model = model
        self.settings = Settings(state_dir=directory / "state", model_url=model.url)
        self._directory = directory
        registered = register_hosts(self.settings, _SCOPES, "agent")
        self._credentials = dict(zip(_SCOPES, registered, strict=True))

    def sidecar(self, **changes: Any) -> AbstractAsyncContextManager[Cell]:
        self.settings = msgspec.structs.replace(self.settings, **changes)
        return run_cell(self.settings)

    @asynccontextmanager
    async def host(self, scope: str = "team", **changes: Any) -> AsyncIterator[Host]:
        fields: dict[str, Any] = {
            "credentials": self._credentials[scope],
            "authority": AUTHORITY,
            "state_dir": self._directory / "hosts",
            "close_ms": 200,
        }
        async with Host.connect(HostConfig(**fields | changes)) as host:
            yield host

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        async with open_reader(self.settings.ledger_path) as reader:
            found = await reader.all(sql, **params)
        return [{name: row[name] for name in row.keys()} for row in found]  # noqa: SIM118

    async def tables(self, names: Sequence[str]) -> dict[str, list[Row]]:
        """What some tables hold."""
        return {name: await self.rows(f"SELECT * FROM {name}") for name in names}

    async def ended(self, count: int) -> list[CycleView]:
        """The first cycles, the oldest first, once so many have ended."""

        async def enough() -> list[CycleView]:
            found = (await list_reflections(self.settings))["cycles"]
            over = [cycle for cycle in found if cycle.result is not None][::-1]
            return over if len(over) >= count else []

        return await until(enough)
