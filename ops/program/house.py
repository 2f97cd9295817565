"""A state directory with a real sidecar process in it that can be killed and started again."""

import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import Process

from pmcl.bus import Credentials
from pmcl.hosts import HostConfig, new_profile, profile_path
from pmcl.ops.host_add import register_hosts
from pmcl.ops.known_hosts import credentials_dir
from pmcl.ops.replay import PROFILE
from pmcl.ops.settings import Settings
from pmcl.ops.sidecar_process import clean_environment, run_sidecar
from pmcl.store import load_queries, open_reader

__all__ = ["HOST", "House", "open_house"]

_queries = load_queries("pmcl.ops.program", "house")
_SETTLED_S: Final = 30.0
_POLL_S: Final = 0.02
HOST: Final = "program"
"""The one host of each scope."""


class House:
    """Made by `open_house`; `starts_ms` are the times from each start until the ready line."""

    def __init__(self, directory: Path, lease_ttl_ms: int) -> None:
        self.directory = directory
        self.settings = Settings(state_dir=directory / "state")
        self.starts_ms: list[float] = []
        self.environment = {
            **clean_environment(),
            "PMCL_HEARTBEAT_MS": "500",  # receipts come with it
            "PMCL_LEASE_TTL_MS": str(lease_ttl_ms),
            "PMCL_LOG_LEVEL": "debug",
        }
        self._credentials: dict[str, Credentials] = {}
        self._running: AsyncExitStack | None = None
        self._process: Process | None = None

    async def register(self, scopes: Sequence[str]) -> None:
        """Register one host in each scope."""
        made = await anyio.to_thread.run_sync(register_hosts, self.settings, scopes, HOST)
        self._credentials = {own.scope: own for own in made}

    def host(self, scope: str) -> HostConfig:
        """Return the host of a scope, which may do everything."""
        return HostConfig(
            credentials=self._credentials[scope],
            authority=PROFILE,
            state_dir=self.directory / "hosts",
            sweep_ms=500,
        )

    async def save_credentials(self, scope: str) -> None:
        """Write what `pmcl host add` writes for a scope's host."""
        path = credentials_dir(self.settings) / f"{scope}.{HOST}.json"
        await anyio.Path(path.parent).mkdir(exist_ok=True)
        await anyio.to_thread.run_sync(self._credentials[scope].save, path)
        await anyio.Path(profile_path(path)).write_text(new_profile([Path("/")]))

    async def start(self) -> None:
        """Start the sidecar; return when it is ready."""
        began = time.perf_counter()
        async with AsyncExitStack() as stack:
            self._process = await stack.enter_async_context(
                run_sidecar(
                    self.settings.state_dir, self.environment, self.directory / "sidecar.log"
                )
            )
            self._running = stack.pop_all()
        self.starts_ms.append((time.perf_counter() - began) * 1000)

    async def kill(self) -> None:
        """Kill the sidecar with SIGKILL; its nats-server dies with it."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self.stop()

    async def stop(self) -> None:
        """Stop the sidecar if it runs; it drains."""
        running, self._running = self._running, None
        if running is not None:
            await running.aclose()

    async def settled(self, config: HostConfig) -> None:
        """Return once all that a host's file holds has its receipt, after 30 s at the latest.

        A client of the host must be connected meanwhile. What has none by then is counted as it
        is found, so nothing is raised.
        """
        with anyio.move_on_after(_SETTLED_S):
            async with open_reader(config.file) as file:
                while True:
                    row = await file.one(_queries.waiting)
                    if row is not None and row["waiting"] == 0:
                        return
                    await anyio.sleep(_POLL_S)


@asynccontextmanager
async def open_house(
    directory: Path, scopes: Sequence[str], lease_ttl_ms: int = 300_000
) -> AsyncIterator[House]:
    """Yield a house whose sidecar is ready; what still runs is stopped at the end.

    Raises:
        SidecarError: the sidecar does not start.
    """
    os.makedirs(directory, mode=0o700)
    house = House(directory, lease_ttl_ms)
    await house.register(scopes)
    await house.start()
    try:
        yield house
    finally:
        await house.stop()
