"""A sidecar with its embedded server, as an operator has it, who has nothing but the runbook.

`run` refuses a command that docs/ops/runbook.md does not name, so that whatever brings a station
back is written there.
"""

import fcntl
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import msgspec

from pmcl.bus import Connection, Keyring, ServerConfig, open_connection, prepare_server
from pmcl.hosts import HostConfig
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.store import Row
from tests.acceptance.facts import rows, until
from tests.acceptance.processes import PMCL, Child, Finished, child, pmcl
from tests.acceptance.world import AUTHORITY, READY_S, clean_environment

__all__ = ["Station"]

_RUNBOOK = Path(__file__).parents[3] / "docs" / "ops" / "runbook.md"
_RUN_S = 60.0


@cache
def _runbook() -> frozenset[tuple[str, ...]]:
    """Return the commands that the runbook names, as far as their words go."""
    lines = re.findall(r"^\$ pmcl (.+)$", _RUNBOOK.read_text(), re.MULTILINE)
    return frozenset(_words(line.split()) for line in lines)


def _words(arguments: list[str]) -> tuple[str, ...]:
    """Return the command without what it is told."""
    told = [word for word in arguments if word.isalpha() and word.islower()]
    return tuple(told[:2])


class Station:
    """Hosts `s/a` and `s/b` are registered; nothing runs but what a test starts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.settings = Settings(state_dir=directory / "state")
        self.credentials = {
            name: register_hosts(self.settings, ["s"], name)[0] for name in ("a", "b")
        }
        self.environment = {
            **clean_environment(),
            "PMCL_STATE_DIR": str(self.settings.state_dir),
            "PMCL_HEARTBEAT_MS": "300",  # receipts come with it
            "PMCL_LEASE_TTL_MS": "300000",
            "PMCL_LOG_LEVEL": "info",
        }
        self._errors = directory / "sidecar.err"

    @property
    def ledger(self) -> Path:
        return self.settings.ledger_path

    def stream(self, name: str) -> Path:
        """Where the server keeps a stream."""
        return self.settings.state_dir / "nats/jetstream/jetstream/CORE/streams" / name

    @property
    def log(self) -> list[dict[str, Any]]:
        """What all sidecars of this station have logged."""
        return [
            msgspec.json.decode(line)
            for line in self._errors.read_bytes().splitlines()
            if line.startswith(b"{")
        ]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [entry for entry in self.log if entry["event"] == event]

    def host(self, name: str = "a", **changes: Any) -> HostConfig:
        config = HostConfig(
            credentials=self.credentials[name],
            authority=AUTHORITY,
            state_dir=self.settings.state_dir / "hosts",
            sweep_ms=300,
        )
        return msgspec.structs.replace(config, **changes)

    async def run(self, *arguments: str, code: int = 0) -> Finished:
        """Run a command of the runbook to its end."""
        command = _words(list(arguments))
        assert any(command[: len(known)] == known for known in _runbook()), command
        ran = await pmcl(*arguments, environment=self.environment, within_s=_RUN_S)
        assert ran.code == code, (arguments, ran)
        return ran

    async def told(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Return what a command of the runbook says with `--json`."""
        ran = await self.run(*arguments, "--json", code=code)
        return msgspec.json.decode(ran.stdout, type=dict[str, Any])

    def open(
        self, command: Sequence[str] = PMCL, **environment: str
    ) -> AbstractAsyncContextManager[Child]:
        """Start `pmcl up`."""
        return child([*command, "up", "--json"], self._errors, self.environment | environment)

    @asynccontextmanager
    async def up(self, command: Sequence[str] = PMCL, **environment: str) -> AsyncIterator[Child]:
        """`pmcl up` that is ready; it is killed with its server at the end of the block."""
        async with self.open(command, **environment) as running:
            with anyio.fail_after(READY_S):
                line = await running.line()
            assert line is not None, running.errors[-4000:]
            yield running
        await self.gone()

    async def crash(self, sidecar: Child) -> None:
        """The sidecar and its server are killed."""
        sidecar.send(signal.SIGKILL)
        await sidecar.ends()
        await self.gone()

    async def gone(self) -> None:
        """Return once no server uses the store any more."""

        async def is_free() -> bool:
            with (self.settings.state_dir / "nats" / "lock").open() as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
            return True

        await until(is_free)

    def kill_server(self) -> None:
        os.kill(self.logged("server.started")[-1]["pid"], signal.SIGKILL)

    def copy(self, path: Path) -> Path:
        """Keep a copy of a folder of the stopped station."""
        kept = self.directory / f"older-{path.name}"
        shutil.copytree(path, kept)
        return kept

    def put_back(self, kept: Path, path: Path) -> None:
        """Replace a folder of the stopped station by its copy."""
        shutil.rmtree(path)
        shutil.copytree(kept, path)

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Connection]:
        """A connection of the running server, for what no command shows."""
        keyring = Keyring(self.settings.state_dir / "keys")
        ports = prepare_server(ServerConfig(state_dir=self.settings.state_dir / "nats"), keyring)
        async with open_connection(keyring.connection_config("admin", ports.url)) as admin:
            await admin.wait_ready(READY_S)
            yield admin

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await rows(self.ledger, sql, **params)
