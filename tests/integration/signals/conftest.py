from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.bus import Connection, Credentials
from pmcl.hosts import HostConfig
from pmcl.ops.cell import Cell, run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from tests.integration.gateway.wire import Wire
from tests.integration.hosts.sidecar import until
from tests.unit.workers.desk import AUTHORITY


class House:
    """A sidecar of the test's own, a caller of its gateway, and an operator."""

    def __init__(
        self, cell: Cell, settings: Settings, known: Credentials, operator: Connection
    ) -> None:
        assert cell.gateway_url is not None
        self.cell = cell
        self.settings = settings
        self.operator = operator
        self.wire = Wire(cell.gateway_url, known.seed)
        self.config = HostConfig(
            credentials=msgspec.structs.replace(known, url=cell.url),
            authority=AUTHORITY,
            state_dir=settings.state_dir / "hosts",
            close_ms=200,
        )

    async def ill(self) -> set[str]:
        """The parts that do not do their work."""
        answer = await self.wire.get("/v1/ready")
        parts: dict[str, bool] = answer.body["parts"]
        assert answer.body["ready"] == all(parts.values()) == (answer.status == 200)
        return {part for part, does_work in parts.items() if not does_work}

    async def falls(self, part: str) -> None:
        """This part at least does not do its work."""

        async def told() -> bool:
            return part in await self.ill()

        await until(told, within_s=30)

    async def becomes(self, *ill: str) -> None:
        """These parts and no others do not do their work."""

        async def told() -> bool:
            return await self.ill() == set(ill)

        await until(told, within_s=30)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = Settings(state_dir=tmp_path / "state")
    (known,) = register_hosts(settings, ["s"], "agent")
    async with run_cell(settings) as cell, cell.connect("operator") as operator:
        yield House(cell, settings, known, operator)


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio"
