"""The server's files: generated, private, with ports that stay the same for the life of the state.

Hosts keep the URL in their credentials, so the port is chosen once.
"""

import socket
from pathlib import Path

import msgspec

from pmcl.bus.accounts import accounts_configuration
from pmcl.bus.errors import ServerError
from pmcl.bus.keys import Keyring, write_private

__all__ = ["Ports", "ServerConfig", "prepare_server", "server_configuration"]

_LOOPBACK = "127.0.0.1"


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How the embedded server is run.

    Attributes:
        state_dir: holds the store, the ports, the configuration and the log.
        max_store_bytes: what all streams together may take on disk.
        start_timeout_s: until it must be healthy; a large store takes a while to be read.
        stop_timeout_s: between SIGTERM and SIGKILL.
        lock_wait_s: how long another server on the same store may take to go away.
        health_interval_s: between two questions for its health.
    """

    state_dir: Path
    max_store_bytes: int = 10 * 1024**3
    start_timeout_s: float = 30.0
    stop_timeout_s: float = 5.0
    lock_wait_s: float = 2.0
    health_interval_s: float = 0.5

    @property
    def store_dir(self) -> Path:
        """Where JetStream keeps its streams."""
        return self.state_dir / "jetstream"

    @property
    def configuration(self) -> Path:
        """The generated configuration file."""
        return self.state_dir / "nats-server.conf"

    @property
    def log_file(self) -> Path:
        """What the server says once it runs."""
        return self.state_dir / "nats-server.log"


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """The two loopback ports of one state directory."""

    client: int
    monitor: int

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"nats://{_LOOPBACK}:{self.client}"

    @property
    def monitor_url(self) -> str:
        """Where health and state are asked for."""
        return f"http://{_LOOPBACK}:{self.monitor}"


def server_configuration(config: ServerConfig, keyring: Keyring, ports: Ports) -> str:
    """Return the text of the server's configuration. Source: facts/reliability, section 2."""
    return f"""\
server_name: pmcl
listen: "{_LOOPBACK}:{ports.client}"
http: "{_LOOPBACK}:{ports.monitor}"
log_file: "{config.log_file}"
logfile_size_limit: 16MB
logfile_max_num: 3
max_payload: 1MB
max_pending: 64MB
write_deadline: "5s"
ping_interval: "10s"
ping_max: 2
jetstream {{
  store_dir: "{config.store_dir}"
  sync_interval: always
  max_file_store: {config.max_store_bytes}
  max_memory_store: 64MB
}}
{accounts_configuration(keyring)}"""


def prepare_server(config: ServerConfig, keyring: Keyring) -> Ports:
    """The directories and the configuration file are there, ready for `nats-server -c`.

    What is as it must be is not written again, so that a full disk keeps nobody from asking.

    Raises:
        ServerError: the kept ports cannot be read.
    """
    for directory in (config.state_dir, config.store_dir):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    ports = _kept_ports(config.state_dir / "ports.json")
    text = server_configuration(config, keyring, ports).encode()
    if not config.configuration.exists() or config.configuration.read_bytes() != text:
        write_private(config.configuration, text)
    return ports


def _kept_ports(path: Path) -> Ports:
    if path.exists():
        try:
            return msgspec.json.decode(path.read_bytes(), type=Ports)
        except msgspec.DecodeError as error:
            raise ServerError(f"{path}: {error}") from error
    with (
        socket.create_server((_LOOPBACK, 0)) as first,
        socket.create_server((_LOOPBACK, 0)) as other,
    ):
        ports = Ports(client=first.getsockname()[1], monitor=other.getsockname()[1])
    write_private(path, msgspec.json.encode(ports))
    return ports
