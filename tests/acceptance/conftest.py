import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.world import World

_SEED = int(os.environ.get("PMCL_TEST_SEED") or secrets.randbits(32))


def pytest_report_header() -> str:
    return f"acceptance: PMCL_TEST_SEED={_SEED}"


@pytest.fixture
def seed() -> int:
    """The seed of all that is random here; the same again does the same again."""
    print(f"PMCL_TEST_SEED={_SEED}")  # noqa: T201
    return _SEED


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    world.server.start()
    yield world
    world.server.kill()
