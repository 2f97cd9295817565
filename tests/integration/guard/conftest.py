from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pmcl.hosts import new_profile
from pmcl.ops.cell import run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.store import open_reader
from tests.integration.awake import awake
from tests.integration.guard.guards import Guards

_HOSTS = 60
_LONG_MS = 3_600_000


@pytest.fixture(scope="session")
async def shared_guards(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guards]:
    """One sidecar for all tests, with the credentials of many hosts."""
    state_dir = tmp_path_factory.mktemp("guarded")
    settings = Settings(state_dir=state_dir, lease_ttl_ms=_LONG_MS, heartbeat_ms=500)
    scopes = [f"g{number}" for number in range(_HOSTS)]
    folder = state_dir / "credentials"
    folder.mkdir()
    for credentials in register_hosts(settings, scopes, "a"):
        path = folder / f"{credentials.scope}.a.json"
        credentials.save(path)
        path.with_suffix(".toml").write_text(new_profile([Path("/")]))
    async with run_cell(settings) as cell, open_reader(settings.ledger_path) as reader:
        yield Guards(cell, state_dir, reader, iter(scopes))


@pytest.fixture
async def guards(shared_guards: Guards) -> Guards:
    """The one sidecar, awake."""
    await awake(shared_guards.cell)
    return shared_guards
