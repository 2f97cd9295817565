from pathlib import Path

import pytest

from tests.acceptance.gameday.station import Station


@pytest.fixture
def station(tmp_path: Path) -> Station:
    return Station(tmp_path)
