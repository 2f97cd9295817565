from pathlib import Path

import pytest

from pmcl.store import StoreConfig

SCHEMA = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"


@pytest.fixture
def config(tmp_path: Path) -> StoreConfig:
    return StoreConfig(
        path=tmp_path / "ledger.sqlite", schemas=(SCHEMA,), application_id=0x504D, version=3
    )
