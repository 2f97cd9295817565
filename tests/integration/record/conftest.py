from pathlib import Path

import pytest

from tests.integration.record.office import Office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


@pytest.fixture(scope="session")
async def first_day(tmp_path_factory: pytest.TempPathFactory) -> tuple[Office, list[str]]:
    """An office that has worked and closed, and the evidence that it left; it is only copied."""
    office = Office(tmp_path_factory.mktemp("first-day"))
    async with office.sidecar():
        seen = await office.work()
    return office, seen


@pytest.fixture
def worked(first_day: tuple[Office, list[str]], tmp_path: Path) -> Office:
    """A test's own office that has worked and closed."""
    return first_day[0].copied_to(tmp_path)


@pytest.fixture
def seen(first_day: tuple[Office, list[str]]) -> list[str]:
    """The evidence that `worked` has left."""
    return first_day[1]
