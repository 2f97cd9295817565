from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.world import World


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of the tests' order and of all that is random here; the same does the same again."""
    seed = int(pytestconfig.getoption("randomly_seed"))
    print(f"--randomly-seed={seed}")  # noqa: T201
    return seed


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    world.server.start()
    yield world
    world.server.kill()
