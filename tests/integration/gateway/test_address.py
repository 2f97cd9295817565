"""The gateway's port is chosen once and kept; where it is, and its socket, a private file says."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import anyio.to_thread
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
        named = {"url": url, "socket": str(settings.state_dir / "gateway.sock")}
        assert json.loads(file.read_text()) == named
        assert file.stat().st_mode & 0o777 == 0o600
        assert (await Wire(url, None).get("/v1/health")).status == 200
    assert json.loads(file.read_text()) == named
    assert not (settings.state_dir / "gateway.sock").exists()
    async with run_cell(settings) as cell:
        assert cell.gateway_url == url


@pytest.mark.parametrize("depth", [0, 12])
async def test_the_socket_answers_its_user_alone_whatever_its_name(
    tmp_path: Path, depth: int
) -> None:
    state_dir = tmp_path.joinpath(*["a-folder-like-this"] * depth, "state")
    async with run_cell(Settings(state_dir=state_dir)) as cell:
        file = state_dir / "gateway.sock"
        assert file.stat().st_mode & 0o777 == 0o600
        assert (depth == 0) == (len(str(file)) < 100)
        assert cell.gateway_url is not None
        answer = await anyio.to_thread.run_sync(_health, file, cell.gateway_url)
        assert answer.startswith(b"HTTP/1.1 200")


def _health(file: Path, url: str) -> bytes:
    """Ask as a process of its own would, from the socket's folder."""
    host = url.removeprefix("http://")
    asking = f"GET /v1/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
    code = (
        "import os, socket, sys\n"
        "os.chdir(sys.argv[1])\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        "s.connect(sys.argv[2])\n"
        "s.sendall(sys.stdin.buffer.read())\n"
        "while part := s.recv(65536): sys.stdout.buffer.write(part)\n"
    )
    command = [sys.executable, "-c", code, str(file.parent), file.name]
    return subprocess.run(command, input=asking, capture_output=True, check=True).stdout


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


async def test_without_hosts_the_gateway_answers_signals_alone(tmp_path: Path) -> None:
    async with run_cell(Settings(state_dir=tmp_path / "state", gateway="signals")) as cell:
        assert cell.gateway_url is not None
        wire = Wire(cell.gateway_url, None)
        assert (await wire.get("/v1/health")).body == {"status": "ok"}
        assert (await wire.get("/v1/ready")).body["ready"] is True
        for path in ("/v1/lease", "/openapi.json"):
            assert (await wire.get(path)).status == 404
