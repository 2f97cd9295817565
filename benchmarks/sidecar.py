"""A whole sidecar as an operator starts it, and hosts as an agent connects them."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from benchmarks.processes import started, wait_line
from benchmarks.streams import until_drained
from pmcl.bus import Credentials
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import Host, HostConfig

__all__ = ["Sidecar", "connected_hosts", "running", "up"]

SCOPE = "bench"
PATIENCE_MS = 60_000
AUTHORITY = AuthoritySnapshot(
    tools={"files/read_file": "grant", "files/delete_file": "grant"},
    effects={"inspect_local": "grant", "mutation": "grant"},
    writable_roots=("/srv",),
)


class Sidecar(msgspec.Struct, frozen=True):
    """A running sidecar and the configuration of each of its hosts."""

    monitor_url: str
    hosts: tuple[HostConfig, ...]


def command(*words: str | Path) -> list[str | Path]:
    return [Path(sys.executable).with_name("pmcl"), *words]


@asynccontextmanager
async def up(state_dir: Path) -> AsyncIterator[None]:
    """Run `pmcl up` and enter when it says that it is ready."""
    log = state_dir.with_suffix(".log")
    line = command("up", "--json", "--state-dir", state_dir)
    async with started(line, log=log, piped=True) as process:
        await wait_line(process, "ready")
        yield


@asynccontextmanager
async def running(directory: Path, hosts: int) -> AsyncIterator[Sidecar]:
    """Run a sidecar that knows `hosts` hosts, below the new folder `directory`."""
    state_dir = directory / "state"
    await anyio.Path(directory).mkdir(parents=True)
    configs = [await host_config(directory, f"host-{number}") for number in range(hosts)]
    async with up(state_dir):
        ports = json.loads(await anyio.Path(state_dir / "nats/ports.json").read_text())
        yield Sidecar(f"http://127.0.0.1:{ports['monitor']}", tuple(configs))


async def host_config(directory: Path, name: str) -> HostConfig:
    path = directory / f"{name}.json"
    words = ("host", "add", name, "--scope", SCOPE, "--out", path)
    await anyio.run_process(
        [str(word) for word in command(*words, "--state-dir", directory / "state")]
    )
    return HostConfig(
        credentials=await anyio.to_thread.run_sync(Credentials.load, path),
        authority=AUTHORITY,
        state_dir=directory / "hosts",
        observe_ms=PATIENCE_MS,
        close_ms=PATIENCE_MS,
    )


@asynccontextmanager
async def connected_hosts(sidecar: Sidecar) -> AsyncIterator[list[Host]]:
    """Connect every host; at the end all that they left open is closed, told and committed."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Host.connect(host)) for host in sidecar.hosts]
    await until_drained(sidecar.monitor_url, "INTAKE")
