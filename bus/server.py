"""One nats-server on one store, kept running, and never left behind.

A lock on the store is held by us and inherited by the child, so that a second server is refused
as long as either lives. The kernel kills the child when the thread that started it ends, so
`run_server` belongs on the main thread.

A server that could not write stays unhealthy until it is started again, also when there is room
again. While its disk is full a new one would soon be no better off, and every start cuts all
connections, those of verdicts too: so it is left running until there is room.

Source: facts/reliability, hazards 20 and 21.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import structlog
from anyio.abc import Process

from pmcl.bus.binary import find_nats_server
from pmcl.bus.errors import ServerError, ServerLockedError
from pmcl.bus.keys import Keyring
from pmcl.bus.leftovers import remove_leftovers
from pmcl.bus.monitor import ailment, healthy, loaded_at, wait_loaded
from pmcl.bus.server_config import Ports, ServerConfig, prepare_server
from pmcl.bus.tasks import background_tasks

__all__ = ["EmbeddedServer", "run_server"]

log = structlog.get_logger()

_RESTART_FIRST_S: Final = 0.2
_RESTART_MAX_S: Final = 5.0
_RESTART_FORGOTTEN_S: Final = 60.0
_POLL_S: Final = 0.02
_SICK_MAX: Final = 3
_ROOM_BYTES: Final = 4 * 1024**2
"""Room with which a new start makes sense; a few of the largest batches need no more."""
_RELOAD_TIMEOUT_S: Final = 5.0

# Runs in a child of its own: between fork and exec of a threaded process nothing may be done.
_TIED: Final = """\
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""


class EmbeddedServer:
    """The running server; made by `run_server`."""

    def __init__(self, config: ServerConfig, keyring: Keyring, binary: Path, ports: Ports) -> None:
        self._config = config
        self._keyring = keyring
        self._binary = binary
        self._ports = ports
        self._lock = -1
        self._process: Process | None = None
        self._stores = True

    @property
    def url(self) -> str:
        """Where clients connect; the same after every restart."""
        return self._ports.url

    @property
    def monitor_url(self) -> str:
        """Where health and state are asked for."""
        return self._ports.monitor_url

    @property
    def pid(self) -> int | None:
        """The process that runs now; None between two."""
        return None if self._process is None else self._process.pid

    @property
    def stores(self) -> bool:
        """Whether it can write what it is sent, as far as it has said."""
        return self._stores

    async def reload(self) -> None:
        """The server knows the hosts of the keyring as they are now.

        Raises:
            ServerError: it is not running, or did not take the configuration.
        """
        if self._process is None:
            raise ServerError("the server is being restarted")
        await anyio.to_thread.run_sync(prepare_server, self._config, self._keyring)
        before = await loaded_at(self.monitor_url)
        self._process.send_signal(signal.SIGHUP)
        with anyio.move_on_after(_RELOAD_TIMEOUT_S):
            await wait_loaded(self.monitor_url, before)
            log.info("server.reloaded")
            return
        raise ServerError(f"the configuration was not taken, see {self._config.log_file}")

    async def _start(self) -> None:
        await anyio.to_thread.run_sync(remove_leftovers, self._config.store_dir)
        errors = self._config.state_dir / "nats-server.err"
        command = [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), str(self._binary)]
        with errors.open("wb") as stderr:
            self._process = await anyio.open_process(
                [*command, "-c", str(self._config.configuration)],
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                pass_fds=(self._lock,),
                start_new_session=True,  # an interrupt in the terminal is ours to pass on
            )
        with anyio.move_on_after(self._config.start_timeout_s):
            while self._process.returncode is None:
                if await healthy(self.monitor_url):
                    self._stores = True
                    log.info("server.started", url=self.url, pid=self._process.pid)
                    return
                await anyio.sleep(_POLL_S)
        raise ServerError(f"nats-server did not start: {_last_words(errors, self._config)}")

    async def _supervise(self) -> None:
        delay_s = _RESTART_FIRST_S
        while True:
            started = anyio.current_time()
            reason = await self._sick()
            await self._has_room()
            await self._stop()
            if anyio.current_time() - started > _RESTART_FORGOTTEN_S:
                delay_s = _RESTART_FIRST_S
            log.warning("server.restarting", reason=reason, after_s=delay_s)
            await anyio.sleep(delay_s)
            delay_s = min(delay_s * 2, _RESTART_MAX_S)
            try:
                await self._start()
            except ServerError as error:
                log.error("server.start_failed", error=str(error))

    async def _sick(self) -> str:
        """Return why the server must be started again, when it must."""
        assert self._process is not None
        sick = 0
        while sick < _SICK_MAX:
            with anyio.move_on_after(self._config.health_interval_s):
                return f"exited {await self._process.wait()}"
            sick = sick + 1 if await healthy(self.monitor_url) is False else 0
        self._stores = False
        return "unhealthy"

    async def _has_room(self) -> None:
        """Return once the store's disk has room, or the server has ended by itself."""
        assert self._process is not None
        told = False
        while (free := await anyio.to_thread.run_sync(self._free)) < _ROOM_BYTES:
            if self._process.returncode is not None:
                return
            if not told:
                log.error(
                    "server.disk_full",
                    path=str(self._config.store_dir),
                    free_bytes=free,
                    needed_bytes=_ROOM_BYTES,
                    error=await ailment(self.monitor_url),
                )
                told = True
            await anyio.sleep(self._config.health_interval_s)

    def _free(self) -> int:
        try:
            return shutil.disk_usage(self._config.store_dir).free
        except OSError:
            return _ROOM_BYTES  # the store is gone; a new start makes it

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with anyio.CancelScope(shield=True):
            process.terminate()
            with anyio.move_on_after(self._config.stop_timeout_s):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()


@asynccontextmanager
async def run_server(config: ServerConfig, keyring: Keyring) -> AsyncIterator[EmbeddedServer]:
    """Yield a healthy server, which is started again when it dies, and stopped with the block.

    Raises:
        ServerLockedError: another server uses the store.
        ServerError: no fitting nats-server, or it does not start.
    """
    binary = await anyio.to_thread.run_sync(find_nats_server)
    ports = await anyio.to_thread.run_sync(prepare_server, config, keyring)
    server = EmbeddedServer(config, keyring, binary, ports)
    async with _store_lock(config) as server._lock:
        try:
            await server._start()
            async with background_tasks() as tasks:
                tasks.start_soon(server._supervise)
                yield server
        finally:
            await server._stop()


@asynccontextmanager
async def _store_lock(config: ServerConfig) -> AsyncIterator[int]:
    path = config.state_dir / "lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with anyio.move_on_after(config.lock_wait_s) as waiting:
            while not _try_lock(descriptor):  # noqa: ASYNC110 - a foreign process
                await anyio.sleep(_POLL_S)
        if waiting.cancelled_caught:
            raise ServerLockedError(f"{path} is locked: another nats-server uses this store")
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _last_words(errors: Path, config: ServerConfig) -> str:
    for path in (errors, config.log_file):
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        if lines:
            return lines[-1]
    return "it said nothing"
