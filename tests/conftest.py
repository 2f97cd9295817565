import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nats_server import NatsServer

# Who starts the tests may have set it, for the width of their own lines; what a command prints
# into a pipe depends on it.
os.environ.pop("COLUMNS", None)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Many tests wait for another process: one more than cores keeps all cores busy."""
    if config.getoption("numprocesses") != "auto":
        return None
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each process starts with its share of the long tests, so that none runs alone at the end."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    ordered: list[pytest.Item] = []
    for process in range(processes):
        # xdist gives the first process the first of so many equal parts, and so on.
        part = (len(items) - len(ordered)) // (processes - process)
        first = long[process::processes]
        room = part - len(first)
        ordered += first + others[:room]
        del others[:room]
    items[:] = ordered


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
