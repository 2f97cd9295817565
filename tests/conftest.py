import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nats_server import NatsServer

# Who starts the tests may have set it, for the width of their own lines; what a command prints
# into a pipe depends on it.
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    """A running nats-server of this test alone, outside of the process."""
    server = NatsServer(tmp_path / "bus")
    server.start()
    yield server
    server.kill()
