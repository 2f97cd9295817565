from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.reflection.mind import Mind
from tests.stub_model import open_stub_model


@pytest.fixture
async def mind(tmp_path: Path) -> AsyncIterator[Mind]:
    """A state directory and a model; no sidecar runs yet."""
    async with open_stub_model() as model:
        yield Mind(tmp_path, model)
