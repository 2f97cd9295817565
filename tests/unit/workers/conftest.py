from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.workers.desk import Desk, Ledger, open_ledger


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    async with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
async def desk(ledger: Ledger) -> Desk:
    """A host whose lease lives."""
    made = Desk(ledger)
    await made.begin()
    return made
