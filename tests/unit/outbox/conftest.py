from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.outbox.ledger_file import LedgerFile


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[LedgerFile]:
    file = LedgerFile(tmp_path / "ledger.sqlite")
    yield file
    file.close()
