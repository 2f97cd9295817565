from collections.abc import AsyncIterator

import pytest

from pmcl.ops.cell import run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.store import open_reader
from tests.integration.awake import awake
from tests.integration.sidecar.plain import PlainHost, open_plain
from tests.integration.sidecar.room import WITHIN_S, Room

_HOSTS = 400
_LONG_MS = 3_600_000


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def shared_room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """One sidecar for all tests; leases live long, so that time alone changes no row."""
    settings = Settings(
        state_dir=tmp_path_factory.mktemp("sidecar"),
        lease_ttl_ms=_LONG_MS,
        heartbeat_ms=_LONG_MS - 1,
    )
    scopes = [f"s{number}" for number in range(_HOSTS)]
    credentials = register_hosts(settings, scopes, "agent")
    async with (
        run_cell(settings) as cell,
        open_reader(settings.ledger_path) as reader,
        cell.admin() as admin,
    ):
        yield Room(cell, settings, reader, admin, iter(credentials))


@pytest.fixture
async def room(shared_room: Room) -> Room:
    """The one sidecar, awake."""
    await awake(shared_room.cell)
    await shared_room.admin.wait_ready(WITHIN_S)
    return shared_room


@pytest.fixture
async def plain(room: Room) -> AsyncIterator[PlainHost]:
    """A plain client with a real host's key, its lease begun."""
    async with open_plain(room.credentials()) as opened:
        await opened.begin()
        yield opened


@pytest.fixture
async def neighbour(room: Room) -> AsyncIterator[PlainHost]:
    async with open_plain(room.credentials()) as opened:
        await opened.begin()
        yield opened
