from collections.abc import AsyncIterator

import pytest

from pmcl.ops.dashboard import run_dashboard
from tests.integration.dashboard.browsing import Browsing, browsing
from tests.integration.sidecar.conftest import room, shared_room
from tests.integration.sidecar.room import Room

__all__ = ["room", "shared_room"]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def link(room: Room) -> AsyncIterator[str]:
    async with run_dashboard(room.settings) as link:
        yield link


@pytest.fixture
async def page(link: str) -> AsyncIterator[Browsing]:
    """A browser that has opened the link."""
    async with browsing(link) as page:
        await page.enter()
        yield page
