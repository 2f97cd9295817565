"""The gateway's port is chosen once and kept; where it is, a private file says."""

import json
import socket
from pathlib import Path

import pytest

from pmcl.hosts.gateway import GatewayError
from pmcl.ops.cell import run_cell
from pmcl.ops.settings import Settings
from tests.integration.gateway.wire import Wire

pytestmark = pytest.mark.anyio


async def test_port_is_kept_and_the_file_is_private_and_true(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    file = settings.state_dir / "gateway.json"
    async with run_cell(settings) as cell:
        url = cell.gateway_url
        assert url is not None
        assert json.loads(file.read_text()) == {"url": url}
        assert file.stat().st_mode & 0o777 == 0o600
        assert (await Wire(url, None).get("/v1/health")).status == 200
    assert json.loads(file.read_text()) == {"url": url}
    async with run_cell(settings) as cell:
        assert cell.gateway_url == url


async def test_port_in_use_is_a_clear_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = Settings(state_dir=tmp_path / "state", gateway_port=port)
        with pytest.raises(
            GatewayError, match=rf"port {port} of 127.0.0.1 is in use.*gateway_port"
        ):
            async with run_cell(settings):
                pytest.fail("it started")


async def test_port_of_the_settings_wins_over_the_kept_one(tmp_path: Path) -> None:
    async with run_cell(Settings(state_dir=tmp_path / "state")) as cell:
        first = cell.gateway_url
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with run_cell(Settings(state_dir=tmp_path / "state", gateway_port=port)) as cell:
        assert cell.gateway_url == f"http://127.0.0.1:{port}" != first


@pytest.mark.parametrize("text", ["{", '{"url": 7}', '{"url": "http://evil.example:80"}', "\xff"])
async def test_broken_file_is_a_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state/gateway.json").write_text(text, encoding="latin-1")
    with pytest.raises(GatewayError, match=r"gateway\.json"):
        async with run_cell(Settings(state_dir=tmp_path / "state")):
            pytest.fail("it started")


async def test_no_gateway_runs_when_it_is_off(tmp_path: Path) -> None:
    async with run_cell(Settings(state_dir=tmp_path / "state", gateway="off")) as cell:
        assert cell.gateway_url is None
    assert not (tmp_path / "state/gateway.json").exists()
