from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pmcl.bus import Keyring
from pmcl.contracts import HostError
from pmcl.hosts import HostConfig, KnownHost
from pmcl.hosts.gateway import GatewayConfig
from pmcl.ops.cell import Cell, run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.store import Reader, open_reader
from tests.integration.awake import awake
from tests.integration.gateway.wire import Wire
from tests.integration.hosts.conftest import sidecar
from tests.nats_server import NatsServer

__all__ = ["sidecar"]

_HOSTS = 200
_LONG_MS = 3_600_000


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


class House:
    """One sidecar with its gateway, for all tests; each takes keys that no other has used."""

    def __init__(self, cell: Cell, settings: Settings, reader: Reader, keys: Iterator[str]) -> None:
        assert cell.gateway_url is not None
        self.cell = cell
        self.url = cell.gateway_url
        self.settings = settings
        self.reader = reader
        self._keys = keys

    def wire(self) -> Wire:
        return Wire(self.url, next(self._keys))

    async def outcome(self, verdict: dict[str, Any]) -> dict[str, Any] | None:
        """What the ledger has linked to a verdict."""
        sql = "SELECT status, failure_mode, verified FROM outcomes WHERE evaluation_id = :id"
        rows = await self.reader.all(sql, id=verdict["verdict_id"])
        assert len(rows) < 2
        return {name: rows[0][name] for name in rows[0].keys()} if rows else None  # noqa: SIM118


@pytest.fixture(scope="session")
async def shared_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    settings = Settings(
        state_dir=tmp_path_factory.mktemp("house"),
        lease_ttl_ms=_LONG_MS,
        heartbeat_ms=_LONG_MS - 1,
    )
    scopes = [f"s{number}" for number in range(_HOSTS)]
    keys = iter([each.seed for each in register_hosts(settings, scopes, "agent")])
    async with run_cell(settings) as cell, open_reader(settings.ledger_path) as reader:
        yield House(cell, settings, reader, keys)


@pytest.fixture
async def house(shared_house: House) -> House:
    """The one sidecar, awake."""
    await awake(shared_house.cell)
    return shared_house


@pytest.fixture
async def wire(house: House) -> Wire:
    """A caller whose lease is begun."""
    wire = house.wire()
    await wire.begin()
    return wire


def no_profile(known: KnownHost) -> HostConfig:
    raise HostError(f"no profile of {known.scope}/{known.host}")


@pytest.fixture
def configured(nats_server: NatsServer, tmp_path: Path) -> Callable[..., GatewayConfig]:
    """A gateway before a scripted sidecar, bounded as a test wants it."""

    def configured(**changes: Any) -> GatewayConfig:
        keys = {entry.nkey: name for name, entry in Keyring(tmp_path / "bus/keys").hosts().items()}

        def find(nkey: str) -> KnownHost | None:
            if nkey not in keys:
                return None
            scope, host = keys[nkey]
            return KnownHost(scope=scope, host=host, trust=frozenset({"tool_output"}))

        fields: dict[str, Any] = {
            "url": nats_server.url,
            "state_dir": tmp_path,
            "find_host": find,
            "load_profile": no_profile,
            "parts": lambda: {"writer": True},
        }
        return GatewayConfig(**fields | changes)

    return configured
