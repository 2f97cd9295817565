"""A nats-server of its own, with the generated configuration, that a test may kill or stop."""

import os
import signal
import socket
import subprocess
import time
from functools import cache
from pathlib import Path

from pmcl.bus import ConnectionConfig, Credentials, Keyring, ServerConfig, find_nats_server
from pmcl.bus.server_config import prepare_server

__all__ = ["NatsServer"]

_START_S = 10.0

_binary = cache(find_nats_server)


class NatsServer:
    """Knows hosts `s/a`, `s/b` and `t/a` from the start."""

    def __init__(self, directory: Path) -> None:
        self.keyring = Keyring(directory / "keys")
        self.config = ServerConfig(state_dir=directory / "nats")
        self._seeds = {
            (scope, host): self.keyring.add_host(scope, host)
            for scope, host in (("s", "a"), ("s", "b"), ("t", "a"))
        }
        self.ports = prepare_server(self.config, self.keyring)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.ports.url

    @property
    def monitor_url(self) -> str:
        return self.ports.monitor_url

    def credentials(self, scope: str, host: str) -> Credentials:
        seed = self._seeds[scope, host]
        return Credentials(url=self.url, scope=scope, host=host, seed=seed)

    def connection_config(self, name: str) -> ConnectionConfig:
        """`admin`, `operator`, `relay`, `worker`, or a host as `scope/host`."""
        match name:
            case "admin" | "operator" | "relay" | "worker":
                return self.keyring.connection_config(name, self.url)
            case _:
                scope, _, host = name.partition("/")
                return self.credentials(scope, host).connection_config()

    def start(self) -> None:
        command = [str(_binary()), "-c", str(self.config.configuration)]
        self._process = subprocess.Popen(command)
        deadline = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, self.config.log_file.read_text()
            assert time.monotonic() < deadline, "nats-server does not answer"

    def kill(self) -> None:
        """kill -9; also ends a stopped one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Return once no thread of it runs: what is asked from now on has no answer."""
        self._signal(signal.SIGSTOP)
        assert self._process is not None
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.ports.client), timeout=1) as probe:
                return probe.recv(5) == b"INFO "
        except OSError:
            time.sleep(0.005)
            return False
